// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/network_interface/network_interface.h"

#include <utility>

#include <fmt/format.h>

#include "switchyard/tlm/has_process.h"
#include "switchyard/tlm/thread_stack.h"

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
      tasks_("queue"),
      routing_(*this, config, make_blocks),
      ports_(*this, config, address, {controller, scratchpad, noc_out}, tasks_, routing_),
      values_(ports_),
      decisions_(ports_, routing_, registry),
      slots_(ports_, routing_, values_, fetcher_),
      fetcher_(ports_, routing_, decisions_, slots_),
      sender_(ports_, values_, decisions_) {
    issue.register_b_transport(this, &NetworkInterface::issue_transport);
    control.register_b_transport(this, &NetworkInterface::control_transport);
    noc_in.register_b_transport(this, &NetworkInterface::noc_transport);

    SWITCHYARD_HAS_PROCESS(NetworkInterface);
    SC_THREAD(process);  // a thread, since it calls b_transport
    sensitive << tasks_.event();

    register_counters(registry, this->name(), kNetworkInterfaceCounters,
                      [this]() -> const Stats& { return ports_.stats(); });
    registry.add_waiter(*this, [this] { return waits(); });
}

NetworkInterface::~NetworkInterface() {
    InterfaceTask task;
    while (tasks_.take(task)) {
        if (task.payload) task.payload->release();
    }
}

void NetworkInterface::issue_transport(Payload& payload, sc_core::sc_time& delay) {
    SendExtension* send = nullptr;
    payload.get_extension(send);
    if (!send) {
        payload.set_response_status(::tlm::TLM_GENERIC_ERROR_RESPONSE);
        return;
    }
    InterfaceTask task;
    task.kind = InterfaceTask::Kind::send;
    task.send = std::make_unique<SendExtension>(*send);
    ports_.schedule(std::move(task), delay);
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
            slots_.open_segment(command->segment, command->batch);
            break;
        case Kind::close_segment:
            slots_.close_segment(command->segment);
            decisions_.close_segment();
            break;
        case Kind::open_weights:
            fetcher_.open_weights(slots_.in_edge(command->edge));
            break;
        case Kind::release_unit:
            slots_.release_unit(command->edge, command->unit);
            break;
        case Kind::fetch_masks:
            fetcher_.fetch_masks(command->operator_index, command->unit, command->batch);
            break;
        case Kind::send_control:
            send_control(*command);
            break;
        case Kind::send_profile:
            send_profile(*command);
            break;
    }
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
}

void NetworkInterface::send_control(const InterfaceCommand& command) {
    const InterfacePorts::Packet out = ports_.make_packet(MessageKind::control, ports_.address().host, 8);
    out.message.control = command.control;
    out.message.batch = command.batch;
    out.message.segment = command.segment;
    ports_.inject(out);
}

void NetworkInterface::send_profile(const InterfaceCommand& command) {
    InterfacePorts::Packet out = ports_.make_packet(MessageKind::config, ports_.address().host, command.bytes.size());
    out.payload->set_address(kTileProfileRead);
    InterfacePorts::carry_values(out, command.bytes);
    ports_.inject(out);
}

void NetworkInterface::noc_transport(Payload& payload, sc_core::sc_time& delay) {
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
    const auto* const message = payload.get_extension<AdynaMessage>();
    if (message && is_tensor(payload, *message)) {  // also with values
        slots_.expect_tensor(payload, delay);
    } else if (message && message->kind == MessageKind::acknowledge) {
        expect_acknowledge(payload, delay);
    } else {
        payload.acquire();
        InterfaceTask task;
        task.payload = &payload;
        ports_.schedule(std::move(task), delay);
    }
}

void NetworkInterface::expect_acknowledge(const Payload& payload, const sc_core::sc_time& delay) {
    const auto& message = *payload.get_extension<AdynaMessage>();
    const Grant grant{message.batch, message.unit, payload.get_extension<PacketExtension>()->source,
                      sc_core::sc_time_stamp() + delay};
    // Of an edge that ends here only those acknowledge who read along, of others the consumers.
    if (slots_.ends_here(message.edge))
        fetcher_.take_grant(slots_.in_edge(message.edge), grant);
    else
        sender_.take_grant(message.edge, grant);
}

