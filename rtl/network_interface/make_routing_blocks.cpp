// SPDX-License-Identifier: Apache-2.0
#include "switchyard/rtl/network_interface/make_routing_blocks.h"

#include <Vrtl_merge_reorder.h>
#include <Vrtl_packetiser.h>
#include <Vrtl_switch_splitter.h>

#include "switchyard/rtl/network_interface/lockstep_routing_blocks.h"
#include "switchyard/rtl/network_interface/verilated_routing_blocks.h"

namespace switchyard::rtl {

std::unique_ptr<hw::RoutingBlocks> make_routing_blocks(const std::string& impl, const PacketFormat& format,
                                                       const std::string& module) {
    using Blocks = VerilatedRoutingBlocks<Vrtl_switch_splitter, Vrtl_merge_reorder, Vrtl_packetiser, true>;
    if (impl == "rtl") return std::make_unique<Blocks>(format, module + ".rtl.fst");
    if (impl == "lockstep") {
        return std::make_unique<LockstepRoutingBlocks>(format, module, [format](const std::string& waveform) {
            return std::make_unique<Blocks>(format, waveform, false);
        });
    }
    return hw::make_routing_blocks(impl, format, module);
}

}  // namespace switchyard::rtl
