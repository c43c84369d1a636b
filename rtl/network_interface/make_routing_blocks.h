// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "switchyard/hw/network_interface/routing_blocks.h"

namespace switchyard::rtl {

/// The switch, merge and packetiser of the network interface `module` that `impl` names: `rtl`, `lockstep` or those of
/// hw::make_routing_blocks(). Throws std::invalid_argument for another format than the packetiser's.
std::unique_ptr<hw::RoutingBlocks> make_routing_blocks(const std::string& impl, const PacketFormat& format,
                                                       const std::string& module);

}  // namespace switchyard::rtl
