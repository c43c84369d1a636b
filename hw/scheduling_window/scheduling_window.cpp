// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/scheduling_window/scheduling_window.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "switchyard/tlm/has_process.h"
#include "switchyard/tlm/rtl_fault.h"
#include "switchyard/tlm/simulated_time.h"

namespace switchyard::hw {

using sched::ace::KernelId;

namespace {

constexpr std::uint64_t kWindowPatience =
    4096;  // cycles in which a core is clocked and nothing moves: more than any takes

}  // namespace

std::string validation_error(const SchedulingWindow::Config& config) {
    return validation_error(WindowShape{config.slots, config.scheduled_kernels});
}

SchedulingWindow::SchedulingWindow(const sc_core::sc_module_name& module_name, const Config& config,
                                   SimulationRegistry& registry, const WindowCoreFactory& make_core)
    : sc_module(module_name),
      entries("entries"),
      kernels("kernels"),
      completed("completed"),
      config_(config),
      clock_(config.clock_ghz),
      registry_(registry),
      core_(make_core(config.impl, {config.slots, config.scheduled_kernels}, name())),
      dispatched_("dispatched") {
    SWITCHYARD_HAS_PROCESS(SchedulingWindow);
    SC_THREAD(run);
    SC_THREAD(dispatch);
    entries.register_b_transport(this, &SchedulingWindow::take_entry);
    completed.register_b_transport(this, &SchedulingWindow::take_completion);
    register_counters(registry, name(), kCounters, [this]() -> const Stats& { return stats_; });
    registry.add_waiter(*this, [this] {
        const std::string text = stall();
        return text.empty() ? text : text + core_->evidence();
    });
}

std::vector<std::uint8_t> SchedulingWindow::encode(const sched::ace::WindowEntry& entry,
                                                   const std::vector<std::uint8_t>& packet) {
    std::vector<std::uint8_t> bytes;
    bytes.reserve(2 + entry.upstream.size() + packet.size());
    bytes.push_back(entry.id);
    bytes.push_back(static_cast<std::uint8_t>(entry.upstream.size()));
    bytes.insert(bytes.end(), entry.upstream.begin(), entry.upstream.end());
    bytes.insert(bytes.end(), packet.begin(), packet.end());
    return bytes;
}

void SchedulingWindow::refuse(::tlm::tlm_generic_payload& payload, const std::string& message) {
    registry_.add_error(*this, message);
    payload.set_response_status(::tlm::TLM_GENERIC_ERROR_RESPONSE);
}

void SchedulingWindow::take_entry(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    if (payload.get_command() != ::tlm::TLM_WRITE_COMMAND || payload.get_byte_enable_ptr() != nullptr)
        return payload.set_response_status(::tlm::TLM_COMMAND_ERROR_RESPONSE);
    if (payload.get_address() != 0) return payload.set_response_status(::tlm::TLM_ADDRESS_ERROR_RESPONSE);
    const unsigned char* data = payload.get_data_ptr();
    const unsigned length = payload.get_data_length();
    if (length < 2 || length < 2U + data[1])
        return refuse(payload, fmt::format("expected an entry of {} bytes with its upstream ids, found {}",
                                           length < 2 ? 2U : 2U + data[1], length));
    if (data[0] != next_) return refuse(payload, fmt::format("expected entry {}, found {}", next_, data[0]));
    Entry entry;
    entry.window.id = data[0];
    entry.window.upstream.assign(data + 2, data + 2 + data[1]);
    entry.packet.assign(data + 2 + data[1], data + length);
    ++next_;

    wait(delay);
    delay = sc_core::SC_ZERO_TIME;
    while (queue_.size() >= config_.queue_entries) wait(place_);
    queue_.push_back(std::move(entry));
    work_.notify(sc_core::SC_ZERO_TIME);
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
}

void SchedulingWindow::take_completion(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    if (payload.get_command() != ::tlm::TLM_WRITE_COMMAND)
        return payload.set_response_status(::tlm::TLM_COMMAND_ERROR_RESPONSE);
    const auto found =
        payload.get_address() <= 0xFF ? inside_.find(static_cast<KernelId>(payload.get_address())) : inside_.end();
    if (found == inside_.end() || !found->second.executing)
        return refuse(payload, fmt::format("expected the completion of a kernel that executes, found that of kernel {}",
                                           payload.get_address()));
    found->second.executing = false;
    wait(delay);
    delay = sc_core::SC_ZERO_TIME;
    done_.push_back(found->first);
    work_.notify(sc_core::SC_ZERO_TIME);
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
}

void SchedulingWindow::wait_for_work() {
    wait(work_);
    // To the next edge of the clock.
    const sc_core::sc_time now = sc_core::sc_time_stamp();
    wait(clock_.cycles(clock_.count(now)) - now);
}

void SchedulingWindow::run() {
    try {
        for (;;) {
            cycle();
            const WindowOutputs after = core_->settle({});
            const bool can_insert = !queue_.empty() && after.entry_ready;
            const bool can_dispatch = after.dispatch_valid;
            if (after.settled && done_.empty() && !can_insert && !can_dispatch) {
                const sc_core::sc_time begin = sc_core::sc_time_stamp();
                const bool entry_waits = !queue_.empty();
                wait_for_work();
                // The cycles in which it stood still with an entry before it.
                if (entry_waits) {
                    const std::uint64_t cycles = clock_.count(sc_core::sc_time_stamp() - begin);
                    (inside_.size() == config_.slots ? stats_.full_cycles : stats_.blocked_cycles) += cycles;
                }
            } else {
                wait(clock_.cycles(1));
            }
        }
    } catch (const RtlFault& fault) {
        throw ModelError(*this, fault.what());
    }
}

void SchedulingWindow::cycle() {
    WindowInputs in;
    in.complete_valid = !done_.empty();
    if (in.complete_valid) in.complete_id = done_.front();
    in.entry_valid = !queue_.empty();
    if (in.entry_valid) {
        in.entry_id = queue_.front().window.id;
        in.entry_count = static_cast<std::uint8_t>(queue_.front().window.upstream.size());
    }
    in.upstream_valid = !upstream_.empty();
    if (in.upstream_valid) in.upstream_id = upstream_.front();
    in.dispatch_ready = true;
    const WindowOutputs out = core_->settle(in);
    core_->clock();
    ++stats_.cycles;
    const bool moves = (in.upstream_valid && out.upstream_ready) || out.dispatch_valid ||
                       (in.complete_valid && out.complete_ready) || (in.entry_valid && out.entry_ready);
    unmoved_cycles_ = moves ? 0 : unmoved_cycles_ + 1;
    if (unmoved_cycles_ > kWindowPatience)
        fault(fmt::format("settled: nothing has come in or gone out for {} cycles: {}", kWindowPatience, text_of(out)));

    if (in.upstream_valid && out.upstream_ready) upstream_.pop_front();
    if (in.dispatch_ready && out.dispatch_valid) {
        const auto found = inside_.find(out.dispatch_id);
        if (found == inside_.end()) fault(fmt::format("dispatch_id: {} is no kernel in the window", out.dispatch_id));
        if (found->second.executing || found->second.dispatched)
            fault(fmt::format("dispatch_id: kernel {} is dispatched again", out.dispatch_id));
        if (!found->second.waits_for.empty())
            fault(fmt::format("dispatch_id: kernel {} is dispatched before kernel {}, which it waits for, has ended",
                              out.dispatch_id, *found->second.waits_for.begin()));
        found->second.executing = found->second.dispatched = true;
        dispatched_.push(out.dispatch_id, nanoseconds(config_.dispatch_ns, "dispatch_ns"));
        ++stats_.dispatched;
    }
    if (in.complete_valid && out.complete_ready) {
        inside_.erase(in.complete_id);
        for (auto& [id, kernel] : inside_) kernel.waits_for.erase(in.complete_id);
        done_.pop_front();
        ++stats_.completed;
    }
    if (in.entry_valid && out.entry_ready) {
        if (inside_.size() == config_.slots) fault("entry_ready: the window is full");
        if (!upstream_.empty()) fault("entry_ready: the upstream ids of the entry before have not come in");
        Entry entry = std::move(queue_.front());
        queue_.pop_front();
        place_.notify(sc_core::SC_ZERO_TIME);
        upstream_.assign(entry.window.upstream.begin(), entry.window.upstream.end());
        stats_.upstream_ids += upstream_.size();
        const KernelId id = entry.window.id;
        Kernel kernel{std::move(entry), false, false, {}};
        for (const KernelId from : kernel.entry.window.upstream)
            if (inside_.count(from) != 0) kernel.waits_for.insert(from);
        if (!inside_.emplace(id, std::move(kernel)).second)
            fault(fmt::format("entry_ready: kernel {} is in the window already", id));
        ++stats_.inserted;
        stats_.max_kernels = std::max<std::uint64_t>(stats_.max_kernels, inside_.size());
    } else if (in.entry_valid && out.complete_ready && !in.complete_valid) {
        ++(inside_.size() == config_.slots ? stats_.full_cycles : stats_.blocked_cycles);
    }
}

void SchedulingWindow::fault(const std::string& message) {
    throw RtlFault(message + core_->evidence());
}

void SchedulingWindow::dispatch() {
    ::tlm::tlm_generic_payload payload;
    for (;;) {
        KernelId id = 0;
        while (!dispatched_.pop_due(id)) wait(dispatched_.event());
        std::vector<std::uint8_t> packet = inside_.at(id).entry.packet;
        sc_core::sc_time delay;
        payload.set_command(::tlm::TLM_WRITE_COMMAND);
        payload.set_address(id);
        payload.set_data_ptr(packet.data());
        payload.set_data_length(static_cast<unsigned>(packet.size()));
        payload.set_streaming_width(static_cast<unsigned>(packet.size()));
        payload.set_byte_enable_ptr(nullptr);
        payload.set_dmi_allowed(false);
        payload.set_response_status(::tlm::TLM_INCOMPLETE_RESPONSE);
        kernels->b_transport(payload, delay);
        wait(delay);
        if (payload.is_response_error())
            throw registry_.failure(*this, fmt::format("kernel {}: expected the CTA scheduler to take it, found {}", id,
                                                       payload.get_response_string()));
        wait(nanoseconds(config_.interval_ns, "interval_ns"));
    }
}

std::string SchedulingWindow::stall() const {
    if (idle()) return "";
    std::vector<std::string> executing, waiting;
    for (const auto& [id, kernel] : inside_) {
        if (kernel.executing) {
            executing.push_back(std::to_string(id));
            continue;
        }
        std::vector<std::string> upstream;
        for (const KernelId from : kernel.entry.window.upstream)
            if (inside_.count(from) != 0) upstream.push_back(std::to_string(from));
        waiting.push_back(
            fmt::format("{} ({})", id, upstream.empty() ? "ready" : fmt::format("{}", fmt::join(upstream, " "))));
    }
    return fmt::format("completions of kernels {}; in the window wait {}; in front of it {}",
                       executing.empty() ? "none" : fmt::format("{}", fmt::join(executing, " ")),
                       waiting.empty() ? "none" : fmt::format("{}", fmt::join(waiting, ", ")), queue_.size());
}

}  // namespace switchyard::hw
