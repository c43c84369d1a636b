#pragma once

#include "switchyard/hw/pe_array/pe_array.h"

namespace switchyard::hw {

/// impl analytic: closed-form cycles of blocks, in which fill and drain overlap with the blocks around them. A block
/// takes max(compute, drain, scratchpad reads, scratchpad writes), where
///   compute = reduction x row_outputs x column_outputs (x columns if channelwise),
///   drain = rows x row_outputs x column_outputs,
/// an invocation's first block rows + columns - 2 more to fill, and its last one the drain once more.
/// Values: whole blocks at once (block_math.h).
///
/// Accuracy: test_pe_array_accuracy.cpp compares it with `cycle`; a scratchpad slower than the array is averaged over
/// a block.
/// Not modelled: stalls inside a block.
class AnalyticPeArray : public PeArray {
public:
    AnalyticPeArray(sc_core::sc_module_name name, const Config& config, SimulationRegistry& registry);

private:
    std::uint64_t run(const PeWorkExtension& work, const Traffic& traffic, std::uint64_t idle_cycles) override;
};

}  // namespace switchyard::hw
