// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "switchyard/platform/chip/platform_config.h"
#include "switchyard/platform/systems/m_tenant/tenant_config.h"
#include "switchyard/sw_scheduler/workload/graph.h"
#include "switchyard/sw_scheduler/workload/route_provider.h"
#include "switchyard/sw_scheduler/workload/trace.h"

namespace switchyard::platform {

/// The baseline `m-tenant`: the chip of the platform file, run like Planaria (Ghodrati et al., MICRO 2020; Adyna,
/// section VIII): operators are tenants on tile groups that are shared out anew whenever one comes or goes, all tensors
/// travel through HBM, switches and merges are done by the host. A formula, or a simulation (TenantConfig::impl), which
/// a process has one of. docs/baselines.md.
///
/// The report has the keys of docs/report_format.md that apply; its energy is counted with the platform's parameters.
/// One batch at least. Throws InputError if the routing is not the graph's or an operator does not fit.
nlohmann::ordered_json run_m_tenant(const sched::DynGraph& graph, const std::vector<BatchRouting>& routing,
                                    const sched::RoutingSource& source, const PlatformConfig& platform,
                                    const TenantConfig& config);

}  // namespace switchyard::platform
