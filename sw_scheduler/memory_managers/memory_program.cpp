// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/memory_managers/memory_program.h"

#include <algorithm>

#include <fmt/format.h>

namespace switchyard::memory_managers {

using sched::TrainingOperator;
using sched::TrainingStream;

namespace {

constexpr std::size_t kMaxSentences = 4;

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    std::uint64_t h = (a ^ (b + 0x9e3779b97f4a7c15ULL + (a << 6) + (a >> 2))) * 0xff51afd7ed558ccdULL;
    return h ^ (h >> 33);
}

std::uint64_t first_content(TensorId storage) {
    return mix(0x5157, storage + 1);
}

/// What an operator makes of contents; `content(storage)` gives them.
template <class F>
std::uint64_t result_of(const TrainingStream& stream, std::uint32_t index, const F& content) {
    const TrainingOperator& op = stream.operators[index];
    std::uint64_t hash = mix(index, 77);
    for (const TensorId id : op.reads) hash = mix(hash, content(stream.storage_of(id)));
    for (const TensorId id : op.in_place) hash = mix(hash, content(stream.storage_of(id)));
    return hash;
}

/// Storages that an operator makes: a result that is a view of one that is there already changes nothing.
template <class F>
void for_results(const TrainingStream& stream, std::uint32_t index, const F& visit) {
    for (const TensorId id : stream.operators[index].writes) {
        const TensorId storage = stream.storage_of(id);
        if (stream.tensors[storage].producer == index) visit(storage);
    }
}

template <class F>
void run_operator(const TrainingStream& stream, std::uint32_t index, std::uint64_t result, const F& write) {
    for_results(stream, index, [&](TensorId storage) { write(storage, mix(result, storage)); });
    for (const TensorId id : stream.operators[index].in_place)
        write(stream.storage_of(id), mix(result, stream.storage_of(id)));
}

std::uint64_t persistent_hash(const TrainingStream& stream, const std::vector<std::uint64_t>& content) {
    std::uint64_t hash = 1;
    for (TensorId id = 0; id < stream.tensors.size(); ++id)
        if (stream.tensors[id].persistent() && !stream.tensors[id].is_view()) hash = mix(hash, content[id]);
    return hash;
}

class Replay {
public:
    Replay(const MemoryProgram& program, const TrainingStream& stream, const Timeline& timeline)
        : program_(program), stream_(stream), timeline_(timeline), truth_(stream.tensors.size()) {
        host_.resize(stream.tensors.size());
        for (auto& half : device_) half.resize(stream.tensors.size());
        for (TensorId id = 0; id < stream.tensors.size(); ++id) {
            if (stream.tensors[id].is_view() || stream.tensors[id].producer != sched::kNoOperator) continue;
            truth_[id] = first_content(id);
            if (program.persistent_on_host) host_[id] = {true, truth_[id], 0, 0};
        }
        for (const TensorId id : program.stale_on_host) host_[id] = {};
        for (unsigned half = 0; half < 2; ++half) {
            for (const TensorId id : half == 0 ? program.on_device : program.in_second_half) {
                device_[half][id] = {true, truth_[id], 0, 0};
                hold(half, 0, static_cast<std::int64_t>(stream.tensors[id].bytes));
            }
        }
    }

    ProgramCheck run() {
        for (index_ = 0; index_ < program_.actions.size(); ++index_) {
            action_ = &program_.actions[index_];
            begin_ = timeline_.begin[index_];
            end_ = timeline_.end[index_];
            step();
        }
        if (next_op_ != stream_.operators.size()) break_rule("the program ends before the last operator");
        if (truth_ != expected()) break_rule("the run differs from that with unlimited memory");
        check_persistent();
        check_capacity();
        return check_;
    }

private:
    struct Copy {
        bool there = false;
        std::uint64_t content = 0;
        double ready = 0;  ///< time from which the content is complete
        double used_until = 0;
    };

    void break_rule(const std::string& what) {
        if (check_.broken.size() < kMaxSentences)
            check_.broken.push_back(fmt::format("action {} (operator {}, tensor {}): {}", index_, action_->op,
                                                action_->storage == sched::kNoTensor ? -1 : int(action_->storage),
                                                what));
    }
    void hold(unsigned half, double time, std::int64_t bytes) { changes_[half].push_back({time, bytes}); }

    Copy& device(TensorId id) { return device_[action_->half][id]; }

