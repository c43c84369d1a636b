// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <systemc>
#include <tlm>

#include "switchyard/hw/messages/adyna_message.h"
#include "switchyard/hw/messages/interface_protocol.h"
#include "switchyard/hw/messages/tile_protocol.h"
#include "switchyard/hw/network_interface/in_edge.h"
#include "switchyard/hw/network_interface/interface_config.h"
#include "switchyard/hw/network_interface/routing.h"
#include "switchyard/sw_scheduler/adyna/image/program.h"
#include "switchyard/tlm/clock_period.h"
#include "switchyard/tlm/memory_manager.h"
#include "switchyard/tlm/timed_queue.h"

namespace switchyard::hw {

/// What a network interface does at a certain time.
struct InterfaceTask {
    enum class Kind : std::uint8_t {
        arrival,             ///< of the packet `payload`, which is released afterwards
        send,                ///< the dispatcher's command `send`
        group_sent,          ///< OutboundSender
        group_acknowledged,  ///< OutboundSender
        unit_complete,       ///< InboundSlots
        load_acknowledged    ///< MemoryFetcher
    } kind = Kind::arrival;
    ::tlm::tlm_generic_payload* payload = nullptr;
    std::unique_ptr<SendExtension> send = {};
    std::uint16_t operator_index = 0, edge = 0, unit = 0, group = 0;
    std::uint16_t source_unit = 0;  ///< OutboundSender
};

/// What the parts of a network interface share: configuration, program and counters, and the ways out of it: packets to
/// the network, messages to the controller and the scratchpad, tasks for later.
class InterfacePorts {
public:
    using Payload = ::tlm::tlm_generic_payload;
    struct Sockets {
        ::tlm::tlm_initiator_socket<>&controller, &scratchpad, &network;
    };
    /// A packet of this interface's, with its extensions.
    struct Packet {
        PooledPayload payload;
        PacketExtension& packet;
        MemoryExtension& memory;
        AdynaMessage& message;
    };
    struct Injection {
        sc_core::sc_time arrival;  ///< time until the tail of the last copy has arrived, unless a receipt will say it
        bool receipt_follows;
    };

    InterfacePorts(const sc_core::sc_object& module, const NetworkInterfaceConfig& config,
                   const NetworkInterfaceAddress& address, Sockets sockets, TimedQueue<InterfaceTask>& tasks,
                   Routing& routing);

    const NetworkInterfaceConfig& config() const { return config_; }
    const NetworkInterfaceAddress& address() const { return address_; }
    const ClockPeriod& clock() const { return clock_; }
    NetworkInterfaceStats& stats() { return stats_; }
    const NetworkInterfaceStats& stats() const { return stats_; }
    /// Only once there is one.
    const TileProgram& program() const { return *program_; }
    void use(std::shared_ptr<const TileProgram> program) { program_ = std::move(program); }
    /// Operators of the segment pack their own samples.
    bool packs(std::uint16_t segment) const {
        const SegmentOrder* const order = program_->order(segment);
        return order != nullptr && order->packs();
    }
    Endpoint memory_of(std::uint64_t address) const { return address_.memory.at(address / address_.region_bytes); }

    Packet make_packet(MessageKind kind, const std::vector<Endpoint>& destinations, std::uint64_t payload_bytes);
    Packet make_packet(MessageKind kind, Endpoint destination, std::uint64_t payload_bytes);
    static void carry_values(Packet& packet, std::vector<std::uint8_t> bytes);
    Injection inject(const Packet& packet, const sc_core::sc_time& after = sc_core::SC_ZERO_TIME);
    /// Setting up a transfer, before its first packet.
    sc_core::sc_time setup() const { return clock_.cycles(config_.setup_cycles); }
    /// Tells `destinations` of a unit of an edge, with its index list; nobody if there are none.
    void probe(const Edge& edge, std::uint16_t unit, std::uint32_t batch, const SampleIndexListPtr& index_list,
               const std::vector<Endpoint>& destinations);
    void acknowledge(const InEdge& in, unsigned unit, const std::vector<Endpoint>& senders);

    void tell_controller(InterfaceEvent& event);
    /// Sizes alone: the scratchpad counts the bytes.
    void touch_scratchpad(bool write, std::uint64_t address, std::uint64_t bytes);
    void access_scratchpad(::tlm::tlm_command command, std::uint64_t address, std::uint8_t* bytes, std::uint64_t size);
    void schedule(InterfaceTask task, const sc_core::sc_time& after) { tasks_.push(std::move(task), after); }

    /// Throws the module's ModelError.
    [[noreturn]] void fail(const std::string& message) const;
    const sc_core::sc_object& module() const { return module_; }

private:
    Packet make_packet(MessageKind kind, std::uint64_t payload_bytes);
    Payload& make_message(::tlm::tlm_command command, std::uint64_t address, std::uint64_t bytes);

    const sc_core::sc_object& module_;
    NetworkInterfaceConfig config_;
    NetworkInterfaceAddress address_;
    ClockPeriod clock_;
    Sockets sockets_;
    TimedQueue<InterfaceTask>& tasks_;
    Routing& routing_;
    NetworkInterfaceStats stats_;
    AdynaPacketPool packets_;
    PayloadPool messages_;  ///< to the tile's other components
    std::shared_ptr<const TileProgram> program_;
};

}  // namespace switchyard::hw
