// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/network_interface/network_interface.h"

#include <algorithm>
#include <cstring>

#include "switchyard/hw/network_interface/index_lists.h"
#include "switchyard/tlm/dummy_buffer.h"

namespace switchyard::hw {
namespace {

MemoryOperation operation_of(const ::tlm::tlm_generic_payload& payload) {
    const auto* const memory = payload.get_extension<MemoryExtension>();
    return memory ? memory->operation : MemoryOperation::none;
}

/// From a tile or from memory.
bool is_tensor(const ::tlm::tlm_generic_payload& payload, const AdynaMessage& message) {
    return message.kind == MessageKind::data && message.content == MessageContent::tensor &&
           operation_of(payload) != MemoryOperation::write_done;
}

}  // namespace

NetworkInterface::NetworkInterface(const sc_core::sc_module_name& name, const Config& config, const Address& address,
                                   SimulationRegistry& registry, const RoutingBlocksFactory& make_blocks)
    : sc_module(name),
      issue("issue"),
      control("control"),
      noc_in("noc_in"),
      controller("controller"),
      scratchpad("scratchpad"),
      noc_out("noc_out"),
      config_(config),
      address_(address),
      clock_(config.clock_ghz),
      registry_(registry),
      packets_(std::string(this->name()) + ".packets"),
      messages_(std::string(this->name()) + ".messages"),
      queue_("queue") {
    try {
        blocks_ = make_blocks(config.impl, config.packet_format, this->name());
    } catch (const std::invalid_argument& error) {
        fail(error.what());
    }
    issue.register_b_transport(this, &NetworkInterface::issue_transport);
    control.register_b_transport(this, &NetworkInterface::control_transport);
    noc_in.register_b_transport(this, &NetworkInterface::noc_transport);

    SC_HAS_PROCESS(NetworkInterface);
    SC_THREAD(process);  // a thread, since it calls b_transport
    sensitive << queue_.event();

    register_counters(registry, this->name(), kCounters, [this]() -> const Stats& { return stats_; });
    registry.add_waiter(*this, [this] { return waits(); });
}

NetworkInterface::~NetworkInterface() {
    Item item;
    while (queue_.take(item)) {
        if (item.payload) item.payload->release();
    }
    for (InEdge& in : in_edges_) {
        for (Payload* payload : in.early) payload->release();
    }
}

void NetworkInterface::fail(const std::string& message) const {
    throw ModelError(*this, message);
}

void NetworkInterface::issue_transport(Payload& payload, sc_core::sc_time& delay) {
    SendExtension* send = nullptr;
    payload.get_extension(send);
    if (!send) {
        payload.set_response_status(::tlm::TLM_GENERIC_ERROR_RESPONSE);
        return;
    }
    Item item;
    item.kind = Item::Kind::send;
    item.send = std::make_unique<SendExtension>(*send);
    queue_.push(std::move(item), delay);
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
}

void NetworkInterface::control_transport(Payload& payload, sc_core::sc_time&) {
    InterfaceCommand* command = nullptr;
    payload.get_extension(command);
    if (!command) {
        payload.set_response_status(::tlm::TLM_GENERIC_ERROR_RESPONSE);
        return;
    }
    using Kind = InterfaceCommand::Kind;
    switch (command->kind) {
        case Kind::program:
            load_program(command->program);
            break;
        case Kind::open_segment:
            open_segment(command->segment, command->batch);
            break;
        case Kind::close_segment:
            close_segment(command->segment);
            break;
        case Kind::open_weights:
            open_weights(command->edge);
            break;
        case Kind::release_unit:
            release_unit(command->edge, command->unit);
            break;
        case Kind::fetch_masks:
            fetch_masks(command->operator_index, command->unit, command->batch);
            break;
        case Kind::send_control: {
            const Packet out = make_packet(MessageKind::control, {address_.host}, 8);
            out.message.control = command->control;
            out.message.batch = command->batch;
            out.message.segment = command->segment;
            inject(out);
            break;
        }
        case Kind::send_profile: {
            Packet out = make_packet(MessageKind::config, {address_.host}, command->bytes.size());
            out.payload->set_address(kTileProfileRead);
            carry_values(out, command->bytes);
            inject(out);
            break;
        }
    }
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
}

void NetworkInterface::noc_transport(Payload& payload, sc_core::sc_time& delay) {
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
    const auto* const message = payload.get_extension<AdynaMessage>();
    if (message && is_tensor(payload, *message)) {  // also with values
        expect_tensor(payload, delay);
    } else if (message && message->kind == MessageKind::acknowledge) {
        expect_acknowledge(payload, delay);
    } else {
        payload.acquire();
        Item item;
        item.payload = &payload;
        queue_.push(std::move(item), delay);
    }
}

void NetworkInterface::process() {
    for (Item item;; wait()) {
        while (queue_.pop_due(item)) {
            switch (item.kind) {
                case Item::Kind::arrival: {
                    const std::unique_ptr<Payload, void (*)(Payload*)> guard(
                        item.payload, [](Payload* payload) { payload->release(); });
                    handle(*item.payload);
                    break;
                }
                case Item::Kind::send:
                    begin_send(*item.send);
                    break;
                case Item::Kind::group_sent:
                    finish_step(item.operator_index, item.unit);
                    break;
                case Item::Kind::unit_complete:
                    complete_unit(in_edge(item.edge), item.unit);
                    break;
                case Item::Kind::group_acknowledged:
                    release_group(item.edge, item.unit, item.group);
                    break;
                case Item::Kind::load_acknowledged:
                    issue_acknowledged(in_edge(item.edge), item.unit);
                    break;
            }
        }
    }
}

void NetworkInterface::handle(Payload& payload) {
    const auto& packet = *payload.get_extension<PacketExtension>();
    if (packet.is_receipt) {
        finish_step(static_cast<std::uint16_t>(packet.receipt_tag >> 16),
                    static_cast<std::uint16_t>(packet.receipt_tag));
        return;
    }
    const auto* const found = payload.get_extension<AdynaMessage>();
    if (!found) fail("a packet without a message from endpoint " + std::to_string(packet.source));
    const AdynaMessage& message = *found;
    switch (operation_of(payload)) {
        case MemoryOperation::write_done:
            finish_step(message.operator_id, message.unit);
            return;
        case MemoryOperation::read:
        case MemoryOperation::write:
            fail("a tile got a request for memory");
        case MemoryOperation::none:
        case MemoryOperation::read_data:
            break;
    }
    switch (message.kind) {
        case MessageKind::probe:
            on_probe(payload, message);
            break;
        case MessageKind::data:
            on_values(payload, message);
            break;
        case MessageKind::mask:
            message.labels ? on_labels(message) : on_masks(message);
            break;
        case MessageKind::control: {
            InterfaceEvent event;
            event.kind = InterfaceEvent::Kind::control;
            event.control = message.control;
            event.batch = message.batch;
            event.segment = message.segment;
            tell_controller(event);
            break;
        }
        case MessageKind::config: {
            InterfaceEvent event;
            event.kind = payload.is_read() ? InterfaceEvent::Kind::config_read : InterfaceEvent::Kind::config_write;
            event.address = payload.get_address();
            event.bytes = payload.get_data_ptr();
            event.size = payload.get_data_length();
            tell_controller(event);
            break;
        }
        case MessageKind::acknowledge:  // served in noc_transport
            break;
    }
}

void NetworkInterface::load_program(const std::shared_ptr<const TileProgram>& program) {
    check_routing(*program);
    program_ = program;
    in_edges_.clear();
    sending_.clear();
    receiving_.clear();
    in_edge_index_.clear();
    outbounds_.clear();
    outputs_.clear();
    switches_.clear();
    recorded_masks_.clear();
    labels_.clear();
    for (std::size_t i = 0; i < program->operators.size(); ++i) {
        const TileOperator& op = program->operators[i];
        for (const std::uint16_t id : op.in_edges) {
            const Edge& edge = program->edge(id);
            if (carries_decisions(edge.path)) continue;
            InEdge in;
            in.edge = &edge;
            in.destination = &program->placement(op.op_id);
            if (edge.path != EdgePath::weights) in.source = &program->placement(edge.src_op);
            in.operator_index = static_cast<std::uint16_t>(i);
            in.rank = op.rank;
            in.segment = op.segment;
            in.units.resize(edge.path == EdgePath::weights ? 1 : in.destination->units);
            if (in_edge_index_.size() <= id) in_edge_index_.resize(id + std::size_t{1}, -1);
            in_edge_index_[id] = static_cast<int>(in_edges_.size());
            in_edges_.push_back(std::move(in));
        }
    }
}

NetworkInterface::Packet NetworkInterface::make_packet(MessageKind kind, std::vector<Endpoint> destinations,
                                                       std::uint64_t payload_bytes) {
    PooledPayload payload(packets_);
    PacketExtension& packet = payload.packet();
    MemoryExtension& memory = payload.extension<MemoryExtension>();
    AdynaMessage& message = payload.extension<AdynaMessage>();
    message.kind = kind;
    packet.source = address_.tile;
    packet.destinations = std::move(destinations);
    packet.payload_bytes = payload_bytes;
    const auto length = static_cast<unsigned>(std::max<std::uint64_t>(payload_bytes, 1));
    payload->set_command(::tlm::TLM_WRITE_COMMAND);
    payload->set_data_ptr(dummy_buffer(length));
    payload->set_data_length(length);
    payload->set_streaming_width(length);
    return {std::move(payload), packet, memory, message};
}

NetworkInterface::Injection NetworkInterface::inject(const Packet& packet, const sc_core::sc_time& after) {
    sc_core::sc_time delay = after;
    ++stats_.packets;
    if (blocks_->packetises()) packetise(packet);
    noc_out->b_transport(*packet.payload, delay);
    if (!packet.payload->is_response_ok())
        fail("the network refused a packet: " + packet.payload->get_response_string());
    return {delay, packet.packet.receipt_follows};
}

void NetworkInterface::carry_values(Packet& packet, std::vector<std::uint8_t> bytes) {
    packet.packet.has_values = true;
    packet.packet.values = std::move(bytes);
    if (!packet.packet.values.empty()) packet.payload->set_data_ptr(packet.packet.values.data());
}

NetworkInterface::Payload& NetworkInterface::make_message(::tlm::tlm_command command, std::uint64_t address,
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

void NetworkInterface::tell_controller(InterfaceEvent& event) {
    Payload& payload = make_message(::tlm::TLM_IGNORE_COMMAND, 0, 1);
    payload.set_extension(&event);
    sc_core::sc_time delay;
    controller->b_transport(payload, delay);
    payload.clear_extension(&event);
    payload.release();
}

void NetworkInterface::touch_scratchpad(bool write, std::uint64_t address, std::uint64_t bytes) {
    if (bytes == 0) return;
    Payload& payload = make_message(write ? ::tlm::TLM_WRITE_COMMAND : ::tlm::TLM_READ_COMMAND, address, bytes);
    RepeatExtension repeat;
    repeat.has_values = false;
    payload.set_extension(&repeat);
    sc_core::sc_time delay;
    scratchpad->b_transport(payload, delay);
    const bool ok = payload.is_response_ok();
    payload.clear_extension(&repeat);
    payload.release();
    if (!ok) {
        fail("scratchpad refused " + std::to_string(bytes) + " bytes at offset " + std::to_string(address));
    }
}

std::string NetworkInterface::waits() const {
    std::string text;
    const auto add = [&text](const std::string& reason) { text += (text.empty() ? "" : "; ") + reason; };
    for (const Output& output : outputs_) {
        const TileOperator& op = program_->operators[output.operator_index];
        for (const std::uint16_t edge : output.parked) {
            const bool decides = carries_decisions(program_->edge(edge).path);
            add("operator " + std::to_string(op.op_id) + " unit " + std::to_string(output.unit) +
                (decides ? ": labels of switch " + std::to_string(op.previous_switch)
                         : ": routing mask of switch " + std::to_string(program_->edge(edge).switch_id)));
        }
    }
    for (const Outbound& outbound : outbounds_) {
        for (const Outbound::Group& group : outbound.groups) {
            if (group.sent || group.acks_missing == 0) continue;
            add("edge " + std::to_string(outbound.edge) + " unit " + std::to_string(outbound.unit) + ": " +
                std::to_string(group.acks_missing) + " acknowledge(s) from tiles around " +
                std::to_string(group.destinations.front()));
        }
    }
    for (const InEdge& in : in_edges_) {
        if (!in.open) continue;
        for (std::size_t unit = 0; unit < in.units.size(); ++unit) {
            const InputUnit& input = in.units[unit];
            if (input.ready || !input.announced) continue;
            add("edge " + std::to_string(in.edge->id) + " unit " + std::to_string(unit) + ": " +
                std::to_string(input.expected - input.received) + " of " + std::to_string(input.expected) + " bytes");
        }
    }
    return text;
}

}  // namespace switchyard::hw
