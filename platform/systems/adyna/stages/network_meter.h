// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/hw/noc/packet_network.h"
#include "switchyard/platform/chip/platform_config.h"
#include "switchyard/tlm/clock_period.h"
#include "switchyard/tlm/memory_manager.h"
#include "switchyard/tlm/simulation_registry.h"

namespace switchyard::platform {

/// Measures a transfer on an idle network of its own: the packet model of the platform's network (hw::PacketNetwork),
/// with its virtual channels and buffers. Packets of one transfer wait for each other, so the transfer takes longer
/// than its busiest link is used. How much longer follows from the network's parameters alone.
class NetworkMeter : public sc_core::sc_module {
public:
    struct Packet {
        std::uint64_t offset_cycles = 0;  ///< of the injection, from the transfer's begin
        Endpoint source = 0;
        std::vector<Endpoint> destinations;
        std::uint64_t payload_bytes = 0;
    };

    NetworkMeter(const sc_core::sc_module_name& name, const PlatformConfig& platform);

    /// Cycles from the transfer's begin until the last packet's tail has arrived, if nothing else is on the network.
    std::uint64_t measure(std::vector<Packet> packets);

private:
    void take(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);

    ClockPeriod clock_;
    SimulationRegistry registry_;  ///< own: what happens here is not what the chip does
    hw::PacketNetwork network_;
    sc_core::sc_vector<tlm_utils::simple_initiator_socket<NetworkMeter>> out_;
    sc_core::sc_vector<tlm_utils::simple_target_socket<NetworkMeter>> in_;
    PacketPayloadPool pool_;
    sc_core::sc_time free_;  ///< when the last transfer has left the network
};

}  // namespace switchyard::platform
