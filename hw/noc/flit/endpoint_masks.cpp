// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/noc/flit/endpoint_masks.h"

#include <utility>

namespace switchyard::hw::flit {

EndpointMasks::EndpointMasks(TopologyPtr topology, std::vector<std::uint16_t> home)
    : topology_(std::move(topology)),
      home_(std::move(home)),
      words_((home_.size() + 63) / 64),
      choices_(topology_->choices()),
      behind_(std::size_t{topology_->routers()} * choices_),
      second_class_(topology_->routers()) {}

const std::uint64_t* EndpointMasks::make_behind(unsigned router, unsigned choice) {
    const unsigned own = topology_->router_ports();
    std::vector<std::uint64_t>& sets = behind_[router * choices_ + choice];
    sets.resize((own + 1) * words_);
    for (std::size_t e = 0; e < home_.size(); ++e)
        insert(sets, home_[e] == router ? own : topology_->port_to(router, home_[e], choice), e);
    return sets.data();
}

const std::uint64_t* EndpointMasks::make_second_class(unsigned source) {
    std::vector<std::uint64_t>& sets = second_class_[source];
    sets.resize(topology_->router_ports() * words_);
    for (std::size_t e = 0; e < home_.size(); ++e)
        for (unsigned port = 0; port < topology_->router_ports(); ++port)
            if (topology_->second_class(source, home_[e], port)) insert(sets, port, e);
    return sets.data();
}

}  // namespace switchyard::hw::flit