    void step() {
        switch (action_->kind) {
            case ActionKind::compute:
            case ActionKind::recompute:
                return compute();
            case ActionKind::host_compute:
                return host_compute();
            case ActionKind::fetch:
                return move(host_[action_->storage], device(action_->storage), true);
            case ActionKind::write_back:
                return move(device(action_->storage), host_[action_->storage], false);
            case ActionKind::carry:
                return move(device_[1 - action_->half][action_->storage], device(action_->storage), true);
            case ActionKind::drop:
                return drop();
            case ActionKind::manage:
                return;
            case ActionKind::fault:
                return break_rule("page faults have no contents here");
        }
    }

    void move(Copy& from, Copy& to, bool to_device) {
        if (!from.there) return break_rule("copies what is not there");
        if (from.ready > begin_) break_rule("copies what is not complete");
        if (from.content != truth_[action_->storage]) break_rule("copies what is stale");
        from.used_until = std::max(from.used_until, end_);
        if (to_device && !to.there)
            hold(action_->half, begin_, static_cast<std::int64_t>(stream_.tensors[action_->storage].bytes));
        to = {true, from.content, end_, end_};
    }

    void drop() {
        Copy& copy = device(action_->storage);
        if (!copy.there) return break_rule("drops what is not there");
        if (copy.used_until > begin_) break_rule("drops what is in use");
        copy = {};
        hold(action_->half, begin_, -static_cast<std::int64_t>(stream_.tensors[action_->storage].bytes));
    }

    void operands(std::vector<Copy>& copies) {
        for (const auto* list : {&stream_.operators[action_->op].reads, &stream_.operators[action_->op].in_place}) {
            for (const TensorId tensor : *list) {
                const TensorId id = stream_.storage_of(tensor);
                Copy& copy = copies[id];
                if (!copy.there) break_rule(fmt::format("the operand {} is not there", id));
                if (copy.ready > begin_) break_rule(fmt::format("the operand {} is not complete", id));
                if (copy.content != truth_[id]) break_rule(fmt::format("the operand {} is stale", id));
                copy.used_until = std::max(copy.used_until, end_);
            }
        }
    }

    void advance() {
        if (action_->op != next_op_) return break_rule("operators run in another order");
        const std::uint64_t truth = result_of(stream_, action_->op, [&](TensorId id) { return truth_[id]; });
        run_operator(stream_, action_->op, truth, [&](TensorId id, std::uint64_t content) { truth_[id] = content; });
        ++next_op_;
    }

    void compute() {
        std::vector<Copy>& copies = device_[action_->half];
        operands(copies);
        const std::uint64_t result = result_of(stream_, action_->op, [&](TensorId id) { return copies[id].content; });
        if (action_->kind == ActionKind::compute) advance();
        const auto workspace = static_cast<std::int64_t>(stream_.operators[action_->op].workspace_bytes);
        if (workspace > 0) {
            hold(action_->half, begin_, workspace);
            hold(action_->half, end_, -workspace);
        }
        run_operator(stream_, action_->op, result, [&](TensorId id, std::uint64_t content) {
            if (!copies[id].there) hold(action_->half, begin_, static_cast<std::int64_t>(stream_.tensors[id].bytes));
            if (content != truth_[id]) break_rule(fmt::format("makes another content of tensor {}", id));
            copies[id] = {true, content, end_, end_};
        });
    }

    void host_compute() {
        operands(host_);
        const std::uint64_t result = result_of(stream_, action_->op, [&](TensorId id) { return host_[id].content; });
        advance();
        run_operator(stream_, action_->op, result, [&](TensorId id, std::uint64_t content) {
            host_[id] = {true, content, end_, end_};
        });
    }

    std::vector<std::uint64_t> expected() const {
        std::vector<std::uint64_t> content(stream_.tensors.size());
        for (TensorId id = 0; id < stream_.tensors.size(); ++id)
            if (!stream_.tensors[id].is_view() && stream_.tensors[id].producer == sched::kNoOperator)
                content[id] = first_content(id);
        for (std::uint32_t i = 0; i < stream_.operators.size(); ++i)
            run_operator(stream_, i, result_of(stream_, i, [&](TensorId id) { return content[id]; }),
                         [&](TensorId id, std::uint64_t value) { content[id] = value; });
        return content;
    }

