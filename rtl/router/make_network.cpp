// SPDX-License-Identifier: Apache-2.0
#include "switchyard/rtl/router/make_network.h"

#include <utility>

#include "switchyard/rtl/router/make_router.h"

namespace switchyard::rtl {

std::unique_ptr<hw::Network> make_network(const sc_core::sc_module_name& name, const hw::NocConfig& config,
                                          SimulationRegistry& registry, std::vector<unsigned> router_of_endpoint) {
    return hw::make_network(name, config, registry, std::move(router_of_endpoint), &make_router);
}

}  // namespace switchyard::rtl
