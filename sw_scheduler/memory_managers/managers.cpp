// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/memory_managers/managers.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/memory_managers/best_fit.h"

namespace switchyard::memory_managers {

using sched::TrainingOperator;
using sched::TrainingStream;
using sched::TrainingTensor;

namespace {

std::string full(const TrainingStream& stream, std::uint32_t index, std::uint64_t needed, std::uint64_t budget) {
    return fmt::format("operator {} ({}) needs {:.1f} MB of a budget of {:.1f} MB", index, stream.operators[index].name,
                       static_cast<double>(needed) * 1e-6, static_cast<double>(budget) * 1e-6);
}

Action compute_action(const TrainingStream& stream, std::uint32_t index) {
    Action action;
    action.op = index;
    action.ns = stream.operators[index].ns;
    return action;
}

Action storage_action(ActionKind kind, Queue queue, TensorId storage, std::uint64_t bytes, std::uint32_t op) {
    Action action;
    action.kind = kind;
    action.queue = queue;
    action.storage = storage;
    action.bytes = bytes;
    action.op = op;
    return action;
}

/// Bytes of the results that get storage of their own.
std::uint64_t result_bytes(const TrainingStream& stream, std::uint32_t index) {
    std::uint64_t bytes = 0;
    std::vector<TensorId> seen;
    for (const TensorId tensor : stream.operators[index].writes) {
        const TensorId id = stream.storage_of(tensor);
        if (stream.tensors[id].producer != index || std::find(seen.begin(), seen.end(), id) != seen.end()) continue;
        seen.push_back(id);
        bytes += stream.tensors[id].bytes;
    }
    return bytes;
}

/// Addresses of what is in device memory, where that is asked for.
class Addresses {
public:
    Addresses(const TrainingStream& stream, std::uint64_t budget, bool wanted)
        : stream_(stream), space_(budget), address_(wanted ? stream.tensors.size() : 0) {}

    void add(TensorId id) {
        if (address_.empty() || address_[id]) return;
        address_[id] = space_.allocate(stream_.tensors[id].bytes);
        failed_ = failed_ || !address_[id];
    }
    void remove(TensorId id) {
        if (address_.empty() || !address_[id]) return;
        space_.release(*address_[id]);
        address_[id].reset();
    }
    /// Results and workspace of an operator.
    void run(std::uint32_t index) {
        if (address_.empty()) return;
        for (const TensorId tensor : stream_.operators[index].writes) {
            const TensorId id = stream_.storage_of(tensor);
            if (stream_.tensors[id].producer == index) add(id);
        }
        const std::uint64_t workspace = stream_.operators[index].workspace_bytes;
        if (workspace == 0) return;
        const std::optional<std::uint64_t> address = space_.allocate(workspace);
        if (address) space_.release(*address);
        failed_ = failed_ || !address;
    }
    void report(std::uint32_t index, MemoryProgram& program) const {
        program.fragmented = space_.fragmented_failures();
        if (failed_ && program.out_of_memory.empty())
            program.out_of_memory = fmt::format("operator {} ({}): no gap of memory has room for its results", index,
                                                stream_.operators[index].name);
    }

private:
    const TrainingStream& stream_;
    BestFit space_;
    std::vector<std::optional<std::uint64_t>> address_;
    bool failed_ = false;
};

}  // namespace

MemoryProgram run_unmanaged(const TrainingStream& stream, std::uint64_t budget, bool fragmentation) {
    MemoryProgram program;
    program.capacity[0] = budget;
    std::uint64_t used = 0;
    Addresses addresses(stream, budget, fragmentation);
    for (TensorId id = 0; id < stream.tensors.size(); ++id) {
        const TrainingTensor& tensor = stream.tensors[id];
        if (tensor.is_view() || tensor.producer != sched::kNoOperator) continue;
        program.on_device.push_back(id);
        used += tensor.bytes;
        addresses.add(id);
    }
    for (std::uint32_t i = 0; i < stream.operators.size(); ++i) {
        used += result_bytes(stream, i);
        addresses.run(i);
        const std::uint64_t needed = used + stream.operators[i].workspace_bytes;
        program.peak_bytes = std::max(program.peak_bytes, needed);
        if (needed > budget && program.out_of_memory.empty()) program.out_of_memory = full(stream, i, needed, budget);
        addresses.report(i, program);
        program.actions.push_back(compute_action(stream, i));
        for (const TensorId id : stream.operators[i].released) {
            if (stream.tensors[id].is_view()) continue;
            used -= stream.tensors[id].bytes;
            addresses.remove(id);
            program.actions.push_back(
                storage_action(ActionKind::drop, Queue::compute, id, stream.tensors[id].bytes, i));
        }
    }
    return program;
}

namespace {

/// One step of ZeRO-Offload, operator by operator.
class ZeroOffloadStep {
public:
    ZeroOffloadStep(const TrainingStream& stream, std::uint64_t budget, const ZeroOffloadConfig& config)
        : stream_(stream),
          budget_(budget),
          config_(config),
          addresses_(stream, budget, config.fragmentation),
          there_(stream.tensors.size()),
          last_device_write_(stream.tensors.size(), sched::kNoOperator),
          written_back_(stream.tensors.size(), kNoAction) {
        program_.capacity[0] = budget;
        program_.persistent_on_host = true;
        for (std::uint32_t i = 0; i < stream.operators.size() && !by_host(i); ++i) {
            for (const auto* list :
                 {&stream.operators[i].writes, &stream.operators[i].in_place, &stream.operators[i].reads})
                for (const TensorId tensor : *list) last_device_write_[stream.storage_of(tensor)] = i;
        }
        for (TensorId id = 0; id < stream.tensors.size(); ++id) {
            const TrainingTensor& tensor = stream.tensors[id];
            if (tensor.is_view()) continue;
            if (tensor.kind == sched::TensorKind::parameter) program_.host_bytes += 4 * tensor.bytes;
            if (tensor.producer != sched::kNoOperator || tensor.kind == sched::TensorKind::optimiser_state) continue;
            program_.on_device.push_back(id);
            there_[id] = 1;
            used_ += tensor.bytes;
            addresses_.add(id);
        }
    }

