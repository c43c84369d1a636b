// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace switchyard::hw {

/// One user of a resource.
struct ShareDemand {
    double weight = 1;   ///< more than 0 of who wants something
    double demand = 0;   ///< what it would use
    double granted = 0;  ///< by share_fairly()
};

/// Max-min fair shares of a resource: who wants less than its share, by weight, gets it, and the others share the rest.
/// The granted shares add up to the smaller of the capacity and all demands.
void share_fairly(double capacity, std::vector<ShareDemand>& users);

}  // namespace switchyard::hw
