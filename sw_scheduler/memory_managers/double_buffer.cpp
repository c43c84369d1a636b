// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/memory_managers/best_fit.h"
#include "switchyard/sw_scheduler/memory_managers/managers.h"

namespace switchyard::memory_managers {

using dynn_offload::ExecutionBlock;
using sched::kNoOperator;
using sched::kNoTensor;
using sched::TrainingOperator;
using sched::TrainingStream;

namespace {

constexpr std::uint8_t kNowhere = 2;

class DoubleBuffer {
public:
    DoubleBuffer(const TrainingStream& stream, const dynn_offload::Prediction& prediction, std::uint64_t half_bytes,
                 EvictionRule rule, bool fragmentation)
        : stream_(stream),
          prediction_(prediction),
          half_bytes_(half_bytes),
          rule_(rule),
          fragmentation_(fragmentation),
          space_{BestFit(half_bytes), BestFit(half_bytes)},
          all_(stream.tensors.size()),
          stays_(stream.tensors.size()) {
        program_.capacity = {half_bytes, half_bytes};
        program_.persistent_on_host = true;
        program_.mispredicted = prediction.stream->path != stream.path;
        if (program_.mispredicted)
            for (TensorId id = 0; id < all_.size(); ++id)
                if (!stream.tensors[id].is_view()) by_key_.emplace(stream.tensors[id].key, id);
        if (rule_ == EvictionRule::for_room) {
            blocks_of_.resize(all_.size());
            for (std::uint32_t b = 0; b < prediction_.blocks.blocks.size(); ++b)
                for (const TensorId predicted : prediction_.blocks.blocks[b].needed)
                    if (const TensorId id = mapped(predicted); id != kNoTensor) blocks_of_[id].push_back(b);
        }
        for (TensorId id = 0; id < all_.size(); ++id) {
            const sched::TrainingTensor& tensor = stream.tensors[id];
            if (tensor.is_view() || tensor.producer != kNoOperator) continue;
            all_[id].on_host = true;
            program_.host_bytes += tensor.bytes;
        }
        host_now_ = program_.host_bytes;
    }

    /// The step as one of many alike: what the one before it has left is where it begins.
    MemoryProgram run() {
        step();
        begin_again();
        step();
        program_.peak_bytes = peak_;
        program_.fragmented = space_[0].fragmented_failures() + space_[1].fragmented_failures();
        return std::move(program_);
    }

private:
    struct Storage {
        std::uint8_t half = kNowhere;
        bool on_host = false;               ///< the host's copy is the present content
        std::uint32_t arrives = kNoAction;  ///< the copy that brings it
        std::uint32_t leaves = kNoAction;   ///< the copy that takes it to the host
        std::uint32_t last_use = 0;         ///< operator
        bool used = false;                  ///< by an operator of this step since it came
        std::uint64_t address = 0;          ///< in its half
    };

    std::uint64_t bytes(TensorId id) const { return stream_.tensors[id].bytes; }
    /// Exists before the step: parameters, states of the optimiser, inputs.
    bool lasts(TensorId id) const { return stream_.tensors[id].producer == kNoOperator; }

    void step() {
        const std::vector<ExecutionBlock>& blocks = prediction_.blocks.blocks;
        std::uint32_t op = 0;
        const auto operators = static_cast<std::uint32_t>(stream_.operators.size());
        now_ = 0;
        if (blocks.empty()) return;
        if (first_step_) prefetch(blocks[0], half_);
        wait_for_ = copy_last_;
        for (std::size_t b = 0; b < blocks.size() && op < operators; ++b) {
            // Operators beyond those of the predicted path belong to its last block.
            const std::uint32_t end =
                b + 1 == blocks.size() ? operators : std::min(operators, op + blocks[b].operators);
            const bool last = end == operators;
            if (b > 0) swap(blocks[b]);
            now_ = op;
            swapped_ = compute_last_;
            const std::uint8_t other = static_cast<std::uint8_t>(1 - half_);
            if (blocks.size() > 1) {
                const ExecutionBlock& next = last ? blocks[0] : blocks[b + 1];
                empty(other, next);
                next_step_ = last;
                prefetch(next, other);
                next_step_ = false;
            }
            // What the block waits for was brought before; the copies of this moment are for the next one.
            for (; op < end; ++op) {
                now_ = op;
                run_operator(op);
            }
        }
        end_step(blocks);
    }

    void swap(const ExecutionBlock& next) {
        half_ = static_cast<std::uint8_t>(1 - half_);
        wait_for_ = copy_last_;
        carry_over(next);
    }

