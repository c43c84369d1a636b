// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/gpu/cta_multiprocessors.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace switchyard::hw {

namespace {

constexpr double kDone = 1e-9;  ///< what rounding leaves of a batch's way

double now_in_ns() {
    return sc_core::sc_time_stamp() / sc_core::sc_time(1, sc_core::SC_NS);
}

}  // namespace

CtaMultiprocessors::CtaMultiprocessors(const sc_core::sc_module_name& module_name, const MultiprocessorConfig& config,
                                       const GpuMemoryConfig& memory, SimulationRegistry& registry)
    : Multiprocessors(module_name, config, memory, registry), changed_("changed") {
    SC_HAS_PROCESS(CtaMultiprocessors);
    SC_THREAD(run);
}

std::size_t CtaMultiprocessors::kernel_of(const std::shared_ptr<const KernelLaunch>& launch) {
    std::size_t free = kernels_.size();
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
        if (kernels_[i].launch == launch) return i;
        if (kernels_[i].launch == nullptr && free == kernels_.size()) free = i;
    }
    if (free == kernels_.size()) kernels_.emplace_back();
    // Its first CTAs: what it reads and writes goes through the L2 now.
    kernels_[free] = {launch, cta_cost(config_, memory_, launch->packet, traffic_of(*launch)), launch->packet.ctas(), 1,
                      1};
    return free;
}

void CtaMultiprocessors::start(std::shared_ptr<const KernelLaunch> kernel, unsigned multiprocessor,
                               std::uint32_t count) {
    move_on();
    const std::size_t index = kernel_of(kernel);
    const CtaCost& cost = kernels_[index].cost;
    stats_.compute_ns += count * cost.compute_ns;
    stats_.l2_bytes += count * cost.l2_bytes;
    stats_.memory_bytes += count * cost.memory_bytes;
    const auto behind = std::upper_bound(batches_.begin(), batches_.end(), multiprocessor,
                                         [](unsigned m, const Batch& batch) { return m < batch.multiprocessor; });
    batches_.insert(behind, Batch{index, multiprocessor, count, 1, 0});
    stale_ = true;
    changed_.notify(sc_core::SC_ZERO_TIME);
}

void CtaMultiprocessors::move_on() {
    const double now = now_in_ns(), passed = now - now_ns_;
    now_ns_ = now;
    if (passed <= 0) return;
    unsigned last = std::numeric_limits<unsigned>::max();
    for (Batch& batch : batches_) {
        batch.left -= batch.rate * passed;
        stats_.warp_ns += passed * batch.ctas * kernels_[batch.kernel].launch->packet.warps_per_cta();
        if (batch.multiprocessor != last) stats_.busy_ns += passed;
        last = batch.multiprocessor;
    }
}

void CtaMultiprocessors::run() {
    while (true) {
        finish_batches();
        if (stale_) allot_rates();
        double next = std::numeric_limits<double>::infinity();
        for (const Batch& batch : batches_) next = std::min(next, batch.left / batch.rate);
        if (batches_.empty()) {
            wait(changed_);
        } else {
            // At least one unit of the time resolution, so that rounding does not hold time still.
            const double ticks =
                std::max(1.0, std::ceil(next * static_cast<double>(sc_core::sc_time(1, sc_core::SC_NS).value())));
            wait(sc_core::sc_time::from_value(static_cast<sc_dt::uint64>(ticks)), changed_);
        }
        move_on();
    }
}

void CtaMultiprocessors::finish_batches() {
    std::vector<std::pair<std::shared_ptr<const KernelLaunch>, Batch>> done;
    const auto is_done = [](const Batch& batch) { return batch.left <= kDone; };
    for (const Batch& batch : batches_)
        if (is_done(batch)) done.emplace_back(kernels_[batch.kernel].launch, batch);
    if (done.empty()) return;
    batches_.erase(std::remove_if(batches_.begin(), batches_.end(), is_done), batches_.end());
    for (const auto& [launch, batch] : done) {
        Kernel& kernel = kernels_[batch.kernel];
        kernel.unfinished_ctas -= batch.ctas;
        if (kernel.unfinished_ctas == 0) kernel.launch.reset();
    }
    stale_ = true;
    for (const auto& [launch, batch] : done) finish(launch, batch.multiprocessor, batch.ctas);
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
    for (std::size_t begin = 0, end = 0; begin < batches_.size(); begin = end) {
        while (end < batches_.size() && batches_[end].multiprocessor == batches_[begin].multiprocessor) ++end;
        for (std::size_t i = begin; i < end; ++i) {
            Batch& batch = batches_[i];
            const Kernel& kernel = kernels_[batch.kernel];
            const bool limited = again && (kernel.l2_grant < 1 || kernel.memory_grant < 1);
            if (!limited) batch.rate = rate_alone(batch);
        }
        const auto share = [&](double per_ns, double CtaCost::*need) {
            users_.clear();
            for (std::size_t i = begin; i < end; ++i) {
                const Batch& batch = batches_[i];
                users_.push_back({static_cast<double>(batch.ctas),
                                  batch.rate * batch.ctas * (kernels_[batch.kernel].cost.*need), 0});
            }
            share_fairly(per_ns, users_);
            for (std::size_t i = begin; i < end; ++i) {
                const ShareDemand& user = users_[i - begin];
                if (user.granted < user.demand) batches_[i].rate *= user.granted / user.demand;
            }
        };
        share(1, &CtaCost::compute_ns);
        share(config_.l2_port_bytes_per_cycle * config_.clock_ghz, &CtaCost::l2_bytes);
    }
}

void CtaMultiprocessors::share_globally() {
    const auto share = [&](double per_ns, double CtaCost::*need, double Kernel::*grant) {
        users_.assign(kernels_.size(), ShareDemand{0, 0, 0});  // those without CTAs want nothing
        for (const Batch& batch : batches_) {
            users_[batch.kernel].weight += batch.ctas;
            users_[batch.kernel].demand += batch.rate * batch.ctas * (kernels_[batch.kernel].cost.*need);
        }
        share_fairly(per_ns, users_);
        for (std::size_t i = 0; i < kernels_.size(); ++i)
            kernels_[i].*grant = users_[i].granted < users_[i].demand ? users_[i].granted / users_[i].demand : 1;
        for (Batch& batch : batches_) batch.rate *= kernels_[batch.kernel].*grant;
    };
    share(memory_.l2_gb_per_s(config_.clock_ghz), &CtaCost::l2_bytes, &Kernel::l2_grant);
    share(memory_.kernels_gb_per_s(), &CtaCost::memory_bytes, &Kernel::memory_grant);
}

}  // namespace switchyard::hw
