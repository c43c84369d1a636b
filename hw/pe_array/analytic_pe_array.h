// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "switchyard/hw/pe_array/block_multiplier.h"
#include "switchyard/hw/pe_array/pe_array.h"
#include "switchyard/sw_scheduler/adyna/image/array_timing.h"

namespace switchyard::hw {

/// impl analytic: the times of blocks by a recurrence (ArrayTimeline), without a step for each cycle. Values: whole
/// blocks at once (BlockMultiplier, block_math.h).
///
/// Commands without PeWorkExtension::nest are blocks in their order; each ends with its last wave, the last one of an
/// invocation with the last result written, as in SteppedPeArray. With a nest the invocation takes what its loops take
/// in their order: a command takes its waves, and the last one what is left. Nests are costed once and remembered.
///
/// Accuracy: test_pe_array_accuracy.cpp compares it with `cycle`. The two are equal as long as the scratchpad keeps up
/// with the array; where a wave or a beat waits for a port, it does so for fractions of a cycle here.
class AnalyticPeArray : public PeArray {
public:
    AnalyticPeArray(sc_core::sc_module_name name, const Config& config, SimulationRegistry& registry);

private:
    /// What decides how long an invocation takes, but for the scratchpad's latency.
    struct Invocation {
        BlockNest nest;
        std::uint32_t reduction = 1;
        bool channelwise = false;
        std::uint32_t result_bytes = 2;

        bool operator==(const Invocation& o) const {
            return nest == o.nest && reduction == o.reduction && channelwise == o.channelwise &&
                   result_bytes == o.result_bytes;
        }
    };
    struct Hash {
        std::size_t operator()(const Invocation& invocation) const;
    };

    std::uint64_t run(const PeWorkExtension& work, const Traffic& traffic, std::uint64_t idle_cycles) override;
    /// Cycle of the invocation in which the command ends.
    std::uint64_t end_in_order(const PeWorkExtension& work, const ArrayBlock& block);
    std::uint64_t end_in_nest(const PeWorkExtension& work, const ArrayBlock& block);
    std::uint64_t cycles_of(const Invocation& invocation);

    BlockMultiplier multiplier_;
    ArrayPorts ports_;
    std::unordered_map<Invocation, std::uint64_t, Hash> known_;  ///< cycles with ports_ and without latency
    // The present invocation: cycles from its begin.
    std::uint64_t elapsed_ = 0;
    std::uint64_t latency_cycles_ = 0;
    ArrayTimeline timeline_;
};

}  // namespace switchyard::hw
