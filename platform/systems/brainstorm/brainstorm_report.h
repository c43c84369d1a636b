// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "switchyard/platform/systems/brainstorm/cluster.h"
#include "switchyard/sw_scheduler/brainstorm/routed_network.h"

namespace switchyard::platform::brainstorm {

/// The report of docs/report_format.md.
nlohmann::ordered_json brainstorm_report(const BrainstormConfig& config,
                                         const sched::brainstorm::RoutedNetwork& network, const std::string& design,
                                         const std::vector<sched::brainstorm::BatchProgram>& batches,
                                         const ClusterOutcome& outcome);

}  // namespace switchyard::platform::brainstorm
