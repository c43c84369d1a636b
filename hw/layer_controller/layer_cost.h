// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "switchyard/hw/layer_controller/layer_program.h"

namespace switchyard::hw {

/// What the closed form knows of a DRAM port, in cycles of the accelerator.
struct DramRate {
    double bursts_per_cycle = 1;  ///< at the pins, less what refresh takes
    std::uint64_t burst_bytes = 64;
    double latency_cycles = 10;       ///< from a request to its first data, of an open row
    double other_row_cycles = 0;      ///< more if another row is open
    double write_to_read_cycles = 2;  ///< from a write's data to a read's command
    double refresh_cycles = 0, refresh_interval_cycles = 1;
    std::uint64_t request_bytes = 2048;  ///< the largest request
    double outstanding = 32;             ///< requests that the memory holds
};

/// Assumptions of the closed form that experiments vary; `cycle` knows the first one alone.
struct PipelineOptions {
    bool hides_weights = true;         ///< weights come while the array computes (stages D1 and D2)
    bool array_at_peak = false;        ///< every engine input has work in every cycle, whatever the layer's shape
    bool activations_on_chip = false;  ///< inputs, residuals and results take neither time nor traffic
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

/// Closed form of the pipeline of weight tiles (section 4.3.2): when each unit is fetched, computed and written follows
/// from the units before it, so that the pipeline's filling and draining are in it. Inputs of a band come when the band
/// before has been computed; a tile when its half of the dynamic buffer is free (without `hides_weights` when all
/// before it has been computed); a residual and a unit's computation when its bank of the output buffer is free, from
/// which memory has taken the results. All transfers follow one another on DRAM's bus at the pins' rate. Each read has
/// its latency, of an open row if it goes on where the last tile ended; the bus turns from a write to a read;
/// refreshes stop it. The result is the mean over the phases of refresh. Not modelled: banks. `plan.error` must be "".
LayerCost layer_cost(const LayerProgram& program, const TensorProgram& tensor, const sched::WeightSlice& cached,
                     const sched::LayerPlan& plan, const sched::DotProductShape& shape, const DramRate& dram,
                     const PipelineOptions& options = {});

/// Who asks for closed forms: the array, its buffers, its memory.
struct AcceleratorShape {
    sched::DotProductShape array;
    sched::TileBuffers buffers;
    DramRate dram;
    PipelineOptions options;
};

/// Of every layer of a SubNet; `slices` (null: none) are in the persistent buffer. Throws std::runtime_error: a layer
/// that the buffers cannot serve.
std::vector<LayerCost> subnet_costs(const AcceleratorProgram& program, const std::vector<LayerProgram>& layers,
                                    const std::vector<sched::WeightSlice>* slices, const AcceleratorShape& shape);
/// Cycles of fetching slices to the persistent buffer.
double fill_cost(const AcceleratorProgram& program, const std::vector<sched::WeightSlice>& slices,
                 const DramRate& dram);

}  // namespace switchyard::hw
