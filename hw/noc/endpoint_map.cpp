// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/noc/endpoint_map.h"

#include <limits>
#include <stdexcept>

#include <fmt/format.h>

namespace switchyard::hw {

Endpoint EndpointMap::attach(const std::string& name, unsigned router) {
    if (routers_.size() > std::numeric_limits<Endpoint>::max())

        throw std::length_error(fmt::format("expected at most {} endpoints, which 16 bits can number, found more",
                                            std::numeric_limits<Endpoint>::max() + 1));
    const auto number = static_cast<Endpoint>(routers_.size());
    if (!numbers_.emplace(name, number).second)
        throw std::invalid_argument("expected endpoints of different names, found two by the name of " + name);
    names_.push_back(name);
    routers_.push_back(router);
    return number;
}

Endpoint EndpointMap::number_of(const std::string& name) const {
    const auto found = numbers_.find(name);
    if (found == numbers_.end()) throw std::out_of_range("expected the name of an endpoint, found " + name);
    return found->second;
}

}  // namespace switchyard::hw
