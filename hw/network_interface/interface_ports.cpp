// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/network_interface/interface_ports.h"

#include <algorithm>

#include <fmt/format.h>

#include "switchyard/tlm/borrowed_extension.h"
#include "switchyard/tlm/dummy_buffer.h"
#include "switchyard/tlm/simulation_registry.h"

namespace switchyard::hw {

InterfacePorts::InterfacePorts(const sc_core::sc_object& module, const NetworkInterfaceConfig& config,
                               const NetworkInterfaceAddress& address, Sockets sockets,
                               TimedQueue<InterfaceTask>& tasks, Routing& routing)
    : module_(module),
      config_(config),
      address_(address),
      clock_(config.clock_ghz),
      sockets_(sockets),
      tasks_(tasks),
      routing_(routing),
      packets_(std::string(module.name()) + ".packets"),
      messages_(std::string(module.name()) + ".messages") {}

void InterfacePorts::fail(const std::string& message) const {
    throw ModelError(module_, message + routing_.evidence());
}

InterfacePorts::Packet InterfacePorts::make_packet(MessageKind kind, const std::vector<Endpoint>& destinations,
                                                   std::uint64_t payload_bytes) {
    Packet packet = make_packet(kind, payload_bytes);
    packet.packet.destinations = destinations;
    return packet;
}

InterfacePorts::Packet InterfacePorts::make_packet(MessageKind kind, Endpoint destination,
                                                   std::uint64_t payload_bytes) {
    Packet packet = make_packet(kind, payload_bytes);
    packet.packet.destinations.assign(1, destination);
    return packet;
}

InterfacePorts::Packet InterfacePorts::make_packet(MessageKind kind, std::uint64_t payload_bytes) {
    PooledPayload payload(packets_);
    PacketExtension& packet = payload.packet();
    MemoryExtension& memory = payload.extension<MemoryExtension>();
    AdynaMessage& message = payload.extension<AdynaMessage>();
    message.kind = kind;
    packet.source = address_.tile;
    packet.payload_bytes = payload_bytes;
    const auto length = static_cast<unsigned>(std::max<std::uint64_t>(payload_bytes, 1));
    payload->set_command(::tlm::TLM_WRITE_COMMAND);
    payload->set_data_ptr(dummy_buffer(length));
    payload->set_data_length(length);
    payload->set_streaming_width(length);
    return {std::move(payload), packet, memory, message};
}

InterfacePorts::Injection InterfacePorts::inject(const Packet& packet, const sc_core::sc_time& after) {
    sc_core::sc_time delay = after;
    ++stats_.packets;
    packet.packet.sent_at = sc_core::sc_time_stamp() + after;
    if (routing_.packetises()) routing_.packetise(*packet.payload, {packet.packet, packet.memory, packet.message});
    sockets_.network->b_transport(*packet.payload, delay);
    if (!packet.payload->is_response_ok())
        fail("expected the network to take a packet, found " + packet.payload->get_response_string());
    return {delay, packet.packet.receipt_follows};
}

void InterfacePorts::carry_values(Packet& packet, std::vector<std::uint8_t> bytes) {
    packet.packet.has_values = true;
    packet.packet.values = std::move(bytes);
    if (!packet.packet.values.empty()) packet.payload->set_data_ptr(packet.packet.values.data());
}

void InterfacePorts::probe(const Edge& edge, std::uint16_t unit, std::uint32_t batch,
                           const SampleIndexListPtr& index_list, const std::vector<Endpoint>& destinations) {
    if (destinations.empty()) return;
    const std::uint64_t bytes = 8 + (program_->placement(edge.dst_op).unit_samples + 7) / 8;  // a bitmap of the samples
    const Packet packet = make_packet(MessageKind::probe, destinations, bytes);
    packet.packet.traffic = TrafficClass::control;
    packet.message.edge = edge.id;
    packet.message.unit = unit;
    packet.message.batch = batch;
    packet.message.operator_id = edge.src_op;
    packet.message.dyn_dim = static_cast<std::uint32_t>(index_list->samples.size());
    packet.message.index_list = index_list;
    ++stats_.probes;
    inject(packet, setup());
}

void InterfacePorts::acknowledge(const InEdge& in, unsigned unit, const std::vector<Endpoint>& senders) {
    const Packet packet = make_packet(MessageKind::acknowledge, senders, 0);
    packet.packet.traffic = TrafficClass::control;
    packet.message.edge = in.edge->id;
    packet.message.unit = static_cast<std::uint16_t>(unit);
    packet.message.batch = in.batch;
    ++stats_.acknowledges;
    inject(packet);
}

InterfacePorts::Payload& InterfacePorts::make_message(::tlm::tlm_command command, std::uint64_t address,
                                                      std::uint64_t bytes) {
    Payload& payload = messages_.allocate();
    const auto length = static_cast<unsigned>(bytes);
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(dummy_buffer(length));
    payload.set_data_length(length);
    payload.set_streaming_width(length);
    return payload;
}

void InterfacePorts::tell_controller(InterfaceEvent& event) {
    Payload& payload = make_message(::tlm::TLM_IGNORE_COMMAND, 0, 1);
    {
        const BorrowedExtension shown(payload, event);
        sc_core::sc_time delay;
        sockets_.controller->b_transport(payload, delay);
    }
    payload.release();
}

void InterfacePorts::touch_scratchpad(bool write, std::uint64_t address, std::uint64_t bytes) {
    if (bytes == 0) return;
    Payload& payload = make_message(write ? ::tlm::TLM_WRITE_COMMAND : ::tlm::TLM_READ_COMMAND, address, bytes);
    RepeatExtension repeat;
    repeat.has_values = false;
    {
        const BorrowedExtension shown(payload, repeat);
        sc_core::sc_time delay;
        sockets_.scratchpad->b_transport(payload, delay);
    }
    const bool ok = payload.is_response_ok();
    const std::string response = ok ? "" : payload.get_response_string();
    payload.release();
    if (!ok) fail(fmt::format("expected {} bytes of the scratchpad at {:#x}, found {}", bytes, address, response));
}

void InterfacePorts::access_scratchpad(::tlm::tlm_command command, std::uint64_t address, std::uint8_t* bytes,
                                       std::uint64_t size) {
    Payload& payload = make_message(command, address, size);
    payload.set_data_ptr(bytes);
    const unsigned done = sockets_.scratchpad->transport_dbg(payload);
    payload.release();
    if (done != size) fail(fmt::format("expected {} bytes of the scratchpad at {:#x}, found {}", size, address, done));
}

}  // namespace switchyard::hw
