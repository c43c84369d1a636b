// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/m_tenant/tenant_batch.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "switchyard/sw_scheduler/adyna/compiler/allocation.h"

namespace switchyard::platform {

namespace {

unsigned power_of_two_below(unsigned value) {
    unsigned power = 1;
    while (2 * power <= value) power *= 2;
    return power;
}

void round_to_powers(std::vector<unsigned>& shares, const std::vector<double>& work, unsigned tiles) {
    unsigned left = tiles;
    for (unsigned& share : shares) {
        if (share > 0) share = power_of_two_below(share);
        left -= share;
    }
    for (;;) {
        std::size_t best = shares.size();
        for (std::size_t i = 0; i < shares.size(); ++i) {
            if (shares[i] == 0 || shares[i] > left) continue;
            if (best == shares.size() || work[i] / shares[i] > work[best] / shares[best]) best = i;
        }
        if (best == shares.size()) return;
        left -= shares[best];
        shares[best] *= 2;
    }
}

}  // namespace

std::vector<unsigned> share_tiles(const TenantConfig& config, unsigned tiles, const std::vector<double>& work) {
    std::vector<std::size_t> order(work.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return work[a] > work[b]; });
    order.resize(std::min<std::size_t>(order.size(), tiles));
    std::sort(order.begin(), order.end());
    std::vector<double> running;
    running.reserve(order.size());
    for (const std::size_t i : order) running.push_back(config.shares == "inverse" ? 1 / work[i] : work[i]);
    std::vector<unsigned> given = sched::allocate_proportional(tiles, running);
    if (config.groups == "power_of_two") round_to_powers(given, running, tiles);
    std::vector<unsigned> shares(work.size(), 0);
    for (std::size_t i = 0; i < order.size(); ++i) shares[order[i]] = given[i];
    return shares;
}

TenantChip::TenantChip(const sched::DynGraph& graph, const sched::HardwareDescription& hardware,
                       const TenantConfig& config)
    : graph_(graph), config_(config), kernels_(graph, hardware, config.exact_kernels), readers_(graph) {}

/// One batch, event by event.
class TenantChip::Run {
public:
    Run(TenantChip& chip, const BatchRouting& routing)
        : chip_(chip),
          graph_(chip.graph_),
          hardware_(chip.kernels_.hardware()),
          order_(chip.readers_, routing, chip.config_,
                 chip.config_.host_synchronisation_us * 1e3 * chip.kernels_.hardware().clock_ghz) {
        access_cycles_ = chip.kernels_.access_cycles();
        result_.operator_cycles.assign(graph_.operators.size(), 0);
        result_.operator_tiles.assign(graph_.operators.size(), 0);
    }

    TenantBatch run() {
        announce(order_.begin());
        while (!events_.empty() || !running_.empty()) {
            const double next = next_event();
            if (running_.empty()) result_.idle_cycles += next - now_;
            advance(next);
            handle_events();
            share_out();
        }
        result_.cycles = now_;
        result_.synchronisations = order_.synchronisations();
        return std::move(result_);
    }

private:
    static constexpr double kNever = std::numeric_limits<double>::infinity();

    struct Task {
        int op = 0;
        double remaining = 1;  ///< share of the operator's work
        unsigned tiles = 0;
        const TenantKernel* kernel = nullptr;
        double cycles = kNever;  ///< of the whole operator at the present tiles
        double begin = 0;
        double input_share = 1;  ///< as of TenantKernels::best()
    };
    /// An operator's result is complete, or its operands are there.
    struct Event {
        double cycle = 0;
        bool arrival = false;
        int op = 0;
        bool operator<(const Event& o) const {
            return std::tie(cycle, arrival, op) < std::tie(o.cycle, o.arrival, o.op);
        }
    };

    const sched::Operator& at(int op) const { return graph_.operators[static_cast<std::size_t>(op)]; }
    std::uint32_t count(int op) const { return order_.count(op); }
    void announce(const std::vector<TenantOrder::Ready>& list) {
        for (const TenantOrder::Ready& ready : list)
            events_.insert({ready.cycle + (ready.is_task ? access_cycles_ : 0), ready.is_task, ready.op});
    }

