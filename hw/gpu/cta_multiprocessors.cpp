// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/gpu/cta_multiprocessors.h"
#include "switchyard/tlm/has_process.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "switchyard/sw_scheduler/base/whole_time.h"
#include "switchyard/tlm/simulated_time.h"

namespace switchyard::hw {

namespace {

constexpr double kDone = 1e-9;  ///< what rounding leaves of a batch's way

double now_in_ns() {
    return sc_core::sc_time_stamp() / sc_core::sc_time(1, sc_core::SC_NS);
}

}  // namespace

CtaMultiprocessors::CtaMultiprocessors(const sc_core::sc_module_name& module_name, const MultiprocessorConfig& config,
                                       const GpuMemoryConfig& memory, SimulationRegistry& registry)
    : Multiprocessors(module_name, config, memory, registry), new_mix_(config.count, false), changed_("changed") {
    SWITCHYARD_HAS_PROCESS(CtaMultiprocessors);
    SC_THREAD(run);
}

std::size_t CtaMultiprocessors::kernel_of(const std::shared_ptr<const KernelLaunch>& launch) {
    const std::size_t slot = slot_of(kernels_, launch);
    if (kernels_[slot].launch == launch) return slot;
    // Its first CTAs: what it reads and writes goes through the L2 now.
    const double warps = launch->packet.warps_per_cta();
    kernels_[slot] = {
        launch, cta_cost(config_, memory_, launch->packet, traffic_of(*launch)), launch->packet.ctas(), warps, 1, 1};
    return slot;
}

CtaMultiprocessors::Group& CtaMultiprocessors::group_of(std::size_t kernel, unsigned multiprocessor) {
    auto group = std::lower_bound(groups_.begin(), groups_.end(), multiprocessor,
                                  [](const Group& a, unsigned m) { return a.multiprocessor < m; });
    for (; group != groups_.end() && group->multiprocessor == multiprocessor; ++group)
        if (group->kernel == kernel) return *group;
    Group fresh;
    fresh.kernel = kernel;
    fresh.multiprocessor = multiprocessor;
    return *groups_.insert(group, std::move(fresh));
}

void CtaMultiprocessors::start(std::shared_ptr<const KernelLaunch> kernel, unsigned multiprocessor,
                               std::uint32_t count) {
    move_on();
    const std::size_t index = kernel_of(kernel);
    const CtaCost& cost = kernels_[index].cost;
    stats_.compute_ns += count * cost.compute_ns;
    stats_.l2_bytes += count * cost.l2_bytes;
    stats_.memory_bytes += count * cost.memory_bytes;
    Group& group = group_of(index, multiprocessor);
    group.ctas += count;
    group.batches.push_back({group.way + 1, count});
    new_mix_[multiprocessor] = true;
    stale_ = true;
    changed_.notify(sc_core::SC_ZERO_TIME);
}

void CtaMultiprocessors::move_on() {
    const double now = now_in_ns(), passed = now - now_ns_;
    now_ns_ = now;
    if (passed <= 0) return;
    unsigned last = std::numeric_limits<unsigned>::max();
    for (Group& group : groups_) {
        group.way += group.rate * passed;
        stats_.warp_ns += passed * group.ctas * kernels_[group.kernel].warps_of_cta;
        if (group.multiprocessor != last) stats_.busy_ns += passed;
        last = group.multiprocessor;
    }
}

void CtaMultiprocessors::run() {
    while (true) {
        finish_batches();
        if (stale_) allot_rates();
        double next = std::numeric_limits<double>::infinity();
        for (const Group& group : groups_) next = std::min(next, (group.batches.front().end - group.way) / group.rate);
        if (groups_.empty()) {
            wait(changed_);
        } else {
            // At least one unit of the time resolution, so that rounding does not hold time still.
            const std::uint64_t ticks = whole_time(next * ticks_per_ns(), "ticks", "a kernel's CTAs", WholeTime::up);
            wait(sc_core::sc_time::from_value(std::max<std::uint64_t>(1, ticks)), changed_);
        }
        move_on();
    }
}

void CtaMultiprocessors::finish_batches() {
    struct Done {
        std::shared_ptr<const KernelLaunch> launch;
        unsigned multiprocessor;
        std::uint32_t ctas;
    };
    std::vector<Done> done;
    for (Group& group : groups_) {
        auto batch = group.batches.begin();
        for (; batch != group.batches.end() && batch->end - group.way <= kDone; ++batch) {
            done.push_back({kernels_[group.kernel].launch, group.multiprocessor, batch->ctas});
            group.ctas -= batch->ctas;
            kernels_[group.kernel].unfinished_ctas -= batch->ctas;
            new_mix_[group.multiprocessor] = true;
        }
        group.batches.erase(group.batches.begin(), batch);
    }
    if (done.empty()) return;
    const auto is_empty = [](const Group& group) { return group.batches.empty(); };
    groups_.erase(std::remove_if(groups_.begin(), groups_.end(), is_empty), groups_.end());
    for (Kernel& kernel : kernels_)
        if (kernel.unfinished_ctas == 0) kernel.launch.reset();
    stale_ = true;
    for (const Done& batch : done) finish(batch.launch, batch.multiprocessor, batch.ctas);
}

void CtaMultiprocessors::allot_rates() {
    stale_ = false;
    share_multiprocessors(false);
    share_globally();
    // What kernels that wait for memory leave of their multiprocessors goes to the others.
    bool memory_bound = false;
    for (const Kernel& kernel : kernels_)
        memory_bound |= kernel.launch && (kernel.l2_grant < 1 || kernel.memory_grant < 1);
    if (!memory_bound) return;
    share_multiprocessors(true);
    share_globally();
}

void CtaMultiprocessors::share_multiprocessors(bool again) {
    for (std::size_t begin = 0, end = 0; begin < groups_.size(); begin = end) {
        const unsigned multiprocessor = groups_[begin].multiprocessor;
        while (end < groups_.size() && groups_[end].multiprocessor == multiprocessor) ++end;
        if (again && end - begin == 1) continue;  // nobody takes what it leaves
        if (!again && !new_mix_[multiprocessor]) {
            for (std::size_t i = begin; i < end; ++i) groups_[i].rate = groups_[i].own_rate;
            continue;
        }
        for (std::size_t i = begin; i < end; ++i) {
            Group& group = groups_[i];
            const Kernel& kernel = kernels_[group.kernel];
            const bool limited = again && (kernel.l2_grant < 1 || kernel.memory_grant < 1);
            if (!limited) group.rate = rate_alone(group);
        }
        const auto share = [&](double per_ns, double CtaCost::*need) {
            users_.clear();
            for (std::size_t i = begin; i < end; ++i) {
                const Group& group = groups_[i];
                users_.push_back({static_cast<double>(group.ctas),
                                  group.rate * group.ctas * (kernels_[group.kernel].cost.*need), 0});
            }
            share_fairly(per_ns, users_);
            for (std::size_t i = begin; i < end; ++i) {
                const ShareDemand& user = users_[i - begin];
                if (user.granted < user.demand) groups_[i].rate *= user.granted / user.demand;
            }
        };
        share(1, &CtaCost::compute_ns);
        share(config_.l2_port_bytes_per_cycle * config_.clock_ghz, &CtaCost::l2_bytes);
        if (again) continue;
        for (std::size_t i = begin; i < end; ++i) groups_[i].own_rate = groups_[i].rate;
        new_mix_[multiprocessor] = false;
    }
}

void CtaMultiprocessors::share_globally() {
    flows_.assign(kernels_.size(), Flow{});  // those without CTAs want nothing
    for (const Group& group : groups_) {
        flows_[group.kernel].ctas += group.ctas;
        flows_[group.kernel].ctas_per_ns += group.rate * group.ctas;
    }
    bool limited = false;
    const auto share = [&](double per_ns, double CtaCost::*need, double Kernel::*grant) {
        users_.clear();
        for (std::size_t i = 0; i < kernels_.size(); ++i)
            users_.push_back({flows_[i].ctas, flows_[i].ctas_per_ns * (kernels_[i].cost.*need), 0});
        share_fairly(per_ns, users_);
        for (std::size_t i = 0; i < kernels_.size(); ++i) {
            const bool less = users_[i].granted < users_[i].demand;
            kernels_[i].*grant = less ? users_[i].granted / users_[i].demand : 1;
            flows_[i].ctas_per_ns *= kernels_[i].*grant;
            limited |= less;
        }
    };
    share(memory_.l2_gb_per_s(config_.clock_ghz), &CtaCost::l2_bytes, &Kernel::l2_grant);
    share(memory_.kernels_gb_per_s(), &CtaCost::memory_bytes, &Kernel::memory_grant);
    if (!limited) return;
    for (Group& group : groups_) {
        const Kernel& kernel = kernels_[group.kernel];
        group.rate *= kernel.l2_grant * kernel.memory_grant;
    }
}

}  // namespace switchyard::hw
