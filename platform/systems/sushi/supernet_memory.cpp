// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/sushi/supernet_memory.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "switchyard/platform/system/npy.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/rounding.h"

namespace switchyard::platform::sushi {

using namespace sched::sushi;

namespace {

constexpr std::uint64_t kAlignment = 64;   ///< a burst
constexpr std::int32_t kZeroPoint = -128;  ///< of all activations (Jacob et al.: zero is a value)

}  // namespace

SupernetMemory lay_out(const Supernet& supernet, const std::vector<SubGraph>& subgraphs) {
    SupernetMemory memory;
    std::uint64_t next = 0;
    const auto take = [&next](std::uint64_t bytes) {
        const std::uint64_t address = next;
        next = round_up(next + bytes, kAlignment);
        return address;
    };
    for (const Tensor& tensor : supernet.tensors)
        memory.program.tensors.push_back({take(tensor.bytes()), tensor.whole, tensor.side});
    std::vector<std::vector<std::uint64_t>> parameters;
    for (const SubNet& subnet : supernet.subnets) {
        parameters.emplace_back();
        for (const LayerUse& use : subnet.layers)
            parameters.back().push_back(take(std::uint64_t{use.layer.kernels} * sched::kParameterBytes));
    }
    memory.input_address = take(std::uint64_t{supernet.channels} * supernet.height * supernet.width);
    const std::uint64_t activations = next;
    for (std::size_t s = 0; s < supernet.subnets.size(); ++s) {
        // SubNets follow one another and leave nothing behind.
        next = activations;
        std::vector<hw::LayerProgram>& layers = memory.program.subnets.emplace_back();
        for (const LayerUse& use : supernet.subnets[s].layers) {
            hw::LayerProgram layer;
            layer.name = use.name;
            layer.layer = use.layer;
            layer.tensor = use.tensor;
            layer.parameter_address = parameters[s][layers.size()];
            const auto address_of = [&](int number) {
                return number < 0 ? memory.input_address : layers[static_cast<std::size_t>(number)].output_address;
            };
            layer.input_address = address_of(use.input);
            if (use.layer.residual) layer.residual_address = address_of(use.residual);
            layer.output_address = take(use.layer.output_bytes());
            layer.input_zero = layer.output_zero = kZeroPoint;
            layers.push_back(layer);
        }
        memory.end = std::max(memory.end, next);
    }
    for (const SubGraph& subgraph : subgraphs) memory.program.subgraphs.push_back(subgraph.slices);
    return memory;
}

std::vector<std::pair<std::uint64_t, std::vector<std::uint8_t>>> supernet_values(const Supernet& supernet,
                                                                                 const SupernetMemory& memory) {
    const auto file_of = [&](const std::string& name) { return supernet.weights + "/" + name + ".npy"; };
    const auto check = [](const std::string& path, const IntegerNpyArray& array, std::size_t kernels,
                          std::size_t count) {
        if (array.shape.empty() || array.shape.front() != kernels || array.values.size() != count)
            throw InputError(path, 0, "shape",
                             fmt::format("expected {} kernels of {} values, found ({})", kernels, count / kernels,
                                         fmt::join(array.shape, ", ")));
    };
    std::vector<std::pair<std::uint64_t, std::vector<std::uint8_t>>> bytes;
    std::vector<std::vector<std::int32_t>> weights, biases;
    for (std::size_t t = 0; t < supernet.tensors.size(); ++t) {
        const Tensor& tensor = supernet.tensors[t];
        const std::string weight_file = file_of(tensor.name + ".weight"), bias_file = file_of(tensor.name + ".bias");
        IntegerNpyArray weight = read_int8_npy(weight_file), bias = read_int32_npy(bias_file);
        check(weight_file, weight, tensor.whole.kernels, tensor.bytes());
        check(bias_file, bias, tensor.whole.kernels, tensor.whole.kernels);
        weights.push_back(std::move(weight.values));
        biases.push_back(std::move(bias.values));
        std::vector<std::uint8_t> image;
        for (const std::int32_t value : weights.back()) image.push_back(static_cast<std::uint8_t>(value));
        bytes.emplace_back(memory.program.tensors[t].address, std::move(image));
    }
    for (std::size_t s = 0; s < supernet.subnets.size(); ++s)
        for (std::size_t l = 0; l < supernet.subnets[s].layers.size(); ++l) {
            const LayerUse& use = supernet.subnets[s].layers[l];
            const Tensor& tensor = supernet.tensors[use.tensor];
            const std::size_t window = use.layer.window(), pitch = tensor.whole.channels * window;
            std::vector<std::uint8_t> records;
            for (std::uint32_t k = 0; k < use.layer.kernels; ++k) {
                std::int64_t sum = 0;
                for (std::size_t i = 0; i < use.layer.weights().channels * window; ++i)
                    sum += weights[use.tensor][k * pitch + i];
                const std::int64_t positions =
                    use.layer.sums_pixels ? static_cast<std::int64_t>(use.layer.positions()) : 1;
                const auto bias = static_cast<std::int32_t>(biases[use.tensor][k] - kZeroPoint * sum * positions);
                std::uint8_t record[sched::kParameterBytes];
                std::memcpy(record, &bias, 4);
                std::memcpy(record + 4, &use.quantisation.m0, 4);
                record[8] = static_cast<std::uint8_t>(use.quantisation.shift);
                records.insert(records.end(), record, record + sizeof record);
            }
            bytes.emplace_back(memory.program.subnets[s][l].parameter_address, std::move(records));
        }
    return bytes;
}

}  // namespace switchyard::platform::sushi
