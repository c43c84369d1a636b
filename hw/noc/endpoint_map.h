// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "switchyard/tlm/packet_format.h"

namespace switchyard::hw {

/// What is attached to a network, and where. It gives endpoints their numbers: 0, 1, ... in the order in which they are
/// attached. Who builds a system attaches what it has; the network knows numbers and routers alone.
class EndpointMap {
public:
    /// Throws std::invalid_argument if the name is given, std::length_error if no number is left.
    Endpoint attach(const std::string& name, unsigned router);

    std::size_t size() const { return routers_.size(); }
    const std::string& name_of(Endpoint endpoint) const { return names_.at(endpoint); }
    /// Throws std::out_of_range for a name that nobody has.
    Endpoint number_of(const std::string& name) const;
    /// By endpoint.
    const std::vector<unsigned>& routers() const { return routers_; }

private:
    std::vector<std::string> names_;
    std::unordered_map<std::string, Endpoint> numbers_;
    std::vector<unsigned> routers_;
};

}  // namespace switchyard::hw