    /// Only what lasts is left; the first block of the next step has what it needs.
    void end_step(const std::vector<ExecutionBlock>& blocks) {
        for (const std::vector<TensorId>& half : there_) {
            for (const TensorId id : half) {
                const bool input = lasts(id) && !stream_.tensors[id].persistent();
                // Inputs that came for the next step stay: nothing of this one has used them since.
                if (all_[id].half == kNowhere || (lasts(id) && !(input && all_[id].used))) continue;
                const std::uint8_t where = all_[id].half;
                const std::uint32_t arrives = all_[id].arrives;
                take(id);
                push(ActionKind::drop, Queue::compute, where, id, arrives);
            }
        }
        next_step_ = true;
        if (blocks.size() > 1) swap(blocks[0]);
        swapped_ = compute_last_;
        prefetch(blocks[0], half_);
        next_step_ = false;
    }

    /// The state behind a step as the beginning of the program: halves change their names so that it begins in half 0.
    void begin_again() {
        MemoryProgram program;
        program.capacity = program_.capacity;
        program.persistent_on_host = true;
        program.mispredicted = program_.mispredicted;
        if (half_ == 1) {
            std::swap(used_[0], used_[1]);
            std::swap(space_[0], space_[1]);
            half_ = 0;
            for (Storage& storage : all_)
                if (storage.half != kNowhere) storage.half = static_cast<std::uint8_t>(1 - storage.half);
        }
        for (auto& half : there_) half.clear();
        host_now_ = 0;
        for (TensorId id = 0; id < all_.size(); ++id) {
            Storage& storage = all_[id];
            storage.arrives = storage.leaves = kNoAction;
            storage.last_use = 0;
            storage.used = false;
            if (storage.half != kNowhere) {
                there_[storage.half].push_back(id);
                (storage.half == 0 ? program.on_device : program.in_second_half).push_back(id);
            }
            if (stream_.tensors[id].is_view()) continue;
            if (!lasts(id)) {
                storage.on_host = false;
            } else {
                host_now_ += bytes(id);
                if (!storage.on_host) program.stale_on_host.push_back(id);
            }
        }
        program.host_bytes = host_now_;
        peak_ = used_[0] + used_[1];
        program_ = std::move(program);
        swapped_ = compute_last_ = copy_last_ = wait_for_ = kNoAction;
        first_step_ = false;
    }

    std::uint32_t push(ActionKind kind, Queue queue, std::uint8_t half, TensorId id, std::uint32_t after) {
        Action action;
        action.kind = kind;
        action.queue = queue;
        action.half = half;
        action.storage = id;
        action.op = now_;
        action.bytes = bytes(id);
        action.after = after;
        program_.actions.push_back(action);
        const auto index = static_cast<std::uint32_t>(program_.actions.size() - 1);
        (queue == Queue::compute ? compute_last_ : copy_last_) = index;
        return index;
    }

    bool fits(std::uint64_t wanted, std::uint8_t half) const {
        if (used_[half] + wanted > half_bytes_) return false;
        return !fragmentation_ || wanted == 0 || space_[half].largest_gap() >= BestFit::rounded(wanted);
    }
    /// Where fits() has said so.
    void put(TensorId id, std::uint8_t half) {
        if (fragmentation_ && bytes(id) > 0) all_[id].address = space_[half].allocate(bytes(id)).value();
        all_[id].half = half;
        all_[id].last_use = now_;
        all_[id].used = false;
        used_[half] += bytes(id);
        there_[half].push_back(id);
        peak_ = std::max(peak_, used_[0] + used_[1]);
    }
    void take(TensorId id) {
        used_[all_[id].half] -= bytes(id);
        if (fragmentation_ && bytes(id) > 0) space_[all_[id].half].release(all_[id].address);
        all_[id].half = kNowhere;
        all_[id].arrives = kNoAction;
    }

    bool dead(TensorId id) const {
        if (next_step_) return !lasts(id);
        const std::uint32_t released = stream_.tensors[id].released_after;
        return released != kNoOperator && released < now_;
    }

