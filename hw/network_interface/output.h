// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

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
    std::map<std::uint16_t, BranchLists> branches;  ///< by switch
};

}  // namespace switchyard::hw
