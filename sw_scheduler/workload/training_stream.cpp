// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/workload/training_stream.h"

#include <algorithm>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::sched {

namespace {

template <class F>
void for_operands(const TrainingOperator& op, const F& visit) {
    for (const TensorId tensor : op.reads) visit(tensor);
    for (const TensorId tensor : op.in_place) visit(tensor);
    for (const TensorId tensor : op.writes) visit(tensor);
}

}  // namespace

const char* to_string(TensorKind kind) {
    constexpr const char* kNames[] = {"parameter", "gradient", "optimiser_state", "activation", "input"};
    return kNames[static_cast<unsigned>(kind)];
}

const char* to_string(TrainingPhase phase) {
    constexpr const char* kNames[] = {"forward", "backward", "optimiser"};
    return kNames[static_cast<unsigned>(phase)];
}

double TrainingStream::total_ns() const {
    double sum = 0;
    for (const TrainingOperator& op : operators) sum += op.ns;
    return sum;
}

std::uint64_t TrainingStream::persistent_bytes() const {
    std::uint64_t sum = 0;
    for (const TrainingTensor& tensor : tensors)
        if (tensor.persistent()) sum += tensor.bytes;
    return sum;
}

std::uint64_t TrainingStream::total_bytes() const {
    std::uint64_t sum = 0;
    for (const TrainingTensor& tensor : tensors) sum += tensor.bytes;
    return sum;
}

std::uint64_t TrainingStream::peak_bytes() const {
    std::uint64_t alive = 0, peak = 0;
    for (const TrainingTensor& tensor : tensors)
        if (!tensor.is_view() && tensor.producer == kNoOperator) alive += tensor.bytes;
    peak = alive;
    for (std::uint32_t i = 0; i < operators.size(); ++i) {
        const TrainingOperator& op = operators[i];
        for (const TensorId tensor : op.writes)
            if (tensors[storage_of(tensor)].producer == i && !tensors[tensor].is_view()) alive += tensors[tensor].bytes;
        peak = std::max(peak, alive + op.workspace_bytes);
        for (const TensorId tensor : op.released)
            if (!tensors[tensor].is_view()) alive -= tensors[tensor].bytes;
    }
    return peak;
}

std::vector<TensorId> TrainingStream::storages(std::uint32_t index) const {
    std::vector<TensorId> found;
    for_operands(operators[index], [&](TensorId tensor) { found.push_back(storage_of(tensor)); });
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

void finish_lifetimes(TrainingStream& stream, bool release_at_last_use) {
    std::vector<TrainingTensor>& tensors = stream.tensors;
    for (TrainingTensor& tensor : tensors)
        tensor.producer = tensor.first_use = tensor.last_use = tensor.released_after = kNoOperator;
    const auto use = [](TrainingTensor& tensor, std::uint32_t index) {
        if (tensor.first_use == kNoOperator) tensor.first_use = index;
        tensor.last_use = index;
    };
    for (std::uint32_t i = 0; i < stream.operators.size(); ++i) {
        const TrainingOperator& op = stream.operators[i];
        for_operands(op, [&](TensorId tensor) {
            use(tensors[tensor], i);
            if (tensors[tensor].is_view()) use(tensors[stream.storage_of(tensor)], i);
        });
        for (const TensorId tensor : op.writes)
            if (tensors[tensor].producer == kNoOperator) tensors[tensor].producer = i;
    }
    if (release_at_last_use) {
        for (TrainingOperator& op : stream.operators) op.released.clear();
        for (TensorId id = 0; id < tensors.size(); ++id) {
            const TrainingTensor& tensor = tensors[id];
            if (!tensor.is_view() && !tensor.persistent() && tensor.last_use != kNoOperator)
                stream.operators[tensor.last_use].released.push_back(id);
        }
    }
    for (std::uint32_t i = 0; i < stream.operators.size(); ++i)
        for (const TensorId tensor : stream.operators[i].released) tensors[tensor].released_after = i;
    for (TrainingTensor& tensor : tensors)
        if (tensor.is_view()) tensor.released_after = tensors[tensor.alias_of].released_after;
}

void check_stream(const TrainingStream& stream) {
    std::vector<std::uint8_t> written(stream.tensors.size()), released(stream.tensors.size());
    std::uint32_t index = 0;
    const auto fail = [&](const std::string& message) {
        throw InputError(stream.file.empty() ? stream.network : stream.file, 0, "",
                         fmt::format("operator {} ({}): {}", index,
                                     index < stream.operators.size() ? stream.operators[index].name : "-", message));
    };
    const auto check_id = [&](TensorId id) {
        if (id >= stream.tensors.size())
            fail(fmt::format("expected a tensor below {}, found {}", stream.tensors.size(), id));
    };
    const auto shown = [&](TensorId id) { return fmt::format("tensor {} ({})", id, stream.tensors[id].name); };
    for (const TrainingTensor& tensor : stream.tensors) {
        if (!tensor.is_view()) continue;
        check_id(tensor.alias_of);
        if (stream.tensors[tensor.alias_of].is_view())
            fail(fmt::format("expected {} to be a view of a storage, found it is one of the view {}", tensor.name,
                             stream.tensors[tensor.alias_of].name));
        if (tensor.bytes != 0)
            fail(fmt::format("expected 0 bytes of the view {}, found {}", tensor.name, tensor.bytes));
    }
    for (; index < stream.operators.size(); ++index) {
        const TrainingOperator& op = stream.operators[index];
        for_operands(op, [&](TensorId id) {
            check_id(id);
            if (released[stream.storage_of(id)]) fail("expected tensors in memory, found " + shown(id) + " released");
        });
        const auto read = [&](TensorId id) {
            const TensorId storage = stream.storage_of(id);
            if (stream.tensors[storage].producer != kNoOperator && !written[storage])
                fail("expected written tensors, found " + shown(id) + " read before it is written");
        };
        for (const TensorId id : op.reads) read(id);
        for (const TensorId id : op.in_place) read(id);
        for (const TensorId id : op.writes) {
            if (written[id]) fail("expected one write of a tensor, found a second of " + shown(id));
            written[id] = written[stream.storage_of(id)] = 1;
        }
        for (const TensorId id : op.released) {
            check_id(id);
            if (stream.tensors[id].persistent())
                fail("expected no release of a tensor that outlasts the step, found one of " + shown(id));
            if (released[id]) fail("expected one release of a tensor, found a second of " + shown(id));
            released[id] = 1;
        }
    }
}

}  // namespace switchyard::sched
