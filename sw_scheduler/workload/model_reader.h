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

}  // namespace switchyard::sched