    /// What the next block does not need leaves a half, to the host if that lacks it; in the copy queue, behind the
    /// swap.
    void empty(std::uint8_t half, const ExecutionBlock& next) {
        ++round_;
        for (const TensorId predicted : next.needed) {
            const TensorId id = mapped(predicted);
            if (id != kNoTensor) stays_[id] = round_;
        }
        if (rule_ == EvictionRule::for_room) keep_what_fits(half, next);
        std::vector<TensorId> kept;
        for (const TensorId id : there_[half]) {
            if (all_[id].half != half) continue;
            if (stays_[id] == round_) {
                kept.push_back(id);
                continue;
            }
            if (!all_[id].on_host) {
                all_[id].leaves = push(ActionKind::write_back, Queue::copy, half, id, swapped_);
                to_host(id);
            }
            push(ActionKind::drop, Queue::copy, half, id, swapped_);
            ++program_.evictions;
            take(id);
        }
        there_[half] = std::move(kept);
    }

    /// Marks what leaves the next block its room, the tensors first whose next use is the nearest.
    void keep_what_fits(std::uint8_t half, const ExecutionBlock& next) {
        const auto count = static_cast<std::uint32_t>(prediction_.blocks.blocks.size());
        const auto at = static_cast<std::uint32_t>(&next - prediction_.blocks.blocks.data());
        std::vector<std::pair<std::uint32_t, TensorId>> candidates;
        for (const TensorId id : there_[half]) {
            if (all_[id].half != half || stays_[id] == round_ || dead(id)) continue;
            const std::vector<std::uint32_t>& blocks = blocks_of_[id];
            const auto found = std::upper_bound(blocks.begin(), blocks.end(), at);
            if (found != blocks.end())
                candidates.emplace_back(*found, id);
            else if (stream_.tensors[id].persistent() && !blocks.empty())
                candidates.emplace_back(count + blocks.front(), id);
        }
        std::sort(candidates.begin(), candidates.end());
        std::uint64_t room = half_bytes_ - std::min(half_bytes_, next.needed_bytes);
        for (const auto& [block, id] : candidates) {
            if (bytes(id) > room) break;
            room -= bytes(id);
            stays_[id] = round_;
        }
    }

    void to_host(TensorId id) {
        all_[id].on_host = true;
        if (stream_.tensors[id].producer == kNoOperator) return;
        host_now_ += bytes(id);
        program_.host_bytes = std::max(program_.host_bytes, host_now_);
    }

    TensorId mapped(TensorId predicted) const {
        if (!program_.mispredicted) return predicted;
        const auto found = by_key_.find(prediction_.stream->tensors[predicted].key);
        if (found == by_key_.end()) return kNoTensor;
        return bytes(found->second) == prediction_.stream->tensors[predicted].bytes ? found->second : kNoTensor;
    }

    void prefetch(const ExecutionBlock& block, std::uint8_t half) {
        for (const TensorId predicted : block.fetched) {
            const TensorId id = mapped(predicted);
            if (id == kNoTensor) {
                // Parameters of a branch that is not taken exist all the same.
                if (prediction_.stream->tensors[predicted].persistent())
                    program_.fetched_in_vain_bytes += prediction_.stream->tensors[predicted].bytes;
                continue;
            }
            if (all_[id].half != kNowhere || !all_[id].on_host || dead(id)) continue;
            if (!fits(bytes(id), half)) continue;
            all_[id].arrives = push(ActionKind::fetch, Queue::copy, half, id, swapped_);
            put(id, half);
        }
    }

    /// At the swap: what the block needs and the other half has.
    void carry_over(const ExecutionBlock& block) {
        for (const TensorId predicted : block.needed) {
            const TensorId id = mapped(predicted);
            if (id == kNoTensor || all_[id].half != 1 - half_ || dead(id)) continue;
            if (!fits(bytes(id), half_)) continue;
            carry(id);
        }
    }

    void carry(TensorId id) {
        const std::uint32_t arrives = all_[id].arrives;
        take(id);
        push(ActionKind::carry, Queue::compute, half_, id, later(wait_for_, arrives));
        wait_for_ = kNoAction;
        push(ActionKind::drop, Queue::compute, static_cast<std::uint8_t>(1 - half_), id, kNoAction);
        put(id, half_);
    }

    static std::uint32_t later(std::uint32_t a, std::uint32_t b) {
        if (a == kNoAction) return b;
        return b == kNoAction ? a : std::max(a, b);
    }

