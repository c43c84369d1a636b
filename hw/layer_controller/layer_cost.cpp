// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/layer_controller/layer_cost.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace switchyard::hw {

LayerCost layer_cost(const LayerProgram& program, const TensorProgram& tensor, const sched::WeightSlice& cached,
                     const sched::LayerPlan& plan, const sched::DotProductShape& shape, const DramRate& dram,
                     bool hides_weights) {
    LayerCost cost;
    const auto time = [&dram](const std::vector<StridedPieces>& pieces) {
        return static_cast<double>(bursts_of(pieces, dram.burst_bytes)) / dram.bursts_per_cycle;
    };
    const double latency = dram.latency_cycles, drain = static_cast<double>(array_latency_cycles(shape));
    for (const sched::InputBand& band : plan.bands) {
        cost.input_bytes += band.input_bytes;
        cost.input_cycles += time(input_pieces(program, band)) + latency;
        const std::vector<sched::WorkUnit>& units = band.units;
        const auto weights_of = [&](std::size_t u) {
            return time(tile_pieces(program, tensor, cached, units[u])) + latency;
        };
        const auto residual_of = [&](std::size_t u) {
            if (u >= units.size() || units[u].residual_bytes == 0) return 0.0;
            return time(result_pieces(program, program.residual_address, units[u])) + latency;
        };
        const auto results_of = [&](std::size_t u) {
            return time(result_pieces(program, program.output_address, units[u]));
        };
        cost.weight_cycles += weights_of(0);
        cost.input_cycles += residual_of(0);
        double before = 0;  // results of the unit before
        for (std::size_t begin = 0; begin < units.size();) {
            std::size_t end = begin + 1;
            while (end < units.size() && !units[end].new_tile) ++end;
            double computed = 0, residual = 0, results = 0, banks = 0;
            for (std::size_t u = begin; u < end; ++u) {
                const auto cycles = static_cast<double>(units[u].cycles);
                computed += cycles;
                residual += residual_of(u + 1);
                results += before;
                before = results_of(u);
                banks += (cycles + drain + before + residual_of(u + 2)) / 2;
                cost.weight_bytes += units[u].fetch_bytes;
                cost.input_bytes += units[u].residual_bytes;
                cost.output_bytes += units[u].result_bytes;
            }
            const double weights = end < units.size() ? weights_of(end) : 0;
            cost.compute_cycles += computed;
            const double reads = weights + residual, traffic = reads + results;
            if (!hides_weights) {
                cost.weight_cycles += weights;
                cost.input_cycles += std::max(0.0, residual - computed);
                cost.output_cycles += std::max(0.0, banks - computed - weights);
            } else if (traffic > std::max(computed, banks)) {
                const double excess = (traffic - computed) / traffic;
                cost.weight_cycles += weights * excess;
                cost.input_cycles += residual * excess;
                cost.output_cycles += results * excess;
            } else {
                cost.output_cycles += std::max(0.0, banks - computed);
            }
            cost.cached_bytes +=
                program.layer.weights().channels * std::uint64_t{units[begin].kernels} * program.layer.window() +
                std::uint64_t{units[begin].kernels} * sched::kParameterBytes - units[begin].fetch_bytes;
            begin = end;
        }
        cost.compute_cycles += drain;
        cost.output_cycles += before;
    }
    cost.cycles = cost.compute_cycles + cost.input_cycles + cost.weight_cycles + cost.output_cycles;
    cost.macs = program.layer.macs();
    return cost;
}

std::vector<LayerCost> subnet_costs(const AcceleratorProgram& program, const std::vector<LayerProgram>& layers,
                                    const std::vector<sched::WeightSlice>* slices, const AcceleratorShape& shape) {
    std::vector<LayerCost> costs;
    for (const LayerProgram& layer : layers) {
        const sched::WeightSlice cached = slices == nullptr ? sched::WeightSlice{} : slices->at(layer.tensor);
        const sched::LayerPlan plan = plan_layer(layer.layer, cached, shape.array, shape.buffers);
        if (!plan.error.empty()) throw std::runtime_error(fmt::format("layer {}: {}", layer.name, plan.error));
        costs.push_back(layer_cost(layer, program.tensors[layer.tensor], cached, plan, shape.array, shape.dram,
                                   shape.hides_weights));
    }
    return costs;
}

double fill_cost(const AcceleratorProgram& program, const std::vector<sched::WeightSlice>& slices,
                 const DramRate& dram) {
    return static_cast<double>(bursts_of(subgraph_pieces(program, slices), dram.burst_bytes)) / dram.bursts_per_cycle +
           dram.latency_cycles;
}

}  // namespace switchyard::hw
