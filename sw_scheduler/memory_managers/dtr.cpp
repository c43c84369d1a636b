// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/memory_managers/best_fit.h"
#include "switchyard/sw_scheduler/memory_managers/managers.h"

namespace switchyard::memory_managers {

using sched::kNoOperator;
using sched::TrainingOperator;
using sched::TrainingStream;

namespace {

struct Full {
    std::string message;
    bool thrashing;
};

class Dtr {
public:
    Dtr(const TrainingStream& stream, std::uint64_t budget, const DtrConfig& config)
        : stream_(stream),
          budget_(budget),
          config_(config),
          base_ns_(stream.total_ns()),
          all_(stream.tensors.size()),
          space_(budget) {
        bool optimises = false;
        for (std::uint32_t i = 0; i < stream.operators.size(); ++i) {
            const TrainingOperator& op = stream.operators[i];
            for (const TensorId tensor : op.in_place) {
                all_[stream.storage_of(tensor)].pinned = true;
                optimises = optimises || stream.tensors[stream.storage_of(tensor)].persistent();
            }
            results_.emplace_back();
            for (const TensorId tensor : op.writes) {
                const TensorId id = stream.storage_of(tensor);
                if (stream.tensors[id].producer == i) results_.back().push_back(id);
            }
            unique(results_.back());
            operands_.emplace_back();
            for (const auto* list : {&op.reads, &op.in_place})
                for (const TensorId tensor : *list) operands_.back().push_back(stream.storage_of(tensor));
            unique(operands_.back());
            for (const TensorId result : results_.back())
                for (const TensorId operand : operands_.back()) all_[operand].children.push_back(result);
        }
        program_.capacity[0] = budget;
        for (TensorId id = 0; id < all_.size(); ++id) {
            const sched::TrainingTensor& tensor = stream.tensors[id];
            if (tensor.is_view()) continue;
            all_[id].cost = tensor.producer == kNoOperator ? 0 : stream.operators[tensor.producer].ns;
            if (tensor.kind == sched::TensorKind::gradient && optimises) all_[id].pinned = true;
            if (tensor.producer != kNoOperator) continue;
            all_[id].pinned = all_[id].there = true;
            used_ += tensor.bytes;
            // If it does not fit, the first operator will say so.
            if (config.fragmentation) all_[id].address = space_.allocate(tensor.bytes).value_or(kNoAddress);
            program_.on_device.push_back(id);
        }
    }

    MemoryProgram run() {
        try {
            for (now_ = 0; now_ < stream_.operators.size(); ++now_) {
                execute(now_, false);
                for (const TensorId id : stream_.operators[now_].released) {
                    // What cannot be computed again stays for those that are computed again from it.
                    if (stream_.tensors[id].is_view() || stream_.tensors[id].producer == kNoOperator) continue;
                    all_[id].released = true;
                    if (all_[id].there) drop(id);
                }
            }
        } catch (const Full& stopped) {
            program_.out_of_memory = stopped.message;
            program_.thrashing = stopped.thrashing;
        }
        program_.fragmented = space_.fragmented_failures();
        return std::move(program_);
    }

private:
    struct Storage {
        bool there = false, pinned = false, released = false, evicted = false, listed = false;
        unsigned locks = 0;
        double cost = 0, last_use = 0, neighbours = -1;  ///< neighbours < 0: to be summed up again
        std::uint32_t visit = 0;
        std::uint64_t address = kNoAddress;
        std::vector<TensorId> children;
    };
    static constexpr std::uint64_t kNoAddress = ~std::uint64_t{0};

    static void unique(std::vector<TensorId>& ids) {
        std::sort(ids.begin(), ids.end());
        ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    }

    const std::vector<TensorId>& parents(TensorId id) const {
        static const std::vector<TensorId> kNone;
        const std::uint32_t producer = stream_.tensors[id].producer;
        return producer == kNoOperator ? kNone : operands_[producer];
    }