    void complete(int op) {
        result_.operator_cycles[static_cast<std::size_t>(op)] = now_ - order_.ready_cycle(op);
        announce(order_.complete(op, now_));
    }

    double next_event() const {
        double next = events_.empty() ? kNever : events_.begin()->cycle;
        for (const Task& task : running_) next = std::min(next, now_ + task.remaining * task.cycles);
        return next;
    }

    /// All tasks run on until then; those that end make an event.
    void advance(double until) {
        const double cycles = until - now_;
        now_ = until;
        std::vector<Task> still;
        for (Task& task : running_) {
            if (task.tiles > 0) work(task, cycles);
            if (task.remaining > 0) {
                still.push_back(task);
                continue;
            }
            const auto id = static_cast<std::size_t>(task.op);
            result_.operator_tiles[id] /= now_ - task.begin;
            events_.insert({now_ + access_cycles_, false, task.op});
        }
        running_ = std::move(still);
    }

    void work(Task& task, double cycles) {
        constexpr double kRounding = 1e-9;  // of the operator: what is left when sums of shares should be one
        double share = std::min(task.remaining, cycles / task.cycles);
        if (task.remaining - share < kRounding) share = task.remaining;
        task.remaining -= share;
        result_.bytes.add(task.kernel->bytes, share);
        const auto id = static_cast<std::size_t>(task.op);
        const double samples = count(task.op);
        result_.macs += share * samples * static_cast<double>(at(task.op).macs_per_sample);
        if (sched::is_vector(at(task.op).shape.kind))
            result_.vector_elements += share * samples * chip_.kernels_.elements_per_sample(task.op);
        result_.tile_cycles += task.tiles * cycles;
        result_.operator_tiles[id] += task.tiles * cycles;
    }

    void handle_events() {
        while (!events_.empty() && events_.begin()->cycle <= now_) {
            const Event event = *events_.begin();
            events_.erase(events_.begin());
            if (event.arrival) {
                Task task;
                task.op = event.op;
                task.begin = now_;
                task.input_share = order_.input_share(event.op);
                result_.min_read_bytes +=
                    chip_.kernels_.min_read_bytes_per_sample(event.op) * count(event.op) * task.input_share +
                    static_cast<double>(at(event.op).weight_bytes);
                running_.push_back(task);
            } else {
                complete(event.op);
            }
        }
    }

    void share_out() {
        std::sort(running_.begin(), running_.end(), [](const Task& a, const Task& b) { return a.op < b.op; });
        std::vector<double> work;
        work.reserve(running_.size());
        for (const Task& task : running_)
            work.push_back(task.remaining * chip_.kernels_.min_cycles(task.op, count(task.op), task.input_share));
        const std::vector<unsigned> shares = share_tiles(chip_.config_, hardware_.tiles(), work);
        const unsigned busy = std::accumulate(shares.begin(), shares.end(), 0u);
        double bytes_per_cycle = 0;
        for (std::size_t i = 0; i < running_.size(); ++i) {
            Task& task = running_[i];
            task.tiles = shares[i];
            task.cycles = kNever;
            if (task.tiles == 0) continue;
            task.kernel = &chip_.kernels_.kernel(task.op, count(task.op), task.tiles, task.input_share);
            const double bandwidth = hardware_.memory_bytes_per_cycle() * task.tiles / busy;
            task.cycles = task.kernel->cycles_at(bandwidth);
            bytes_per_cycle += task.kernel->hbm_bytes() / task.cycles;
        }
        result_.max_tiles = std::max(result_.max_tiles, busy);
        result_.max_bytes_per_cycle = std::max(result_.max_bytes_per_cycle, bytes_per_cycle);
    }

    TenantChip& chip_;
    const sched::DynGraph& graph_;
    const sched::HardwareDescription& hardware_;
    TenantOrder order_;
    double access_cycles_ = 0;  ///< from the request to the first byte, or from the last byte until it is written
    std::set<Event> events_;
    std::vector<Task> running_;
    double now_ = 0;
    TenantBatch result_;
};

TenantBatch TenantChip::run(const BatchRouting& routing) {
    return Run(*this, routing).run();
}

}  // namespace switchyard::platform
