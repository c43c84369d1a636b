// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/gpu/command_processor.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "switchyard/hw/gpu/kernel_launch.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/tlm/has_process.h"
#include "switchyard/tlm/simulated_time.h"

namespace switchyard::hw {

using sc_core::sc_time;
using sc_core::sc_time_stamp;
using Kind = GpuPacket::Kind;
namespace reg = gpu_registers;

CommandProcessor::CommandProcessor(const sc_core::sc_module_name& module_name, const Config& config,
                                   SimulationRegistry& registry)
    : sc_module(module_name),
      registers("registers"),
      memory("memory"),
      kernels("kernels"),
      copies("copies"),
      completed("completed"),
      irq("irq"),
      config_(config),
      registry_(registry),
      file_(name()),
      completions_("completions"),
      written_("written"),
      irq_changed_("irq_changed") {
    registers.register_b_transport(this, &CommandProcessor::access_registers);
    registers.register_transport_dbg(this, &CommandProcessor::debug_registers);
    completed.register_b_transport(this, &CommandProcessor::take_completion);
    for (unsigned queue = 0; queue < config.queues; ++queue) queues_.push_back(std::make_unique<Queue>());
    define_registers();
    for (unsigned queue = 0; queue < config.queues; ++queue)
        lanes_.emplace_back("GPU", fmt::format("stream {}", queue));
    SWITCHYARD_HAS_PROCESS(CommandProcessor);
    SC_THREAD(retire);
    SC_METHOD(update_irq);
    sensitive << irq_changed_;
    for (unsigned queue = 0; queue < config.queues; ++queue)
        sc_core::sc_spawn([this, queue] { run(queue); }, fmt::format("queue_{}", queue).c_str());

    registry.add(*this, "packets", "1", stats_.packets);
    registry.add(*this, "kernels", "1", stats_.kernels);
    registry.add(*this, "copies", "1", stats_.copies);
    registry.add(*this, "event_waits", "1", stats_.event_waits);
    registry.add(*this, "event_signals", "1", stats_.event_signals);
    registry.add(*this, "barriers", "1", stats_.barriers);
    registry.add(*this, "doorbells", "1", stats_.doorbells);
    registry.add_waiter(*this, [this] { return stall(); });
}

CommandProcessor::~CommandProcessor() = default;

void CommandProcessor::define_registers() {
    using Access = RegisterFile::Access;
    file_.add(reg::kQueues, "QUEUES", Access::ro, config_.queues, 0, "queues");
    for (unsigned q = 0; q < queues_.size(); ++q) {
        Queue& queue = *queues_[q];
        const auto add = [&](std::uint64_t offset, const char* name, Access access, std::uint32_t writable,
                             const char* text) -> RegisterFile::Register& {
            return file_.add(reg::queue(q, offset), fmt::format("QUEUE_{}_{}", q, name), access, 0, writable, text);
        };
        constexpr std::uint32_t kAll = 0xffffffffu;
        add(reg::kBaseLow, "BASE_LOW", Access::rw, kAll, "of the ring").on_write([&queue](auto now, auto) {
            queue.base = (queue.base & ~std::uint64_t{kAll}) | now;
        });
        add(reg::kBaseHigh, "BASE_HIGH", Access::rw, kAll, "of the ring").on_write([&queue](auto now, auto) {
            queue.base = (queue.base & kAll) | (std::uint64_t{now} << 32);
        });
        add(reg::kPackets, "PACKETS", Access::rw, kAll, "of the ring").on_write([this, q](auto now, auto) {
            const Queue& changed = *queues_[q];
            if ((now & (now - 1)) != 0) fail(q, fmt::format("PACKETS: expected a power of two, found {}", now));
            if (changed.read != changed.written)
                fail(q, fmt::format("PACKETS: expected an empty ring, found {} packets; wait until READ_INDEX is {}",
                                    changed.written - changed.read, changed.written));
            queues_[q]->packets = now;
        });
        add(reg::kWriteIndex, "WRITE_INDEX", Access::rw, kAll, "doorbell").on_write([this, q](auto now, auto) {
            ring(q, now);
        });
        add(reg::kReadIndex, "READ_INDEX", Access::ro, 0, "taken").on_read([&queue](auto) { return queue.read; });
        add(reg::kCompleted, "COMPLETED", Access::ro, 0, "complete").on_read([&queue](auto) {
            return queue.completed;
        });
        add(reg::kInterrupt, "INTERRUPT", Access::w1c, 1, "bit 0: pending").on_write([this](auto, auto) {
            irq_changed_.notify(sc_core::SC_ZERO_TIME);
        });
    }
}

void CommandProcessor::access_registers(::tlm::tlm_generic_payload& payload, sc_time& delay) {
    wait(delay);
    delay = sc_core::SC_ZERO_TIME;
    file_.transport(payload);
}

unsigned CommandProcessor::debug_registers(::tlm::tlm_generic_payload& payload) {
    return file_.transport_dbg(payload);
}

void CommandProcessor::ring(unsigned q, std::uint32_t index) {
    Queue& queue = *queues_[q];
    if (index - queue.read > queue.packets)
        fail(q, fmt::format(
                    "WRITE_INDEX {}: expected at most the {} packets of the ring beyond READ_INDEX, found {}; wait "
                    "until READ_INDEX is {}",
                    index, queue.packets, index - queue.read, index - queue.packets));
    queue.written = index;
    ++stats_.doorbells;
    queue.doorbell.notify(sc_core::SC_ZERO_TIME);
}

void CommandProcessor::fail(unsigned queue, const std::string& message) const {
    throw ModelError(*this, fmt::format("queue {}: {}", queue, message));
}

void CommandProcessor::access(bool write, std::uint64_t address, void* data, unsigned bytes, const std::string& what) {
    ::tlm::tlm_generic_payload payload;
    set_access(payload, write, address, data, bytes);
    sc_time delay;
    memory->b_transport(payload, delay);
    wait(delay);
    if (payload.is_response_error())
        throw ModelError(*this, fmt::format("{}: expected device memory at {:#x}, found {}", what, address,
                                            payload.get_response_string()));
}

GpuPacket CommandProcessor::fetch(unsigned q) {
    const Queue& queue = *queues_[q];
    GpuPacketBytes bytes{};
    const std::string what = fmt::format("queue {}: packet {}", q, queue.read);
    access(false, queue.base + std::uint64_t{queue.read % queue.packets} * kGpuPacketBytes, bytes.data(),
           kGpuPacketBytes, what);
    try {
        const GpuPacket packet = decode_gpu_packet(bytes);
        const std::string message = validation_error(packet);
        if (!message.empty()) fail(q, fmt::format("packet {} (tag {}): {}", queue.read, packet.tag, message));
        return packet;
    } catch (const InputError& error) {
        fail(q, fmt::format("packet {}: {}", queue.read, error.what()));
    }
}

void CommandProcessor::run(unsigned q) {
    Queue& queue = *queues_[q];
    while (true) {
        if (queue.read == queue.written) {
            wait(queue.doorbell);
            wait(nanoseconds(config_.doorbell_ns, "doorbell_ns"));
            continue;
        }
        queue.packet = fetch(q);
        ++stats_.packets;
        const sc_time fetched = sc_time_stamp();  // sc_time_stamp() refers to the current time
        process(q, fetched);
    }
}

void CommandProcessor::await_earlier(Queue& queue) {
    while (queue.unfinished() > 0) wait(queue.done);
}

void CommandProcessor::await_turn(Queue& queue, const sc_time& fetched) {
    const bool graph = queue.packet.graph;
    const double after_fetch = graph ? config_.graph_launch_ns : config_.launch_ns;
    const double after_completion = graph ? config_.graph_launch_ns : config_.dependent_launch_ns;
    sc_time start = std::max(sc_time_stamp(), fetched + nanoseconds(after_fetch, "launch_ns"));
    if (queue.packet.in_order && queue.any_completion)
        start = std::max(start, queue.last_completion + nanoseconds(after_completion, "dependent_launch_ns"));
    start = std::max(start, next_kernel_);
    next_kernel_ = start + nanoseconds(config_.kernel_interval_ns, "kernel_interval_ns");
    wait(start - sc_time_stamp());
}

void CommandProcessor::await_event(Queue& queue) {
    const GpuPacket& packet = queue.packet;
    queue.waits_for_event = true;
    while (debug_word(packet.event_address) < packet.event_value) wait(written_);
    queue.waits_for_event = false;
    wait(nanoseconds(config_.event_ns, "event_ns"));
    // What follows depends on what the event stands for.
    queue.last_completion = sc_time_stamp();
    queue.any_completion = true;
}

void CommandProcessor::process(unsigned q, const sc_time& fetched) {
    Queue& queue = *queues_[q];
    const bool waits =
        queue.packet.in_order || queue.packet.kind == Kind::event_signal || queue.packet.kind == Kind::barrier;
    if (waits) await_earlier(queue);
    switch (queue.packet.kind) {
        case Kind::kernel:
            ++stats_.kernels;
            await_turn(queue, fetched);
            dispatch(q, kernels);
            return;
        case Kind::copy:
            ++stats_.copies;
            dispatch(q, copies);
            return;
        case Kind::event_wait:
            ++stats_.event_waits;
            await_event(queue);
            queue.packet.event_address = 0;  // nothing to be written
            break;
        case Kind::event_signal:
            ++stats_.event_signals;
            wait(nanoseconds(config_.event_ns, "event_ns"));
            break;
        case Kind::barrier:
            ++stats_.barriers;
            break;
    }
    ++queue.read;
    complete(q, queue.packet);
}

void CommandProcessor::dispatch(unsigned q, tlm_utils::simple_initiator_socket<CommandProcessor>& socket) {
    Queue& queue = *queues_[q];
    const std::uint64_t handle = handles_++;
    in_flight_.emplace(handle, InFlight{q, queue.packet, sc_time_stamp()});
    GpuPacketBytes bytes = encode(queue.packet);
    ::tlm::tlm_generic_payload payload;
    set_access(payload, true, handle, bytes.data(), kGpuPacketBytes);
    const std::uint32_t index = queue.read++;
    sc_time delay;
    socket->b_transport(payload, delay);
    wait(delay);
    if (payload.is_response_error()) {
        const std::string why = registry_.errors().empty() ? payload.get_response_string() : registry_.errors().front();
        fail(q, fmt::format("packet {}: {}", index, why));
    }
}

void CommandProcessor::take_completion(::tlm::tlm_generic_payload& payload, sc_time& delay) {
    if (in_flight_.count(payload.get_address()) == 0) {
        payload.set_response_status(::tlm::TLM_ADDRESS_ERROR_RESPONSE);
        return;
    }
    completions_.push(payload.get_address(), delay);
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
}

void CommandProcessor::retire() {
    while (true) {
        std::uint64_t handle = 0;
        while (completions_.pop_due(handle)) {
            const InFlight finished = in_flight_.at(handle);
            in_flight_.erase(handle);
            if (log_ != nullptr) {
                const std::uint64_t begin = finished.since.value(), end = sc_time_stamp().value();
                log_->slice(lanes_[finished.queue].lane(*log_, begin, end),
                            finished.packet.kind == Kind::copy ? "copy" : "kernel", begin, end,
                            {{"tag", finished.packet.tag}});
            }
            complete(finished.queue, finished.packet);
        }
        wait(completions_.event());
    }
}

void CommandProcessor::complete(unsigned q, const GpuPacket& packet) {
    Queue& queue = *queues_[q];
    if (packet.event_address != 0) {
        std::uint64_t value = packet.event_value;
        access(true, packet.event_address, &value, sizeof value, fmt::format("queue {}: tag {}: event", q, packet.tag));
        written_.notify(sc_core::SC_ZERO_TIME);
    }
    ++queue.completed;
    if (packet.kind != Kind::event_wait) {
        queue.last_completion = sc_time_stamp();
        queue.any_completion = true;
    }
    queue.done.notify(sc_core::SC_ZERO_TIME);
    if (packet.interrupt) {
        file_.set(reg::queue(q, reg::kInterrupt), 1);
        irq_changed_.notify(sc_core::SC_ZERO_TIME);
    }
}

void CommandProcessor::update_irq() {
    bool level = false;
    for (unsigned q = 0; q < queues_.size(); ++q) level |= file_.get(reg::queue(q, reg::kInterrupt)) != 0;
    irq.write(level);
}

bool CommandProcessor::idle() const {
    return std::all_of(queues_.begin(), queues_.end(),
                       [](const auto& queue) { return queue->completed == queue->written; });
}

std::uint64_t CommandProcessor::debug_word(std::uint64_t address) const {
    std::uint64_t word = 0;
    ::tlm::tlm_generic_payload payload;
    set_access(payload, false, address, &word, sizeof word);
    auto& port = const_cast<CommandProcessor*>(this)->memory;  // a debug access changes nothing
    if (const unsigned bytes = port->transport_dbg(payload); bytes != sizeof word)
        throw ModelError(*this, fmt::format("event {:#x}: expected {} bytes of device memory, found {}", address,
                                            sizeof word, bytes));
    return word;
}

GpuPacket CommandProcessor::debug_packet(unsigned q, std::uint32_t index) const {
    const Queue& queue = *queues_[q];
    GpuPacketBytes bytes{};
    ::tlm::tlm_generic_payload payload;
    set_access(payload, false, queue.base + std::uint64_t{index % queue.packets} * kGpuPacketBytes, bytes.data(),
               kGpuPacketBytes);
    auto& port = const_cast<CommandProcessor*>(this)->memory;
    port->transport_dbg(payload);
    return decode_gpu_packet(bytes);
}

}  // namespace switchyard::hw
