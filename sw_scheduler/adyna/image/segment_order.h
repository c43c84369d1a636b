// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "switchyard/sw_scheduler/adyna/image/samples.h"
#include "switchyard/sw_scheduler/workload/operator.h"

namespace switchyard {

/// Batch compaction. When a segment begins, the routing masks of the switches in the segments before it are in HBM.
/// Sorted by them, samples that take the same branches follow one another, so that micro-batches behind a switch are
/// full or empty: Adyna's dyn_dim of a whole batch, taken unit by unit.
struct SegmentOrder {
    /// One switch by whose masks samples are sorted.
    struct Key {
        std::uint64_t mask_address = 0;      ///< a u64 a sample id; of samples that do not reach the switch undefined
        std::uint64_t mask_bank_stride = 0;  ///< batch b has its masks at mask_address + (b % 2) * mask_bank_stride
        std::uint16_t outer = kNone;     ///< index of the key of the switch around it, which is smaller than its own
        std::uint16_t outer_branch = 0;  ///< ... and the branch on which it stands
    };
    std::uint16_t segment = 0;
    std::uint32_t samples = 1;  ///< of a batch; each of several batches is in an order of its own
    std::vector<Key> keys;      ///< the first counts most; none: operators pack their samples
    /// No sorting: unit u of each operator has its own samples at the positions [u * unit_samples, ...), by id.
    bool packs() const { return keys.empty(); }
};

/// Sample ids by position, batch after batch: ascending masks of the first key, then of the second, and so on, then
/// ascending ids. A sample that does not reach a switch has mask 0 there. masks[key][id], of one or several whole
/// batches. Throws std::invalid_argument if a key has fewer masks than a batch has samples.
std::vector<std::uint32_t> ordered_samples(const SegmentOrder& order,
                                           const std::vector<std::vector<std::uint64_t>>& masks);

/// Samples of each micro-batch of `unit_samples` positions.
std::vector<SampleSet> units_of(const std::vector<std::uint32_t>& ordered, std::uint32_t unit_samples);

}  // namespace switchyard
