// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/brainstorm/device_host.h"

#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sysc/kernel/sc_dynamic_processes.h>

#include "switchyard/hw/gpu/command_processor.h"
#include "switchyard/tlm/simulated_time.h"

namespace switchyard::platform::brainstorm {

using sched::brainstorm::HostStep;
using sched::brainstorm::HostSteps;
using sched::brainstorm::kCheckQueue;
using sched::brainstorm::kCopyQueue;
using sched::brainstorm::kDeviceQueues;
using sched::brainstorm::kMainQueue;
using sched::brainstorm::Speculation;
namespace reg = hw::gpu_registers;

namespace {

constexpr double kWatchdogUs = 1e7;
/// Segments of kernels lie behind each other in a ring of their own, which is large enough for all that are under way.
constexpr std::uint64_t kSegments = std::uint64_t{1} << 29, kSegmentRing = std::uint64_t{1} << 28;
constexpr std::uint64_t kBytesOfSegments = 2 * sched::kMaxSegments * hw::kGpuSegmentBytes;

}  // namespace

DeviceHost::DeviceHost(const sc_core::sc_module_name& module_name, DeviceAccess& device, const HostConfig& costs,
                       unsigned depth, std::uint32_t ring_packets, SimulationRegistry& registry)
    : sc_module(module_name),
      device_(device),
      costs_(costs),
      depth_(depth),
      ring_packets_(ring_packets),
      registry_(registry),
      events_(kRings + std::uint64_t{kDeviceQueues} * ring_packets * hw::kGpuPacketBytes) {
    if (end_of_set_up() > kSegments)
        throw ModelError(*this, fmt::format("expected at most {} bytes for the packets and events of a batch, found {}",
                                            kSegments, end_of_set_up()));
    registry.add(*this, "launches", "1", stats_.launches);
    registry.add(*this, "read_backs", "1", stats_.read_backs);
    registry.add(*this, "loads", "1", stats_.loads);
    registry.add(*this, "rollbacks", "1", stats_.rollbacks);
    registry.add(*this, "abandoned_steps", "1", stats_.abandoned_steps);
}

void DeviceHost::set_up_queues() {
    for (unsigned queue = 0; queue < kDeviceQueues; ++queue) {
        const std::uint64_t base = kRings + std::uint64_t{queue} * ring_packets_ * hw::kGpuPacketBytes;
        const auto write = [&](std::uint64_t offset, std::uint32_t value) {
            device_.post_word(GpuDevice::kGpuRegisters + reg::queue(queue, offset), value);
        };
        write(reg::kBaseLow, static_cast<std::uint32_t>(base));
        write(reg::kBaseHigh, static_cast<std::uint32_t>(base >> 32));
        write(reg::kPackets, ring_packets_);
    }
    device_.read_word(GpuDevice::kGpuRegisters + reg::kQueues);  // behind the writes
}

void DeviceHost::spend(double us) {
    if (us > 0) sc_core::wait(microseconds(us, "host work"));
}

void DeviceHost::push(unsigned queue, const hw::GpuPacket& packet) {
    ++packets_;  // before time passes: the other thread launches as well
    std::uint32_t& written = written_.at(queue);
    // Kernels that are launched in vain may fill the queue.
    if (written - completed_.at(queue) >= ring_packets_) await_completed(queue, written - ring_packets_ + 1);
    const std::uint64_t slot = std::uint64_t{queue} * ring_packets_ + written % ring_packets_;
    const hw::GpuPacketBytes bytes = hw::encode(packet);
    device_.post(GpuDevice::kGpuWindow + kRings + slot * hw::kGpuPacketBytes, {bytes.begin(), bytes.end()});
    device_.post_word(GpuDevice::kGpuRegisters + reg::queue(queue, reg::kWriteIndex), ++written);
}

void DeviceHost::push_event(unsigned queue, hw::GpuPacket::Kind kind, std::uint32_t word, std::uint64_t value) {
    hw::GpuPacket packet;
    packet.kind = kind;
    packet.tag = word;
    packet.event_address = events_ + 8 * std::uint64_t{word};
    packet.event_value = value;
    push(queue, packet);
}

/// The driver looks at the queue's counter until it is there; each look goes over the link.
void DeviceHost::await_completed(unsigned queue, std::uint32_t packets) {
    std::uint32_t& completed = completed_.at(queue);
    while ((completed = device_.read_word(GpuDevice::kGpuRegisters + reg::queue(queue, reg::kCompleted))) - packets >
           1u << 31) {
        if (sc_core::sc_time_stamp() - last_progress_ > sc_core::sc_time(kWatchdogUs, sc_core::SC_US))
            throw ModelError(
                *this, fmt::format("queue {}: expected a kernel to complete within {:.0f} us, found none: {}", queue,
                                   kWatchdogUs, fmt::join(registry_.waits(), "; ")));
    }
}

void DeviceHost::synchronise(unsigned queue) {
    await_completed(queue, written_.at(queue));
    spend(costs_.synchronise_us);
}

void DeviceHost::execute(const HostStep& step) {
    using Kind = HostStep::Kind;
    hw::GpuPacket packet;
    switch (step.kind) {
        case Kind::launch: {
            spend(costs_.operator_us + costs_.launch_us);
            const std::vector<std::uint8_t> segments = hw::encode_segments(*step.kernel);
            const std::uint64_t address = kSegments + packets_ * kBytesOfSegments % kSegmentRing;
            if (!segments.empty()) device_.debug_write(GpuDevice::kGpuWindow + address, segments);
            ++stats_.launches;
            weights_.launched(packets_, batch_, step.weights);
            push(step.queue, hw::kernel_packet(*step.kernel, packets_, segments.empty() ? 0 : address));
            break;
        }
        case Kind::read_back:
            spend(costs_.launch_us);
            ++stats_.read_backs;
            packet.kind = hw::GpuPacket::Kind::copy;
            packet.direction = hw::GpuPacket::Direction::device_to_host;
            packet.tag = packets_;
            packet.source = events_;
            packet.bytes = step.bytes;
            push(step.queue, packet);
            synchronise(step.queue);
            break;
        case Kind::work:
            spend(step.us);
            break;
        case Kind::fork:
            spend(costs_.launch_us);
            push_event(kMainQueue, hw::GpuPacket::Kind::event_signal, kForkWords + step.queue, ++forks_);
            if (step.queue == kCheckQueue) {
                // The checking thread launches the wait when its turn comes: the check before is launched first.
                check_fork_ = forks_;
                break;
            }
            spend(costs_.launch_us);
            push_event(step.queue, hw::GpuPacket::Kind::event_wait, kForkWords + step.queue, forks_);
            break;
        case Kind::load:
            if (!issued_loads_.insert(step.load).second) break;  // done again behind a wrong prediction
            spend(costs_.launch_us);
            ++stats_.loads;
            packet.kind = hw::GpuPacket::Kind::copy;
            packet.direction = hw::GpuPacket::Direction::host_to_device;
            packet.tag = packets_;
            packet.source = WeightContents::source(batch_, step.load);
            packet.destination = step.address;
            packet.bytes = step.bytes;
            packet.event_address = events_ + 8 * std::uint64_t{kLoadWords + step.load % (kEventWords - kLoadWords)};
            packet.event_value = batch_;
            push(kCopyQueue, packet);
            break;
        case Kind::await_load:
            spend(costs_.launch_us);
            push_event(kMainQueue, hw::GpuPacket::Kind::event_wait, kLoadWords + step.load % (kEventWords - kLoadWords),
                       batch_);
            break;
        case Kind::collective:
            spend(costs_.operator_us + costs_.launch_us);
            if (step.kernel) packet = hw::kernel_packet(*step.kernel, 0);
            packet.tag = kCollectiveTag + step.collective;
            if (!step.kernel) packet.block = {512, 1, 1};
            ++stats_.launches;
            push(kMainQueue, packet);
            push_event(kMainQueue, hw::GpuPacket::Kind::event_wait, kCollectiveWord,
                       first_collective_ + step.collective + 1);
            break;
        case Kind::speculate:
            break;  // run() sees to it
    }
}

void DeviceHost::speculate(const HostSteps& steps, std::size_t step, Checks& open) {
    const Speculation& speculation = *steps[step].speculation;
    auto pending = std::make_shared<Pending>();
    pending->step = step;
    pending->fork = check_fork_;
    const std::shared_ptr<Pending> before = last_check_;
    last_check_ = pending;
    open.push_back(pending);
    // One thread of the host checks, in the order of the routers.
    sc_core::sc_spawn([this, &speculation, before, pending] {
        while (before && !before->known) sc_core::wait(before->there);
        if (!pending->given_up) {
            spend(costs_.launch_us);
            push_event(kCheckQueue, hw::GpuPacket::Kind::event_wait, kForkWords + kCheckQueue, pending->fork);
            for (const HostStep& check : speculation.check) execute(check);
        }
        pending->known = true;
        pending->there.notify();
    });
}

std::size_t DeviceHost::roll_back(const HostSteps& steps, std::size_t at, Checks& open) {
    while (!open.empty() && open.front()->known) {
        const std::shared_ptr<Pending> oldest = open.front();
        open.pop_front();
        if (steps[oldest->step].speculation->hit) continue;
        for (const std::shared_ptr<Pending>& later : open) later->given_up = true;
        open.clear();
        ++stats_.rollbacks;
        stats_.abandoned_steps += at - oldest->step - 1;
        const Speculation& speculation = *steps[oldest->step].speculation;
        weights_.abandon(speculation.keeps ? oldest->behind : oldest->predicted, packets_);
        for (const HostStep& step : speculation.actual) execute(step);
        return oldest->step + 1;
    }
    return 0;
}

double DeviceHost::run(const HostSteps& steps, std::uint64_t batch, std::uint64_t first_collective) {
    batch_ = batch;
    first_collective_ = first_collective;
    issued_loads_.clear();
    note_progress();
    const sc_core::sc_time begin = sc_core::sc_time_stamp();
    Checks open;
    // What the step `at` predicts need not be launched any more.
    const auto in_vain = [&](std::size_t at) {
        return std::any_of(open.begin(), open.end(), [&](const std::shared_ptr<Pending>& one) {
            const Speculation& speculation = *steps[one->step].speculation;
            return one->known && !speculation.hit && (one->step != at || !speculation.keeps);
        });
    };
    std::size_t i = 0;
    while (true) {
        const auto must_know = [&] {
            if (open.empty()) return false;
            const std::size_t last = open.back()->step;
            return i == steps.size() || (i == last + 1 && steps[last].speculation->ends) ||
                   (steps[i].kind == HostStep::Kind::speculate && open.size() >= depth_);
        };
        while (must_know() && !open.front()->known) sc_core::wait(open.front()->there);
        if (const std::size_t again = roll_back(steps, i, open); again > 0) {
            i = again;
            continue;
        }
        if (must_know()) continue;
        if (i == steps.size()) break;
        if (steps[i].kind != HostStep::Kind::speculate) {
            execute(steps[i++]);
            continue;
        }
        const std::size_t step = i++;
        speculate(steps, step, open);
        const std::shared_ptr<Pending> own = open.back();
        own->predicted = packets_;
        for (const HostStep& predicted : steps[step].speculation->predicted) {
            if (in_vain(step)) break;
            execute(predicted);
        }
        own->behind = packets_;
    }
    synchronise(kMainQueue);
    const double us = (sc_core::sc_time_stamp() - begin) / sc_core::sc_time(1, sc_core::SC_US);
    while (last_check_ && !last_check_->known) sc_core::wait(last_check_->there);
    last_check_.reset();
    for (unsigned queue = 0; queue < kDeviceQueues; ++queue)
        if (queue != kMainQueue) synchronise(queue);
    return us;
}

}  // namespace switchyard::platform::brainstorm
