// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "switchyard/platform/simulation.h"

namespace switchyard::platform {

/// Where the run's routes come from.
struct RoutingSource {
    std::string kind;        ///< "trace", "generator" or "none" (the model has no switch)
    std::uint64_t seed = 0;  ///< generator
};

/// All that a run has to say, as docs/report_format.md describes it. Depends on the inputs only: the same inputs give
/// the same bytes. "ok" is false if a conservation check failed.
nlohmann::ordered_json make_report(const PlatformConfig& platform, const Image& image,
                                   const std::vector<BatchRouting>& routing, const RoutingSource& source,
                                   const RunResult& result);

/// How quickly the simulation ran. Kept apart from the report because it differs from run to run.
nlohmann::ordered_json make_speed(const PlatformConfig& platform, const RunResult& result);

/// The report and the speed for people.
std::string report_table(const nlohmann::ordered_json& report);
std::string speed_line(const nlohmann::ordered_json& speed);

/// A document as files have it, and write_file() of it, into a folder that need not exist.
std::string json_text(const nlohmann::ordered_json& document);
void write_json(const nlohmann::ordered_json& document, const std::string& path);

}  // namespace switchyard::platform
