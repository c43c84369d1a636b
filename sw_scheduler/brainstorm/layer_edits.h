// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/workload/layer_spec.h"

namespace switchyard::sched::brainstorm {

/// What programs do with layers that make networks from parts of another one.

[[noreturn]] inline void fail_at(const std::string& path, const LayerSpec& layer, const std::string& message) {
    throw InputError(path, layer.line, layer.key(), message);
}

/// The tensors that it takes.
inline std::vector<std::string> tensors_of(const LayerSpec& layer) {
    std::vector<std::string> tensors = layer.from;
    for (const std::string* other : {&layer.added, &layer.factor, &layer.gate})
        if (!other->empty()) tensors.push_back(*other);
    return tensors;
}

inline void rename_tensor(LayerSpec& layer, const std::string& from, const std::string& to) {
    for (std::string& tensor : layer.from)
        if (tensor == from) tensor = to;
    if (layer.added == from) layer.added = to;
    if (layer.factor == from) layer.factor = to;
}

inline LayerSpec layer_of(std::string name, LayerKind kind, std::string from) {
    LayerSpec layer;
    layer.name = std::move(name);
    layer.kind = kind;
    layer.from = {std::move(from)};
    return layer;
}

}  // namespace switchyard::sched::brainstorm