    MemoryProgram run() {
        for (std::uint32_t i = 0; i < stream_.operators.size(); ++i) {
            if (by_host(i))
                run_on_host(i);
            else
                run_on_device(i);
        }
        return std::move(program_);
    }

private:
    bool by_host(std::uint32_t i) const { return stream_.operators[i].phase == sched::TrainingPhase::optimiser; }

    void drop(TensorId id, Queue queue, std::uint32_t op) {
        there_[id] = 0;
        used_ -= stream_.tensors[id].bytes;
        addresses_.remove(id);
        program_.actions.push_back(storage_action(ActionKind::drop, queue, id, stream_.tensors[id].bytes, op));
    }

    void run_on_host(std::uint32_t i) {
        const TrainingOperator& op = stream_.operators[i];
        Action action = compute_action(stream_, i);
        action.kind = ActionKind::host_compute;
        action.queue = Queue::host;
        std::uint64_t parameter_bytes = 0;
        for (const TensorId tensor : op.in_place)
            if (stream_.tensors[stream_.storage_of(tensor)].kind == sched::TensorKind::parameter)
                parameter_bytes += stream_.tensors[stream_.storage_of(tensor)].bytes;
        action.ns = 7 * static_cast<double>(parameter_bytes) / config_.host_gb_per_s;
        // The first one waits for all gradients: the norm is clipped, and an overflow is looked for.
        if (last_compute_ != kNoAction) {
            action.after = last_compute_;
            for (const std::uint32_t back : written_back_)
                if (back != kNoAction) action.after = std::max(action.after, back);
            last_compute_ = kNoAction;
        }
        program_.actions.push_back(action);
        const auto done = static_cast<std::uint32_t>(program_.actions.size() - 1);
        for (const TensorId tensor : op.in_place) {
            const TensorId id = stream_.storage_of(tensor);
            if (!there_[id]) continue;
            Action back = storage_action(ActionKind::fetch, Queue::copy, id, stream_.tensors[id].bytes, i);
            back.after = done;
            program_.actions.push_back(back);
        }
    }

    void run_on_device(std::uint32_t i) {
        const TrainingOperator& op = stream_.operators[i];
        used_ += result_bytes(stream_, i);
        for (const TensorId tensor : op.writes) there_[stream_.storage_of(tensor)] = 1;
        addresses_.run(i);
        const std::uint64_t needed = used_ + op.workspace_bytes;
        Action action = compute_action(stream_, i);
        for (; left_ < leaving_.size() && needed + leaving_bytes_ > budget_; ++left_) {
            action.after = leaving_[left_].first;
            leaving_bytes_ -= leaving_[left_].second;
        }
        program_.peak_bytes = std::max(program_.peak_bytes, needed + leaving_bytes_);
        if (needed > budget_ && program_.out_of_memory.empty())
            program_.out_of_memory = full(stream_, i, needed, budget_);
        addresses_.report(i, program_);
        program_.actions.push_back(action);
        last_compute_ = static_cast<std::uint32_t>(program_.actions.size() - 1);
        write_gradients_back(i);
        for (const TensorId id : op.released)
            if (!stream_.tensors[id].is_view() && there_[id]) drop(id, Queue::compute, i);
    }

    /// Those that the operator has written last.
    void write_gradients_back(std::uint32_t i) {
        for (const TensorId id : stream_.storages(i)) {
            if (stream_.tensors[id].kind != sched::TensorKind::gradient || last_device_write_[id] != i ||
                stream_.tensors[id].last_use == i || !there_[id])
                continue;
            Action back = storage_action(ActionKind::write_back, Queue::copy, id, stream_.tensors[id].bytes, i);
            back.after = last_compute_;
            program_.actions.push_back(back);
            written_back_[id] = static_cast<std::uint32_t>(program_.actions.size() - 1);
            drop(id, Queue::copy, i);
            leaving_.emplace_back(program_.actions.size() - 1, stream_.tensors[id].bytes);
            leaving_bytes_ += stream_.tensors[id].bytes;
        }
    }

    const TrainingStream& stream_;
    std::uint64_t budget_;
    ZeroOffloadConfig config_;
    MemoryProgram program_;
    Addresses addresses_;
    std::uint64_t used_ = 0;
    std::vector<std::uint8_t> there_;  ///< by tensor: on the device
    std::vector<std::uint32_t> last_device_write_, written_back_;
    /// Gradients that wait for the link are in device memory still: who needs their room waits for their copies.
    std::vector<std::pair<std::uint32_t, std::uint64_t>> leaving_;
    std::size_t left_ = 0;
    std::uint64_t leaving_bytes_ = 0;
    std::uint32_t last_compute_ = kNoAction;
};

}  // namespace

MemoryProgram run_zero_offload(const TrainingStream& stream, std::uint64_t budget, const ZeroOffloadConfig& config) {
    return ZeroOffloadStep(stream, budget, config).run();
}

}  // namespace switchyard::memory_managers
