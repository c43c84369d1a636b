// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/sushi/rooflines.h"

#include <algorithm>

#include "switchyard/sw_scheduler/base/rounding.h"

namespace switchyard::platform::sushi {

double dpu_layer_us(const DpuConfig& config, const sched::Convolution& layer) {
    const std::uint64_t positions = ceil_div(layer.positions(), std::uint64_t{config.pixels}) * layer.window();
    const std::uint64_t cycles = layer.depthwise ? positions * ceil_div(layer.channels, config.depthwise_channels)
                                                 : positions * ceil_div(layer.channels, config.input_channels) *
                                                       ceil_div(layer.kernels, config.output_channels);
    std::uint64_t bytes = layer.weight_bytes();
    if (layer.input_bytes() + layer.output_bytes() > config.on_chip_kib * 1024)
        bytes += layer.input_bytes() + layer.output_bytes();
    return std::max(static_cast<double>(cycles) / config.clock_ghz, static_cast<double>(bytes) / config.gb_per_s) / 1e3;
}

std::vector<double> dpu_layers_us(const DpuConfig& config, const sched::sushi::SubNet& subnet) {
    std::vector<double> us;
    for (const sched::sushi::LayerUse& use : subnet.layers) us.push_back(dpu_layer_us(config, use.layer));
    return us;
}

double cpu_us(const CpuConfig& config, const sched::sushi::SubNet& subnet) {
    double us = 0;
    for (const sched::sushi::LayerUse& use : subnet.layers)
        us += std::max(static_cast<double>(use.layer.macs()) / config.gigamacs_per_s,
                       static_cast<double>(use.layer.weight_bytes()) / config.gb_per_s) /
              1e3;
    return us;
}

}  // namespace switchyard::platform::sushi