    /// Visits all that is reached from `id` over evicted storages in one direction; `inner` evicted ones, `edge`
    /// others.
    template <class Next, class Inner, class Edge>
    void spread(TensorId id, const Next& next, const Inner& inner, const Edge& edge) {
        ++round_;
        stack_.assign(1, id);
        while (!stack_.empty()) {
            const TensorId at = stack_.back();
            stack_.pop_back();
            for (const TensorId other : next(at)) {
                if (all_[other].visit == round_) continue;
                all_[other].visit = round_;
                if (!all_[other].evicted) {
                    edge(other);
                    continue;
                }
                inner(other);
                stack_.push_back(other);
            }
        }
    }

    double neighbours(TensorId id) {
        Storage& storage = all_[id];
        if (storage.neighbours >= 0) return storage.neighbours;
        double sum = 0;
        const auto add = [&](TensorId other) { sum += all_[other].cost; };
        const auto nothing = [](TensorId) {};
        spread(
            id, [&](TensorId at) -> const std::vector<TensorId>& { return parents(at); }, add, nothing);
        spread(
            id, [&](TensorId at) -> const std::vector<TensorId>& { return all_[at].children; }, add, nothing);
        return storage.neighbours = sum;
    }

    /// Whoever has `id` among its evicted neighbours, or would have, sums up again.
    void forget_neighbours(TensorId id) {
        const auto nothing = [](TensorId) {};
        const auto forget = [&](TensorId other) { all_[other].neighbours = -1; };
        spread(
            id, [&](TensorId at) -> const std::vector<TensorId>& { return parents(at); }, nothing, forget);
        spread(
            id, [&](TensorId at) -> const std::vector<TensorId>& { return all_[at].children; }, nothing, forget);
    }

    void act(ActionKind kind, TensorId id) {
        Action action;
        action.kind = kind;
        action.storage = id;
        action.op = std::min<std::uint32_t>(now_, static_cast<std::uint32_t>(stream_.operators.size()) - 1);
        action.bytes = stream_.tensors[id].bytes;
        program_.actions.push_back(action);
    }

    void drop(TensorId id) {
        all_[id].there = false;
        all_[id].evicted = true;
        used_ -= stream_.tensors[id].bytes;
        if (all_[id].address != kNoAddress) space_.release(all_[id].address);
        all_[id].address = kNoAddress;
        forget_neighbours(id);
        act(ActionKind::drop, id);
    }

    void make_room(std::uint64_t bytes, std::uint32_t op) {
        while (used_ + bytes > budget_) evict_one(bytes, op);
    }

    /// An address for it, for which as many make room as it takes.
    std::uint64_t allocate(std::uint64_t bytes, std::uint32_t op) {
        for (;;) {
            if (const auto found = space_.allocate(bytes)) return *found;
            evict_one(bytes, op);
        }
    }

    void evict_one(std::uint64_t bytes, std::uint32_t op) {
        TensorId best = sched::kNoTensor;
        double least = std::numeric_limits<double>::infinity();
        std::size_t kept = 0;
        for (const TensorId id : candidates_) {
            Storage& storage = all_[id];
            if (!storage.there) {
                storage.listed = false;
                continue;
            }
            candidates_[kept++] = id;
            if (storage.locks > 0 || stream_.tensors[id].bytes == 0) continue;
            const double h = (storage.cost + neighbours(id)) /
                             (static_cast<double>(stream_.tensors[id].bytes) * (clock_ - storage.last_use + 1));
            if (h < least) {
                least = h;
                best = id;
            }
        }
        candidates_.resize(kept);
        const double examined = 2 * static_cast<double>(kept) / (std::sqrt(static_cast<double>(kept)) + 1);
        program_.examined += examined;
        manage_ns_ += examined * config_.examined_ns;
        if (best == sched::kNoTensor)
            throw Full{
                fmt::format(
                    "operator {} ({}): expected at most {:.1f} MB, found {:.1f} MB in use or pinned and {:.1f} MB more",
                    op, stream_.operators[op].name, static_cast<double>(budget_) * 1e-6,
                    static_cast<double>(used_) * 1e-6, static_cast<double>(bytes) * 1e-6),
                false};
        ++program_.evictions;
        drop(best);
    }

    struct Frame {
        std::uint32_t op;
        std::size_t next = 0;
    };

