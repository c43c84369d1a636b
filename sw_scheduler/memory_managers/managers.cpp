// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/memory_managers/managers.h"

#include <algorithm>
#include <optional>

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

MemoryProgram run_zero_offload(const TrainingStream& stream, std::uint64_t budget, const ZeroOffloadConfig& config) {
    MemoryProgram program;
    program.capacity[0] = budget;
    program.persistent_on_host = true;
    std::uint64_t used = 0;
    Addresses addresses(stream, budget, config.fragmentation);
    std::vector<std::uint8_t> there(stream.tensors.size());
    std::vector<std::uint32_t> last_device_write(stream.tensors.size(), sched::kNoOperator),
        written_back(stream.tensors.size(), kNoAction);
    const auto by_host = [&](std::uint32_t i) { return stream.operators[i].phase == sched::TrainingPhase::optimiser; };
    for (std::uint32_t i = 0; i < stream.operators.size() && !by_host(i); ++i) {
        for (const auto* list :
             {&stream.operators[i].writes, &stream.operators[i].in_place, &stream.operators[i].reads})
            for (const TensorId tensor : *list) last_device_write[stream.storage_of(tensor)] = i;
    }
    for (TensorId id = 0; id < stream.tensors.size(); ++id) {
        const TrainingTensor& tensor = stream.tensors[id];
        if (tensor.is_view()) continue;
        if (tensor.kind == sched::TensorKind::parameter) program.host_bytes += 4 * tensor.bytes;
        if (tensor.producer != sched::kNoOperator || tensor.kind == sched::TensorKind::optimiser_state) continue;
        program.on_device.push_back(id);
        there[id] = 1;
        used += tensor.bytes;
        addresses.add(id);
    }
    const auto drop = [&](TensorId id, Queue queue, std::uint32_t op) {
        there[id] = 0;
        used -= stream.tensors[id].bytes;
        addresses.remove(id);
        program.actions.push_back(storage_action(ActionKind::drop, queue, id, stream.tensors[id].bytes, op));
    };
    // Gradients that wait for the link are in device memory still: who needs their room waits for their copies.
    std::vector<std::pair<std::uint32_t, std::uint64_t>> leaving;
    std::size_t left = 0;
    std::uint64_t leaving_bytes = 0;
    std::uint32_t last_compute = kNoAction;
    for (std::uint32_t i = 0; i < stream.operators.size(); ++i) {
        const TrainingOperator& op = stream.operators[i];
        if (by_host(i)) {
            // The first one waits for all gradients: the norm is clipped, and an overflow is looked for.
            Action action = compute_action(stream, i);
            action.kind = ActionKind::host_compute;
            action.queue = Queue::host;
            std::uint64_t parameter_bytes = 0;
            for (const TensorId tensor : op.in_place)
                if (stream.tensors[stream.storage_of(tensor)].kind == sched::TensorKind::parameter)
                    parameter_bytes += stream.tensors[stream.storage_of(tensor)].bytes;
            action.ns = 7 * static_cast<double>(parameter_bytes) / config.host_gb_per_s;
            if (last_compute != kNoAction) {
                action.after = last_compute;
                for (const std::uint32_t back : written_back)
                    if (back != kNoAction) action.after = std::max(action.after, back);
                last_compute = kNoAction;
            }
            program.actions.push_back(action);
            const auto done = static_cast<std::uint32_t>(program.actions.size() - 1);
            for (const TensorId tensor : op.in_place) {
                const TensorId id = stream.storage_of(tensor);
                if (!there[id]) continue;
                Action back = storage_action(ActionKind::fetch, Queue::copy, id, stream.tensors[id].bytes, i);
                back.after = done;
                program.actions.push_back(back);
            }
            continue;
        }
        used += result_bytes(stream, i);
        for (const TensorId tensor : op.writes) there[stream.storage_of(tensor)] = 1;
        addresses.run(i);
        const std::uint64_t needed = used + op.workspace_bytes;
        Action action = compute_action(stream, i);
        for (; left < leaving.size() && needed + leaving_bytes > budget; ++left) {
            action.after = leaving[left].first;
            leaving_bytes -= leaving[left].second;
        }
        program.peak_bytes = std::max(program.peak_bytes, needed + leaving_bytes);
        if (needed > budget && program.out_of_memory.empty()) program.out_of_memory = full(stream, i, needed, budget);
        addresses.report(i, program);
        program.actions.push_back(action);
        last_compute = static_cast<std::uint32_t>(program.actions.size() - 1);
        for (const TensorId id : stream.storages(i)) {
            if (stream.tensors[id].kind != sched::TensorKind::gradient || last_device_write[id] != i ||
                stream.tensors[id].last_use == i || !there[id])
                continue;
            Action back = storage_action(ActionKind::write_back, Queue::copy, id, stream.tensors[id].bytes, i);
            back.after = last_compute;
            program.actions.push_back(back);
            written_back[id] = static_cast<std::uint32_t>(program.actions.size() - 1);
            drop(id, Queue::copy, i);
            leaving.emplace_back(program.actions.size() - 1, stream.tensors[id].bytes);
            leaving_bytes += stream.tensors[id].bytes;
        }
        for (const TensorId id : op.released)
            if (!stream.tensors[id].is_view() && there[id]) drop(id, Queue::compute, i);
    }
    return program;
}

}  // namespace switchyard::memory_managers
