// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/gpu/cta_scheduler.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/bytes.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/tlm/borrowed_extension.h"
#include "switchyard/tlm/has_process.h"
#include "switchyard/tlm/simulated_time.h"

namespace switchyard::hw {

CtaScheduler::CtaScheduler(const sc_core::sc_module_name& module_name, const Config& config,
                           const MultiprocessorConfig& multiprocessors, unsigned sources, SimulationRegistry& registry)
    : sc_module(module_name),
      kernels("kernels", sources),
      completions("completions", sources),
      memory("memory"),
      start("start"),
      finished("finished"),
      config_(config),
      multiprocessors_(multiprocessors),
      registry_(registry),
      used_(multiprocessors.count),
      placed_(multiprocessors.count),
      ends_("ends"),
      changed_("changed"),
      place_free_("place_free") {
    for (unsigned source = 0; source < sources; ++source)
        kernels[source].register_b_transport(this, &CtaScheduler::take_kernel, static_cast<int>(source));
    finished.register_b_transport(this, &CtaScheduler::take_finished);
    SWITCHYARD_HAS_PROCESS(CtaScheduler);
    SC_THREAD(schedule);
    SC_THREAD(complete);

    registry.add(*this, "kernels", "1", stats_.kernels);
    registry.add(*this, "max_resident_kernels", "1", stats_.max_resident_kernels);
    registry.add(*this, "waits", "1", stats_.waits);
    registry.add_waiter(*this, [this] { return waits(); });
}

void CtaScheduler::set_hooks(KernelHook started, KernelHook completed) {
    started_ = std::move(started);
    completed_ = std::move(completed);
}

void CtaScheduler::set_holds(KernelTest holds, KernelHook resident) {
    holds_ = std::move(holds);
    all_resident_ = std::move(resident);
}

void CtaScheduler::release(std::uint64_t tag) {
    std::shared_ptr<Kernel> kernel;
    for (const auto* there : {&running_, &waiting_})
        for (const std::shared_ptr<Kernel>& one : *there)
            if (one->held && one->launch->packet.tag == tag) kernel = one;
    if (!kernel) throw ModelError(*this, fmt::format("expected the tag of a kernel that is held, found {}", tag));
    kernel->held = false;
    const auto done = std::exchange(kernel->done_ctas, {});
    for (const auto& [multiprocessor, count] : done) leave(kernel, multiprocessor, count);
}

void CtaScheduler::leave(const std::shared_ptr<Kernel>& kernel, unsigned multiprocessor, std::uint32_t count) {
    used_[multiprocessor] -= kernel->one.times(count);
    kernel->unfinished -= count;
    const auto found = std::find(running_.begin(), running_.end(), kernel);  // all of its CTAs have been handed out
    if (found != running_.end() && kernel->unfinished == 0) {
        running_.erase(found);
        ends_.push(kernel, nanoseconds(config_.kernel_end_ns, "kernel_end_ns"));
    }
    changed_.notify(sc_core::SC_ZERO_TIME);
}

std::string CtaScheduler::waits() const {
    if (resident_ == 0) return "";
    const Kernel& kernel = waiting_.empty() ? *running_.front() : *waiting_.front();
    return fmt::format("{} of {} CTAs of kernel {}", kernel.unfinished, kernel.launch->packet.ctas(),
                       kernel.launch->packet.tag);
}

bool CtaScheduler::refuse(::tlm::tlm_generic_payload& payload, const std::string& message) {
    registry_.add_error(*this, message);
    payload.set_response_status(::tlm::TLM_GENERIC_ERROR_RESPONSE);
    return false;
}

std::shared_ptr<KernelLaunch> CtaScheduler::fetch(const GpuPacket& packet, unsigned source, std::uint64_t handle) {
    auto launch = std::make_shared<KernelLaunch>();
    launch->packet = packet;
    launch->source = source;
    launch->handle = handle;
    if (packet.segments() == 0) return launch;
    std::vector<std::uint8_t> bytes(std::size_t{packet.segments()} * kGpuSegmentBytes);
    ::tlm::tlm_generic_payload payload;
    set_access(payload, false, packet.segments_address, bytes.data(), static_cast<unsigned>(bytes.size()));
    // In no time: launch latencies have what a kernel's arguments take.
    if (memory->transport_dbg(payload) != bytes.size()) return nullptr;
    ByteReader reader(bytes.data(), bytes.size());
    for (unsigned i = 0; i < packet.segments(); ++i) {
        sched::MemorySegment segment;
        reader(segment.start, segment.size);
        (i < packet.read_segments ? launch->reads : launch->writes).push_back(segment);
    }
    return launch;
}

void CtaScheduler::take_kernel(int source, ::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    if (!payload.is_write() || payload.get_data_length() != kGpuPacketBytes || payload.get_byte_enable_ptr()) {
        refuse(payload, fmt::format("expected a write of one packet of {} bytes, found a {} of {} bytes{}",
                                    kGpuPacketBytes, payload.is_write() ? "write" : "read", payload.get_data_length(),
                                    payload.get_byte_enable_ptr() ? " with byte enables" : ""));
        return;
    }
    GpuPacketBytes bytes{};
    std::copy_n(payload.get_data_ptr(), bytes.size(), bytes.begin());
    GpuPacket packet;
    try {
        packet = decode_gpu_packet(bytes);
    } catch (const InputError& error) {
        refuse(payload, error.what());
        return;
    }
    std::string message = packet.kind == GpuPacket::Kind::kernel ? validation_error(packet) : "not a kernel";
    if (message.empty()) message = fit_error(multiprocessors_, packet);
    if (!message.empty()) {
        refuse(payload, fmt::format("kernel {}: {}", packet.tag, message));
        return;
    }
    wait(delay);
    delay = sc_core::SC_ZERO_TIME;
    const std::shared_ptr<KernelLaunch> launch = fetch(packet, static_cast<unsigned>(source), payload.get_address());
    if (launch == nullptr) {
        refuse(payload, fmt::format("kernel {}: segments_address: expected memory of {} segments, found none at {:#x}",
                                    packet.tag, packet.segments(), packet.segments_address));
        return;
    }
    if (resident_ >= config_.max_kernels) ++stats_.waits;
    while (resident_ >= config_.max_kernels) wait(place_free_);
    launch->number = numbers_++;
    ++resident_;
    ++stats_.kernels;
    stats_.max_resident_kernels = std::max<std::uint64_t>(stats_.max_resident_kernels, resident_);
    auto kernel = std::make_shared<Kernel>();
    kernel->launch = launch;
    kernel->one = cta_resources(multiprocessors_, packet);
    kernel->waiting = kernel->unfinished = packet.ctas();
    kernel->record = {packet.tag, launch->source, packet.ctas(), sc_core::sc_time_stamp(), {}, {}};
    kernel->held = holds_ && holds_(*launch);
    waiting_.push_back(std::move(kernel));
    changed_.notify(sc_core::SC_ZERO_TIME);
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
}

void CtaScheduler::take_finished(::tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
    const auto* extension = payload.get_extension<CtaExtension>();
    std::uint32_t count = 0;
    if (!payload.is_write() || extension == nullptr || payload.get_data_length() != sizeof count) {
        payload.set_response_status(::tlm::TLM_GENERIC_ERROR_RESPONSE);
        return;
    }
    std::memcpy(&count, payload.get_data_ptr(), sizeof count);
    const auto of_launch = [extension](const std::shared_ptr<Kernel>& kernel) {
        return kernel->launch == extension->kernel;
    };
    auto found = std::find_if(running_.begin(), running_.end(), of_launch);
    if (found == running_.end()) found = std::find_if(waiting_.begin(), waiting_.end(), of_launch);
    const std::shared_ptr<Kernel> kernel = *found;
    const auto multiprocessor = static_cast<unsigned>(payload.get_address() / sizeof count);
    if (kernel->held)
        kernel->done_ctas.emplace_back(multiprocessor, count);
    else
        leave(kernel, multiprocessor, count);
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
}

void CtaScheduler::schedule() {
    while (true) {
        // The front one has its turn: those behind it are in the order in which they come next.
        while (!waiting_.empty()) {
            const std::shared_ptr<Kernel> kernel = waiting_.front();
            place(*kernel);
            if (kernel->waiting > 0) break;
            waiting_.erase(waiting_.begin());
            running_.push_back(kernel);
            if (kernel->held && all_resident_) all_resident_(*kernel->launch);
        }
        wait(changed_);
    }
}

void CtaScheduler::place(Kernel& kernel) {
    const CtaResources limit = capacity(multiprocessors_);
    const std::uint64_t before = kernel.waiting;
    std::fill(placed_.begin(), placed_.end(), 0u);
    while (kernel.waiting > 0) {
        std::uint32_t fewest = std::numeric_limits<std::uint32_t>::max();
        const auto fits = [&](unsigned m) {
            CtaResources with = used_[m];
            with += kernel.one;
            return with.fits(limit);
        };
        for (unsigned m = 0; m < used_.size(); ++m)
            if (used_[m].warps < fewest && fits(m)) fewest = used_[m].warps;
        if (fewest == std::numeric_limits<std::uint32_t>::max()) break;
        for (unsigned m = 0; m < used_.size() && kernel.waiting > 0; ++m) {
            if (used_[m].warps != fewest || !fits(m)) continue;
            used_[m] += kernel.one;
            ++placed_[m];
            --kernel.waiting;
        }
    }
    if (kernel.waiting == before) return;
    if (before == kernel.launch->packet.ctas()) {
        kernel.record.started = sc_core::sc_time_stamp();
        if (started_) started_(*kernel.launch);
    }
    for (unsigned m = 0; m < placed_.size(); ++m)
        if (placed_[m] > 0) send(kernel, m, placed_[m]);
}

void CtaScheduler::send(const Kernel& kernel, unsigned multiprocessor, std::uint32_t count) {
    ::tlm::tlm_generic_payload payload;
    CtaExtension extension;
    extension.kernel = kernel.launch;
    set_access(payload, true, std::uint64_t{multiprocessor} * sizeof count, &count, sizeof count);
    const BorrowedExtension shown(payload, extension);
    sc_core::sc_time delay;
    start->b_transport(payload, delay);
    if (payload.is_response_error())
        throw ModelError(*this, fmt::format("kernel {}: expected the multiprocessors to take CTAs, found {}",
                                            kernel.launch->packet.tag, payload.get_response_string()));
}

void CtaScheduler::complete() {
    while (true) {
        std::shared_ptr<Kernel> kernel;
        while (ends_.pop_due(kernel)) {
            --resident_;
            place_free_.notify(sc_core::SC_ZERO_TIME);
            kernel->record.completed = sc_core::sc_time_stamp();
            if (config_.keep_records) records_.push_back(kernel->record);
            const KernelLaunch& launch = *kernel->launch;
            if (log_ != nullptr) {
                const std::uint64_t begin = kernel->record.started.value(), end = kernel->record.completed.value();
                log_->slice(lanes_.lane(*log_, begin, end), "kernel", begin, end,
                            {{"tag", launch.packet.tag}, {"ctas", kernel->record.ctas}, {"source", launch.source}});
            }
            if (completed_) completed_(launch);
            std::uint64_t tag = launch.packet.tag;
            ::tlm::tlm_generic_payload payload;
            set_access(payload, true, launch.handle, &tag, sizeof tag);
            sc_core::sc_time delay;
            completions[launch.source]->b_transport(payload, delay);
            if (payload.is_response_error())
                throw ModelError(*this,
                                 fmt::format("source {}: expected the completion of kernel {} to be taken, found {}",
                                             launch.source, tag, payload.get_response_string()));
        }
        wait(ends_.event());
    }
}

}  // namespace switchyard::hw
