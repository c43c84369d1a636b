// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "switchyard/hw/scheduling_window/window_core.h"
#include "switchyard/sw_scheduler/base/random_source.h"

namespace switchyard::test {

/// Kernels through the ports of a scheduling window, with a record of who may start. One object a window.
class WindowTraffic {
public:
    struct Rates {
        double entry = 0.5, upstream = 0.8, dispatch = 0.5, complete = 0.1, depends = 0.2;
        double stays = 0;  ///< of the kernels that execute only the last one may complete, unless nothing else moves
    };

    WindowTraffic(const hw::WindowShape& shape, std::uint64_t seed) : shape_(shape), random_(seed, 77) {}
    WindowTraffic(const hw::WindowShape& shape, std::uint64_t seed, const Rates& rates) : WindowTraffic(shape, seed) {
        rates_ = rates;
    }

    /// Lists of a stream instead of random ones: the entries of a host's scheduled_list.
    void play(std::vector<sched::ace::WindowEntry> entries) {
        entries_ = std::move(entries);
        recorded_ = true;
    }
    bool finished() const { return recorded_ && next_ == entries_.size() && inside_.empty(); }

    /// The inputs of the next cycle.
    hw::WindowInputs inputs() {
        hw::WindowInputs in;
        in.dispatch_ready = random_.chance(rates_.dispatch);
        if (!offered_ && random_.chance(rates_.entry)) offer();
        in.entry_valid = offered_;
        in.entry_id = entry_.id;
        in.entry_count = static_cast<std::uint8_t>(entry_.upstream.size());
        in.upstream_valid = !upstream_.empty() && random_.chance(rates_.upstream);
        if (!upstream_.empty()) in.upstream_id = upstream_.front();
        if (!completes_ && !executing_.empty() && random_.chance(rates_.complete)) complete();
        in.complete_valid = completes_;
        in.complete_id = complete_id_;
        return in;
    }

    /// What became of them: "" or the rule that was broken.
    std::string observe(const hw::WindowInputs& in, const hw::WindowOutputs& out) {
        if (out.dispatch_valid) {
            const auto kernel = inside_.find(out.dispatch_id);
            if (kernel == inside_.end()) return "a kernel is dispatched that did not come in";
            if (!kernel->second.empty()) return "a kernel is dispatched before its upstream kernels have completed";
            if (executes(out.dispatch_id)) return "a kernel is dispatched twice";
            // The one whose list comes in is not offered.
            if (loading_ > 0 && newest_ == out.dispatch_id) return "a kernel is dispatched before its list is in";
        }
        if (out.empty != inside_.empty()) return "empty is wrong";
        if (in.upstream_valid && out.upstream_ready) {
            if (inside_.count(in.upstream_id) != 0) inside_.at(newest_).insert(in.upstream_id);
            upstream_.pop_front();
            --loading_;
        }
        if (in.dispatch_ready && out.dispatch_valid) {
            executing_.push_back(out.dispatch_id);
            ++dispatched_;
        }
        if (in.complete_valid && out.complete_ready) {
            completes_ = false;
            executing_.erase(std::find(executing_.begin(), executing_.end(), in.complete_id));
            inside_.erase(in.complete_id);
            for (auto& [id, waits] : inside_) waits.erase(in.complete_id);
            ++operations_;
        }
        if (in.entry_valid && out.entry_ready) {
            if (in.complete_valid) return "an entry comes before a completion";
            for (const auto& [id, waits] : inside_)
                if (static_cast<std::uint8_t>(entry_.id - id) > shape_.scheduled_kernels)
                    return "a kernel comes in while one executes that the host's list has lost";
            newest_ = entry_.id;
            inside_[newest_] = {};
            loading_ = entry_.upstream.size();
            offered_ = false;
            ++operations_;
        }
        // Nobody comes in, starts or ends for so long only if something is wrong.
        still_ = (in.entry_valid && out.entry_ready) || (in.dispatch_ready && out.dispatch_valid) ||
                         (in.complete_valid && out.complete_ready) || (in.upstream_valid && out.upstream_ready)
                     ? 0
                     : still_ + 1;
        return still_ > 2000 + 20 * shape_.slots ? "nothing moves" : "";
    }

    std::uint64_t operations() const { return operations_; }
    std::uint64_t dispatched() const { return dispatched_; }

private:
    bool executes(sched::ace::KernelId id) const {
        return std::find(executing_.begin(), executing_.end(), id) != executing_.end();
    }
    void complete() {
        const bool stays = rates_.stays > 0 && random_.chance(rates_.stays) && still_ < kStayCycles;
        if (stays && executing_.size() == 1) return;
        const auto last = static_cast<unsigned>(executing_.size()) - 1;
        completes_ = true;
        complete_id_ = executing_[stays ? last : random_.integer(0, last)];
    }
    void offer() {
        if (recorded_) {
            if (next_ == entries_.size()) return;
            entry_ = entries_[next_++];
        } else {
            // Any of the last M kernels: those that have completed are stale.
            const std::uint64_t listed = std::min<std::uint64_t>(next_, shape_.scheduled_kernels);
            entry_ = {static_cast<sched::ace::KernelId>(next_), {}};
            for (std::uint64_t k = listed; k >= 1; --k)
                if (random_.chance(rates_.depends)) entry_.upstream.push_back(static_cast<std::uint8_t>(next_ - k));
            ++next_;
        }
        offered_ = true;
        // The ids may be there before the entry is taken.
        upstream_.insert(upstream_.end(), entry_.upstream.begin(), entry_.upstream.end());
    }

    static constexpr std::uint64_t kStayCycles = 300;

    hw::WindowShape shape_;
    RandomSource random_;
    Rates rates_;
    std::vector<sched::ace::WindowEntry> entries_;
    bool recorded_ = false;
    std::uint64_t next_ = 0, operations_ = 0, dispatched_ = 0, still_ = 0;
    sched::ace::WindowEntry entry_;
    bool offered_ = false, completes_ = false;
    sched::ace::KernelId complete_id_ = 0, newest_ = 0;
    std::deque<sched::ace::KernelId> upstream_;  ///< of the one that comes in, then of the one that is offered
    std::size_t loading_ = 0;                    ///< ids that are still to come of the newest
    std::map<sched::ace::KernelId, std::set<sched::ace::KernelId>> inside_;  ///< with those that it waits for
    std::vector<sched::ace::KernelId> executing_;
};

/// Busy, with lists that block; idle; completions that come at once; a full window; kernels that stay while as many as
/// the host's list has come and go; lists of all ids that there are.
inline const std::vector<WindowTraffic::Rates> kWindowRates{
    {0.9, 0.9, 0.9, 0.05, 0.3},  {0.02, 0.5, 0.3, 0.02, 0.1},        {0.7, 1.0, 0.9, 0.9, 0.6},
    {0.9, 1.0, 0.03, 0.5, 0.05}, {0.9, 1.0, 0.9, 0.9, 0.01, 0.9998}, {0.9, 1.0, 0.1, 0.9, 0.01, 0.9995},
    {0.9, 1.0, 0.9, 0.9, 1.0}};

/// Runs `window` until `operations` kernels have come in or completed, or a recorded stream is through: "" or what went
/// wrong.
inline std::string run_traffic(hw::WindowCore& window, WindowTraffic& traffic, std::uint64_t operations) {
    while (traffic.operations() < operations && !traffic.finished()) {
        const hw::WindowInputs in = traffic.inputs();
        const std::string broken = traffic.observe(in, window.settle(in));
        if (!broken.empty()) return broken;
        window.clock();
    }
    return "";
}

}  // namespace switchyard::test
