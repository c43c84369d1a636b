// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/sushi/rooflines.h"

#include <algorithm>

#include "switchyard/sw_scheduler/base/rounding.h"

namespace switchyard::platform::sushi {

namespace {

/// `loads_input`, `saves_output`: they go through the data ports.
DpuLayer dpu_layer(const DpuConfig& config, const sched::Convolution& layer, bool loads_input, bool saves_output) {
    const std::uint64_t rows = layer.output_height(), width = layer.output_width(), window = layer.window();
    const std::uint64_t alu_steps = rows * ceil_div(width, std::uint64_t{config.alu_pixels});
    std::uint64_t convolution = 0, alu = 0;
    if (layer.depthwise)
        alu = alu_steps * window * ceil_div(layer.channels, config.input_channels);
    else
        convolution = rows * ceil_div(width, std::uint64_t{config.pixels}) * window *
                      ceil_div(layer.channels, config.input_channels) * ceil_div(layer.kernels, config.output_channels);
    if (layer.residual) alu += alu_steps * ceil_div(layer.kernels, config.input_channels);

    // The first tile: kernels that are computed at a time, and the rows that their first window touches.
    std::uint64_t first =
        std::min<std::uint64_t>(config.output_channels, layer.kernels) * layer.weights().channels * window;
    DpuLayer result;
    result.bytes = layer.weight_bytes();
    if (loads_input) {
        result.bytes += layer.input_bytes();
        first += std::uint64_t{std::min(layer.side, layer.height)} * layer.width * layer.channels;
    }
    if (saves_output) result.bytes += layer.output_bytes();
    if (layer.residual && layer.output_bytes() > config.bank_kib * 1024) result.bytes += layer.output_bytes();

    const double convolution_ns = static_cast<double>(convolution) / config.clock_ghz;
    const double alu_ns = static_cast<double>(alu) / config.clock_ghz;
    const double port_ns = static_cast<double>(result.bytes) / config.bytes_per_ns();
    const double first_ns = static_cast<double>(first) / config.bytes_per_ns();
    result.us = config.overlaps ? first_ns + std::max({convolution_ns, alu_ns, port_ns - first_ns})
                                : convolution_ns + alu_ns + port_ns;
    result.us /= 1e3;
    return result;
}

}  // namespace

std::vector<DpuLayer> dpu_layers(const DpuConfig& config, const sched::sushi::SubNet& subnet) {
    const auto fits = [&config](std::uint64_t bytes) { return static_cast<double>(bytes) <= config.bank_kib * 1024; };
    std::vector<DpuLayer> layers;
    for (std::size_t l = 0; l < subnet.layers.size(); ++l) {
        const sched::Convolution& layer = subnet.layers[l].layer;
        layers.push_back(dpu_layer(config, layer, subnet.layers[l].input < 0 || !fits(layer.input_bytes()),
                                   l + 1 == subnet.layers.size() || !fits(layer.output_bytes())));
    }
    return layers;
}

double dpu_us(const DpuConfig& config, const sched::sushi::SubNet& subnet) {
    double us = 0;
    for (const DpuLayer& layer : dpu_layers(config, subnet)) us += layer.us;
    return us;
}

double cpu_us(const CpuConfig& config, const sched::sushi::SubNet& subnet) {
    double us = 0;
    for (const sched::sushi::LayerUse& use : subnet.layers) {
        std::uint64_t bytes = use.layer.weight_bytes();
        const std::uint64_t activations = use.layer.input_bytes() + use.layer.output_bytes();
        if (static_cast<double>(activations) > config.cache_kib * 1024) bytes += activations;
        us += std::max(static_cast<double>(use.layer.macs()) / config.gigamacs_per_s,
                       static_cast<double>(bytes) / config.gb_per_s) /
              1e3;
    }
    return us;
}

}  // namespace switchyard::platform::sushi
