// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "switchyard/hw/noc/topology.h"

namespace switchyard::hw::flit {

/// Endpoints by the ports through which they are reached, as sets with a bit an endpoint: a router splits the
/// destinations of a multicast by a few words of bits. Made for a router when it is asked for.
class EndpointMasks {
public:
    /// `home`: the router of each endpoint.
    EndpointMasks(TopologyPtr topology, std::vector<std::uint16_t> home);

    /// Words of a set.
    std::size_t words() const { return words_; }
    /// A set for each port to which `router` passes a packet with the source's `choice` on, and one behind them for
    /// its own endpoints.
    const std::uint64_t* behind(unsigned router, unsigned choice) {
        const std::vector<std::uint64_t>& sets = behind_[router * choices_ + choice];
        return sets.empty() ? make_behind(router, choice) : sets.data();
    }
    /// A set for each port: to whom packets from router `source` use the second class of VCs where they leave by it.
    const std::uint64_t* second_class(unsigned source) {
        const std::vector<std::uint64_t>& sets = second_class_[source];
        return sets.empty() ? make_second_class(source) : sets.data();
    }

private:
    const std::uint64_t* make_behind(unsigned router, unsigned choice);
    const std::uint64_t* make_second_class(unsigned source);
    void insert(std::vector<std::uint64_t>& sets, unsigned set, std::size_t endpoint) const {
        sets[set * words_ + endpoint / 64] |= std::uint64_t{1} << endpoint % 64;
    }

    TopologyPtr topology_;
    std::vector<std::uint16_t> home_;
    std::size_t words_;
    unsigned choices_;
    std::vector<std::vector<std::uint64_t>> behind_;        ///< router * choices_ + choice
    std::vector<std::vector<std::uint64_t>> second_class_;  ///< by the source's router
};

}  // namespace switchyard::hw::flit