    /// Runs an operator; operands that are not there are made first, without recursion of this function: chains are as
    /// long as the network.
    void execute(std::uint32_t first, bool) {
        std::vector<Frame> frames;
        const auto enter = [&](std::uint32_t op) {
            for (const TensorId id : operands_[op]) ++all_[id].locks;
            frames.push_back({op});
        };
        enter(first);
        while (!frames.empty()) {
            Frame& frame = frames.back();
            const std::vector<TensorId>& operands = operands_[frame.op];
            while (frame.next < operands.size() && all_[operands[frame.next]].there) ++frame.next;
            if (frame.next < operands.size()) {
                enter(stream_.tensors[operands[frame.next]].producer);
                continue;
            }
            const std::uint32_t op = frame.op;
            frames.pop_back();
            compute(op, op != first || !frames.empty());
            for (const TensorId id : operands) {
                Storage& storage = all_[id];
                if (--storage.locks == 0 && storage.released && storage.there) drop(id);
            }
        }
    }

    void compute(std::uint32_t op, bool again) {
        std::uint64_t bytes = 0;
        for (const TensorId id : results_[op])
            if (!all_[id].there) bytes += stream_.tensors[id].bytes;
        // Results that are there already are written over with the same.
        for (const TensorId id : results_[op]) ++all_[id].locks;
        make_room(bytes + stream_.operators[op].workspace_bytes, op);
        program_.peak_bytes = std::max(program_.peak_bytes, used_ + bytes + stream_.operators[op].workspace_bytes);
        used_ += bytes;
        if (config_.fragmentation) {
            for (const TensorId id : results_[op])
                if (!all_[id].there) all_[id].address = allocate(stream_.tensors[id].bytes, op);
            if (stream_.operators[op].workspace_bytes > 0)
                space_.release(allocate(stream_.operators[op].workspace_bytes, op));
        }
        manage_ns_ += config_.operator_ns;
        if (manage_ns_ > 0) {
            Action manage;
            manage.kind = ActionKind::manage;
            manage.op = op;
            manage.ns = manage_ns_;
            program_.actions.push_back(manage);
            manage_ns_ = 0;
        }
        const double ns = stream_.operators[op].ns;
        Action action;
        action.kind = again ? ActionKind::recompute : ActionKind::compute;
        action.op = op;
        action.ns = ns;
        program_.actions.push_back(action);
        clock_ += ns;
        if (again) {
            ++program_.recomputed;
            program_.recompute_ns += ns;
            if (program_.recompute_ns > config_.max_overhead * base_ns_)
                throw Full{
                    fmt::format(
                        "thrashing: expected recomputation of at most {} times the computation, found more at operator "
                        "{} of {}",
                        config_.max_overhead, now_, stream_.operators.size()),
                    true};
        }
        for (const TensorId id : operands_[op]) all_[id].last_use = clock_;
        for (const TensorId id : results_[op]) {
            Storage& storage = all_[id];
            storage.last_use = clock_;
            if (!storage.there) {
                storage.there = true;
                if (storage.evicted) {
                    storage.evicted = false;
                    forget_neighbours(id);
                }
                storage.neighbours = -1;
                if (!storage.pinned && !storage.listed) {
                    storage.listed = true;
                    candidates_.push_back(id);
                }
            }
            // Dead beside what was asked for.
            if (--storage.locks == 0 && storage.released) drop(id);
        }
    }

    const TrainingStream& stream_;
    std::uint64_t budget_, used_ = 0;
    DtrConfig config_;
    double base_ns_, clock_ = 0, manage_ns_ = 0;
    std::vector<Storage> all_;
    BestFit space_;
    std::vector<std::vector<TensorId>> results_, operands_;
    std::vector<TensorId> candidates_, stack_;
    std::uint32_t round_ = 0, now_ = 0;
    MemoryProgram program_;
};

}  // namespace

MemoryProgram run_dtr(const TrainingStream& stream, std::uint64_t budget, const DtrConfig& config) {
    return Dtr(stream, budget, config).run();
}

}  // namespace switchyard::memory_managers
