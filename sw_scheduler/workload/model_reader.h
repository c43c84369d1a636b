// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/workload/graph.h"
#include "switchyard/sw_scheduler/workload/routing.h"

namespace switchyard::sched {

inline constexpr std::uint32_t kLargestBatch = 1u << 20;  ///< model inputs

struct Model {
    DynGraph graph;
    RoutingDeclaration routing;
};

/// Reads and checks a model file (docs/model_format.md). Throws InputError "file:line: key: message".
Model read_model(const std::string& path);

/// The batches that the file declares: those of its trace (at most `batches`), or `batches` generated ones. Throws
/// InputError if the trace does not match the model or the file declares no routing.
std::vector<BatchRouting> declared_routing(const Model& model, std::size_t batches);

}  // namespace switchyard::sched
