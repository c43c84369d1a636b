// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/gpu/fair_share.h"

#include <algorithm>

#include <boost/container/small_vector.hpp>

namespace switchyard::hw {

void share_fairly(double capacity, std::vector<ShareDemand>& users) {
    double demand = 0, weight = 0;
    for (ShareDemand& user : users) {
        user.granted = user.demand;
        demand += user.demand;
        if (user.demand > 0) weight += user.weight;
    }
    if (demand <= capacity) return;
    // Those who want least for their weight come first; each takes the lesser of its demand and its share of what is
    // left.
    boost::container::small_vector<ShareDemand*, 16> order;
    for (ShareDemand& user : users)
        if (user.demand > 0) order.push_back(&user);
    std::sort(order.begin(), order.end(), [](const ShareDemand* a, const ShareDemand* b) {
        const double left = a->demand * b->weight, right = b->demand * a->weight;
        return left != right ? left < right : a < b;
    });
    for (ShareDemand* user : order) {
        user->granted = std::min(user->demand, capacity * user->weight / weight);
        capacity -= user->granted;
        weight -= user->weight;
    }
}

}  // namespace switchyard::hw