    /// Room in the working half, as the program stands at an operator that waits for it.
    void make_room(std::uint64_t wanted, const std::vector<TensorId>& operands) {
        while (!fits(wanted, half_)) {
            TensorId oldest = kNoTensor;
            std::size_t kept = 0;
            for (const TensorId id : there_[half_]) {
                if (all_[id].half != half_) continue;
                there_[half_][kept++] = id;
                if (bytes(id) == 0 || std::binary_search(operands.begin(), operands.end(), id)) continue;
                if (oldest == kNoTensor || all_[id].last_use < all_[oldest].last_use) oldest = id;
            }
            there_[half_].resize(kept);
            if (oldest == kNoTensor)
                throw Infeasible(
                    stream_.file.empty() ? stream_.network : stream_.file, 0, "",
                    fmt::format("operator {} ({}): expected at most the {:.1f} MB of a buffer half, found {:.1f} MB{}",
                                now_, stream_.operators[now_].name, static_cast<double>(half_bytes_) * 1e-6,
                                static_cast<double>(used_[half_] + wanted) * 1e-6,
                                used_[half_] + wanted > half_bytes_ ? "" : " with gaps that are too small"));
            const std::uint32_t after = later(wait_for_, all_[oldest].arrives);
            wait_for_ = kNoAction;
            if (!all_[oldest].on_host) {
                all_[oldest].leaves = push(ActionKind::write_back, Queue::compute, half_, oldest, after);
                to_host(oldest);
            }
            push(ActionKind::drop, Queue::compute, half_, oldest, after);
            ++program_.evictions;
            take(oldest);
        }
    }

    void run_operator(std::uint32_t index) {
        const TrainingOperator& op = stream_.operators[index];
        const std::vector<TensorId> operands = stream_.storages(index);
        for (const TensorId id : operands) {
            const bool made_here = stream_.tensors[id].producer == index;
            if (all_[id].half == half_) continue;
            make_room(bytes(id), operands);
            if (made_here) {
                put(id, half_);
                continue;
            }
            if (all_[id].half != kNowhere) {  // in the half that is filled for the next block
                carry(id);
                continue;
            }
            // On demand: the operator waits.
            push(ActionKind::fetch, Queue::compute, half_, id, later(wait_for_, all_[id].leaves));
            program_.actions.back().on_demand = true;
            wait_for_ = kNoAction;
            ++program_.on_demand;
            put(id, half_);
        }
        make_room(op.workspace_bytes, operands);
        Action action;
        action.op = index;
        action.ns = op.ns;
        action.half = half_;
        action.after = wait_for_;
        for (const TensorId id : operands) {
            all_[id].last_use = index;
            all_[id].used = true;
            action.after = later(action.after, all_[id].arrives);
            if (all_[id].arrives != kNoAction) all_[id].arrives = kNoAction;
        }
        wait_for_ = kNoAction;
        program_.actions.push_back(action);
        compute_last_ = static_cast<std::uint32_t>(program_.actions.size() - 1);
        for (const auto* list : {&op.writes, &op.in_place}) {
            for (const TensorId tensor : *list) {
                const TensorId id = stream_.storage_of(tensor);
                if (list == &op.writes && stream_.tensors[id].producer != index) continue;
                all_[id].on_host = false;
            }
        }
        for (const TensorId id : op.released) {
            if (stream_.tensors[id].is_view() || all_[id].half == kNowhere) continue;
            const std::uint8_t half = all_[id].half;
            const std::uint32_t arrives = all_[id].arrives;
            take(id);
            push(ActionKind::drop, Queue::compute, half, id, arrives);
        }
    }

    const TrainingStream& stream_;
    const dynn_offload::Prediction& prediction_;
    std::uint64_t half_bytes_, used_[2] = {0, 0}, peak_ = 0, host_now_ = 0;
    EvictionRule rule_;
    bool fragmentation_;
    BestFit space_[2];
    std::vector<Storage> all_;
    std::vector<TensorId> there_[2];
    std::unordered_map<std::uint64_t, TensorId> by_key_;
    std::uint8_t half_ = 0;
    std::vector<std::uint32_t> stays_;
    std::vector<std::vector<std::uint32_t>> blocks_of_;  ///< predicted blocks that need a storage, ascending
    std::uint32_t round_ = 0;
    bool first_step_ = true, next_step_ = false;
    std::uint32_t now_ = 0, wait_for_ = kNoAction, swapped_ = kNoAction;
    std::uint32_t compute_last_ = kNoAction, copy_last_ = kNoAction;
    MemoryProgram program_;
};

}  // namespace

MemoryProgram run_double_buffer(const TrainingStream& stream, const dynn_offload::Prediction& prediction,
                                std::uint64_t half_bytes, EvictionRule rule, bool fragmentation) {
    return DoubleBuffer(stream, prediction, half_bytes, rule, fragmentation).run();
}

}  // namespace switchyard::memory_managers