void NetworkInterface::process() {
    run_on_shifted_stack([this] {
        for (InterfaceTask task;; wait()) {
            while (tasks_.pop_due(task)) serve(task);
        }
    });
}

void NetworkInterface::serve(InterfaceTask& task) {
    switch (task.kind) {
        case InterfaceTask::Kind::arrival: {
            const std::unique_ptr<Payload, void (*)(Payload*)> guard(task.payload,
                                                                     [](Payload* payload) { payload->release(); });
            handle(*task.payload);
            break;
        }
        case InterfaceTask::Kind::send:
            sender_.begin(*task.send);
            break;
        case InterfaceTask::Kind::group_sent:
            sender_.finish_step(task.operator_index, task.unit);
            break;
        case InterfaceTask::Kind::unit_complete:
            slots_.complete_unit(slots_.in_edge(task.edge), task.unit);
            break;
        case InterfaceTask::Kind::group_acknowledged:
            sender_.release_group(task.edge, task.unit, task.source_unit, task.group);
            break;
        case InterfaceTask::Kind::load_acknowledged:
            fetcher_.issue_acknowledged(slots_.in_edge(task.edge), task.unit);
            break;
    }
}

void NetworkInterface::handle(Payload& payload) {
    const auto& packet = *payload.get_extension<PacketExtension>();
    if (packet.is_receipt) {
        sender_.finish_step(static_cast<std::uint16_t>(packet.receipt_tag >> 16),
                            static_cast<std::uint16_t>(packet.receipt_tag));
        return;
    }
    const auto* const message = payload.get_extension<AdynaMessage>();
    if (!message)
        ports_.fail(fmt::format("expected a packet with a message, found none in one from endpoint {}", packet.source));
    switch (operation_of(payload)) {
        case MemoryOperation::write_done:
            sender_.finish_step(message->operator_id, message->unit, true);
            return;
        case MemoryOperation::read:
        case MemoryOperation::write:
            ports_.fail(
                fmt::format("expected a packet for a tile, found a request to memory from endpoint {}", packet.source));
        case MemoryOperation::none:
        case MemoryOperation::read_data:
            handle(payload, *message);
            return;
    }
}

void NetworkInterface::handle(Payload& payload, const AdynaMessage& message) {
    switch (message.kind) {
        case MessageKind::probe:
            slots_.on_probe(payload, message);
            break;
        case MessageKind::data:
            fetcher_.on_record(payload, message);
            break;
        case MessageKind::mask:
            message.labels ? sender_.on_labels(message) : sender_.on_masks(message);
            break;
        case MessageKind::control: {
            InterfaceEvent event;
            event.kind = InterfaceEvent::Kind::control;
            event.control = message.control;
            event.batch = message.batch;
            event.segment = message.segment;
            ports_.tell_controller(event);
            break;
        }
        case MessageKind::config: {
            InterfaceEvent event;
            event.kind = payload.is_read() ? InterfaceEvent::Kind::config_read : InterfaceEvent::Kind::config_write;
            event.address = payload.get_address();
            event.bytes = payload.get_data_ptr();
            event.size = payload.get_data_length();
            ports_.tell_controller(event);
            break;
        }
        case MessageKind::acknowledge:  // served in noc_transport
            break;
    }
}

void NetworkInterface::load_program(const std::shared_ptr<const TileProgram>& program) {
    routing_.check(*program);
    ports_.use(program);
    slots_.load(*program);
    sender_.clear();
    decisions_.clear();
}

std::string NetworkInterface::waits() const {
    std::string text;
    for (const std::vector<std::string>& lines : {sender_.waits(), slots_.waits()})
        for (const std::string& line : lines) text += (text.empty() ? "" : "; ") + line;
    return text;
}

}  // namespace switchyard::hw
