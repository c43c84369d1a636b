// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "switchyard/hw/noc/network.h"

namespace switchyard::rtl {

/// As hw::make_network(), with the routers in RTL that `config` names: impl `rtl` and `lockstep`.
std::unique_ptr<hw::Network> make_network(const sc_core::sc_module_name& name, const hw::NocConfig& config,
                                          SimulationRegistry& registry, std::vector<unsigned> router_of_endpoint);

}  // namespace switchyard::rtl
