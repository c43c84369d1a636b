// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/ace/ace_host.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "switchyard/hw/gpu/command_processor.h"
#include "switchyard/hw/scheduling_window/scheduling_window.h"
#include "switchyard/platform/gpu/gpu_device.h"
#include "switchyard/tlm/has_process.h"
#include "switchyard/tlm/simulated_time.h"

namespace switchyard::platform::ace {

namespace reg = hw::gpu_registers;
constexpr std::uint64_t kRegisterBar = GpuDevice::kGpuRegisters, kMemoryBar = GpuDevice::kGpuWindow;
constexpr std::uint64_t kWindowBar = GpuDevice::kGpuExtension;  // entries of the scheduling window
using sched::ace::EventId;
using sched::ace::HostThread;
using sched::ace::KernelNumber;

class AceHost::Thread : public HostThread {
public:
    explicit Thread(AceHost& host) : host_(host) {}

    void work(double us) override {
        if (us > 0) sc_core::wait(microseconds(us, "host work"));
    }
    void await(const std::function<bool()>& condition, const char* what) override {
        if (condition()) return;
        host_.waiting_.push_back(what);
        while (!condition()) sc_core::wait(host_.changed_);
        host_.waiting_.erase(std::find(host_.waiting_.begin(), host_.waiting_.end(), what));
    }
    void changed() override { host_.changed_.notify(sc_core::SC_ZERO_TIME); }
    void spawn(const std::string& name, std::function<void(HostThread&)> body) override {
        sc_core::sc_spawn(
            [&host = host_, body = std::move(body)] {
                Thread thread(host);
                body(thread);
            },
            sc_core::sc_gen_unique_name(name.c_str()));
    }

    void launch(unsigned stream, KernelNumber kernel) override { host_.push(stream, host_.packets_.at(kernel)); }
    void launch_node(unsigned stream, KernelNumber kernel) override {
        hw::GpuPacket packet = host_.packets_.at(kernel);
        packet.graph = true;
        host_.push(stream, packet);
    }
    void record_event(unsigned stream, EventId event) override {
        push_event(stream, hw::GpuPacket::Kind::event_signal, event);
    }
    void wait_event(unsigned stream, EventId event) override {
        push_event(stream, hw::GpuPacket::Kind::event_wait, event);
    }
    void synchronise(unsigned stream) override {
        const std::uint32_t wanted = host_.written_.at(stream);
        // The driver looks at the queue's counter until it is there; each look goes over the link.
        while ((host_.completed_.at(stream) = host_.read_completed(stream)) != wanted)
            host_.check_progress(fmt::format("queue {}", stream));
    }

    void send(const sched::ace::WindowEntry& entry, KernelNumber kernel) override {
        while (host_.entries_.size() >= kEntriesUnderWay) sc_core::wait(host_.entry_gone_);
        const hw::GpuPacketBytes packet = hw::encode(host_.packets_.at(kernel));
        host_.entries_.push_back(hw::SchedulingWindow::encode(entry, {packet.begin(), packet.end()}));
        host_.entry_there_.notify(sc_core::SC_ZERO_TIME);
        ++host_.window_sent_;
    }
    void synchronise_window() override {
        // As above, with the counter of the window's completions in place of a queue's.
        do {
            host_.device_.read_word(kRegisterBar + reg::kQueues);
            host_.check_progress("the scheduling window");
        } while (host_.window_completed_ != host_.window_sent_);
    }

private:
    void push_event(unsigned stream, hw::GpuPacket::Kind kind, EventId event) {
        hw::GpuPacket packet;
        packet.kind = kind;
        packet.tag = event;
        packet.event_address = host_.layout_.events + 8 * event;
        packet.event_value = host_.event_value_;
        host_.push(stream, packet);
    }

    AceHost& host_;
};

AceHost::AceHost(const sc_core::sc_module_name& module_name, DeviceAccess& device, const DeviceLayout& layout,
                 unsigned streams, double watchdog_us, SimulationRegistry& registry)
    : sc_module(module_name),
      device_(device),
      registry_(registry),
      layout_(layout),
      streams_(streams),
      watchdog_us_(watchdog_us),
      written_(streams),
      completed_(streams) {
    SWITCHYARD_HAS_PROCESS(AceHost);
    SC_THREAD(send_entries);
    registry.add_waiter(*this, [this] { return waits(); });
}

std::string AceHost::waits() const {
    return waiting_.empty() ? "" : fmt::format("{}", fmt::join(waiting_, "; "));
}

std::unique_ptr<HostThread> AceHost::thread() {
    return std::make_unique<Thread>(*this);
}

void AceHost::begin_input(std::vector<hw::GpuPacket> packets, std::uint64_t event_value) {
    packets_ = std::move(packets);
    event_value_ = event_value;
    note_progress();
}

void AceHost::set_up_queues() {
    for (unsigned stream = 0; stream < streams_; ++stream) {
        const std::uint64_t base = layout_.rings + std::uint64_t{stream} * layout_.ring_packets * hw::kGpuPacketBytes;
        const auto write = [&](std::uint64_t offset, std::uint32_t value) {
            device_.post_word(kRegisterBar + reg::queue(stream, offset), value);
        };
        write(reg::kBaseLow, static_cast<std::uint32_t>(base));
        write(reg::kBaseHigh, static_cast<std::uint32_t>(base >> 32));
        write(reg::kPackets, layout_.ring_packets);
    }
    device_.read_word(kRegisterBar + reg::kQueues);  // behind the writes
}

void AceHost::push(unsigned stream, const hw::GpuPacket& packet) {
    std::uint32_t& written = written_.at(stream);
    // A driver waits until the ring has room; each look goes over the link.
    while (written - completed_.at(stream) >= layout_.ring_packets &&
           written - (completed_.at(stream) = read_completed(stream)) >= layout_.ring_packets)
        check_progress(fmt::format("queue {}, which is full", stream));
    const std::uint64_t slot = std::uint64_t{stream} * layout_.ring_packets + written % layout_.ring_packets;
    const hw::GpuPacketBytes bytes = hw::encode(packet);
    device_.post(kMemoryBar + layout_.rings + slot * hw::kGpuPacketBytes, {bytes.begin(), bytes.end()});
    device_.post_word(kRegisterBar + reg::queue(stream, reg::kWriteIndex), ++written);
}

std::uint32_t AceHost::read_completed(unsigned stream) {
    return device_.read_word(kRegisterBar + reg::queue(stream, reg::kCompleted));
}

void AceHost::send_entries() {
    for (;;) {
        while (entries_.empty()) wait(entry_there_);
        std::vector<std::uint8_t> entry = std::move(entries_.front());
        entries_.pop_front();
        entry_gone_.notify(sc_core::SC_ZERO_TIME);
        device_.write(kWindowBar, std::move(entry));
    }
}

void AceHost::check_progress(const std::string& what) const {
    const double us = (sc_core::sc_time_stamp() - last_progress_) / sc_core::sc_time(1, sc_core::SC_US);
    if (us <= watchdog_us_) return;
    throw ModelError(
        *this, fmt::format("{}: expected a kernel to complete within {:.0f} us, found none for {:.0f} us: {}", what,
                           watchdog_us_, us, fmt::join(registry_.waits(), "; ")));
}

}  // namespace switchyard::platform::ace
