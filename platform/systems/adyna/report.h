// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "switchyard/platform/systems/adyna/simulation.h"
#include "switchyard/sw_scheduler/workload/route_provider.h"

namespace switchyard::platform {

/// All that a run has to say, as docs/report_format.md describes it. Depends on the inputs only: the same inputs give
/// the same bytes. "ok" is false if a conservation check failed.
nlohmann::ordered_json make_report(const PlatformConfig& platform, const Image& image,
                                   const std::vector<BatchRouting>& routing, const sched::RoutingSource& source,
                                   const RunResult& result);

/// How quickly the simulation ran. Kept apart from the report because it differs from run to run.
nlohmann::ordered_json make_speed(const PlatformConfig& platform, const RunResult& result);

/// The report and the speed for people.
std::string report_table(const nlohmann::ordered_json& report);
std::string speed_line(const nlohmann::ordered_json& speed);

/// Of `validation`, what a reader of the figures has to know: why the chip is tiles although `chip.impl` is `auto`, why
/// stages are not validated for this run, what a spot check has shown.
std::string validation_rows(const nlohmann::ordered_json& validation);

}  // namespace switchyard::platform
