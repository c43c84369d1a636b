// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "switchyard/hw/layer_controller/layer_program.h"

namespace switchyard::hw {

/// What the closed form knows of a DRAM port, in cycles of the accelerator.
struct DramRate {
    double bursts_per_cycle = 1;  ///< at the pins, less what refresh takes
    std::uint64_t burst_bytes = 64;
    double latency_cycles = 10;  ///< from a request to its first data
};

/// One layer: its time and what of it each kind of traffic adds to the array's (SUSHI, Fig. 10), in cycles, and its
/// traffic.
struct LayerCost {
    double cycles = 0;
    double compute_cycles = 0;
    double input_cycles = 0;   ///< inputs and residuals before and during computation
    double weight_cycles = 0;  ///< weights and parameters that computation waits for
    double output_cycles = 0;  ///< results that it waits for
    std::uint64_t weight_bytes = 0, input_bytes = 0, output_bytes = 0;  ///< off-chip
    std::uint64_t cached_bytes = 0;                                     ///< of weights, from the persistent buffer
    std::uint64_t macs = 0;

    std::uint64_t offchip_bytes() const { return weight_bytes + input_bytes + output_bytes; }
};

/// Closed form of the pipeline of weight tiles (section 4.3.2). Inputs and the first tile come first. A tile takes the
/// longest of: its computation; what DRAM moves meanwhile, the next tile, residuals and results, each read with its
/// latency; two units from their begin until memory has taken their results, since the output buffer has two banks. The
/// last results end the layer. Without `hides_weights` a tile is fetched when the one before is done. `plan.error` must
/// be
/// "".
LayerCost layer_cost(const LayerProgram& program, const TensorProgram& tensor, const sched::WeightSlice& cached,
                     const sched::LayerPlan& plan, const sched::DotProductShape& shape, const DramRate& dram,
                     bool hides_weights = true);

/// Who asks for closed forms: the array, its buffers, its memory.
struct AcceleratorShape {
    sched::DotProductShape array;
    sched::TileBuffers buffers;
    DramRate dram;
    bool hides_weights = true;  ///< weights come while the array computes (stages D1 and D2)
};

/// Of every layer of a SubNet; `slices` (null: none) are in the persistent buffer. Throws std::runtime_error: a layer
/// that the buffers cannot serve.
std::vector<LayerCost> subnet_costs(const AcceleratorProgram& program, const std::vector<LayerProgram>& layers,
                                    const std::vector<sched::WeightSlice>* slices, const AcceleratorShape& shape);
/// Cycles of fetching slices to the persistent buffer.
double fill_cost(const AcceleratorProgram& program, const std::vector<sched::WeightSlice>& slices,
                 const DramRate& dram);

}  // namespace switchyard::hw
