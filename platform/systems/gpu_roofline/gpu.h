// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "switchyard/platform/systems/gpu_roofline/gpu_config.h"
#include "switchyard/sw_scheduler/workload/graph.h"
#include "switchyard/sw_scheduler/workload/route_provider.h"
#include "switchyard/sw_scheduler/workload/trace.h"

namespace switchyard::platform {

/// The baseline `gpu`: run_gpu_batch() for each batch, one after another. docs/baselines.md; nothing is simulated.
/// The report has the keys of docs/report_format.md that apply; its energy is the board's power times the run.
/// One batch at least. Throws InputError if the routing is not the graph's.
nlohmann::ordered_json run_gpu(const sched::DynGraph& graph, const std::vector<BatchRouting>& routing,
                               const sched::RoutingSource& source, const GpuConfig& gpu);

}  // namespace switchyard::platform
