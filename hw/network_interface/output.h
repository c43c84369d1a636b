// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include <systemc>

#include "switchyard/sw_scheduler/adyna/image/program.h"
#include "switchyard/sw_scheduler/adyna/image/samples.h"

namespace switchyard::hw {

using BranchLists = std::vector<SampleSet>;  ///< of a unit behind a switch, by branch

/// The output of (operator, unit): gone when no edge is left.
struct Output {
    std::uint16_t operator_index = 0, unit = 0;
    std::uint32_t batch = 0;
    SampleIndexListPtr index_list;
    unsigned steps_missing = 0;                     ///< edges, and acknowledgements of memory writes
    std::vector<std::uint16_t> parked;              ///< edges whose switch has no complete mask yet
    bool counted = false;                           ///< switch counters
    sc_core::sc_time sent_at;                       ///< when the last edge could begin, ...
    std::uint16_t last_edge = kNone;                ///< ... which was this one; kNone: to memory, or of masks
    std::map<std::uint16_t, BranchLists> branches;  ///< by switch
};

}  // namespace switchyard::hw