    void check_persistent() {
        std::vector<std::uint64_t> content(stream_.tensors.size());
        for (TensorId id = 0; id < stream_.tensors.size(); ++id) {
            if (!stream_.tensors[id].persistent() || stream_.tensors[id].is_view()) continue;
            // Where the next step looks for it: with two halves, wherever it is.
            const auto present = [&](const Copy& copy) { return copy.there && copy.content == truth_[id]; };
            const bool host = program_.persistent_on_host, device = !host || program_.capacity[1] > 0;
            if (!(host && present(host_[id])) && !(device && (present(device_[0][id]) || present(device_[1][id])))) {
                index_ = program_.actions.size();
                break_rule(fmt::format("the persistent tensor {} is lost", id));
                continue;
            }
            content[id] = truth_[id];
        }
        check_.persistent_hash = persistent_hash(stream_, content);
    }

    void check_capacity() {
        for (unsigned half = 0; half < 2; ++half) {
            // What is given up at a time is free for what comes at the same time.
            std::stable_sort(changes_[half].begin(), changes_[half].end(), [](const Change& a, const Change& b) {
                return a.time != b.time ? a.time < b.time : a.bytes < b.bytes;
            });
            std::int64_t held = 0, peak = 0;
            for (const Change& change : changes_[half]) peak = std::max(peak, held += change.bytes);
            check_.peak_bytes[half] = static_cast<std::uint64_t>(peak);
            if (check_.peak_bytes[half] > program_.capacity[half])
                break_rule(fmt::format("half {} holds {} of {} bytes", half, peak, program_.capacity[half]));
        }
    }

    struct Change {
        double time;
        std::int64_t bytes;
    };
    const MemoryProgram& program_;
    const TrainingStream& stream_;
    const Timeline& timeline_;
    std::vector<std::uint64_t> truth_;
    std::vector<Copy> host_, device_[2];
    std::vector<Change> changes_[2];
    std::size_t index_ = 0;
    const Action* action_ = nullptr;
    double begin_ = 0, end_ = 0;
    std::uint32_t next_op_ = 0;
    ProgramCheck check_;
};

}  // namespace

Timeline estimate(const MemoryProgram& program, const TransferTimes& times) {
    Timeline line;
    line.begin.resize(program.actions.size());
    line.end.resize(program.actions.size());
    double free[kQueues] = {};
    double busy = 0;
    for (std::size_t i = 0; i < program.actions.size(); ++i) {
        const Action& action = program.actions[i];
        double& queue = free[static_cast<unsigned>(action.queue)];
        double ns = action.ns;
        switch (action.kind) {
            case ActionKind::compute:
                line.compute_ns += ns;
                break;
            case ActionKind::recompute:
                line.recompute_ns += ns;
                break;
            case ActionKind::host_compute:
                line.host_ns += ns;
                break;
            case ActionKind::fetch:
                ns = times.to_device_ns(action.bytes) + times.setup_ns * (action.transfers - 1);
                line.to_device_bytes += action.bytes;
                break;
            case ActionKind::write_back:
                ns = times.to_host_ns(action.bytes) + times.setup_ns * (action.transfers - 1);
                line.to_host_bytes += action.bytes;
                break;
            case ActionKind::carry:
                ns = times.on_device_ns(action.bytes);
                line.carry_ns += ns;
                line.carried_bytes += action.bytes;
                break;
            case ActionKind::fault:
                line.fault_ns += ns;
                break;
            case ActionKind::manage:
                line.manage_ns += ns;
                break;
            case ActionKind::drop:
                ns = 0;
                break;
        }
        line.begin[i] = action.after == kNoAction ? queue : std::max(queue, line.end[action.after]);
        queue = line.end[i] = line.begin[i] + ns;
        line.ns = std::max(line.ns, queue);
        const bool copies = action.kind == ActionKind::fetch || action.kind == ActionKind::write_back;
        if (action.queue == Queue::compute && !copies) busy += ns;
    }
    line.waiting_ns = line.ns - busy;
    return line;
}

ProgramCheck check_program(const MemoryProgram& program, const TrainingStream& stream, const Timeline& timeline) {
    return Replay(program, stream, timeline).run();
}

std::uint64_t unlimited_hash(const TrainingStream& stream) {
    std::vector<std::uint64_t> content(stream.tensors.size());
    for (TensorId id = 0; id < stream.tensors.size(); ++id)
        if (!stream.tensors[id].is_view() && stream.tensors[id].producer == sched::kNoOperator)
            content[id] = first_content(id);
    for (std::uint32_t i = 0; i < stream.operators.size(); ++i)
        run_operator(stream, i, result_of(stream, i, [&](TensorId id) { return content[id]; }),
                     [&](TensorId id, std::uint64_t value) { content[id] = value; });
    return persistent_hash(stream, content);
}

}  // namespace switchyard::memory_managers
