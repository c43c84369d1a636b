// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "switchyard/sw_scheduler/base/mapping_reader.h"

namespace switchyard::platform {

/// From batch `from_batch` on, routes come from the distribution in `routing`, a section `routing` of a model file.
struct RoutePhase {
    std::size_t from_batch = 0;
    sched::MappingReader routing;
};

/// One design on one network: everything that its result depends on.
struct DesignPoint {
    std::string network;                            ///< model file
    std::string design;                             ///< one of design_words()
    std::string platform;                           ///< platform file
    std::map<std::string, std::string> overrides;   ///< of the platform's keys, as `--set` has them
    std::map<std::string, std::string> parameters;  ///< of the design (docs/experiments.md)
    std::size_t batches = 40;
    std::uint32_t batch_inputs = 0;     ///< model inputs a batch; 0: the model's own number
    std::optional<std::uint64_t> seed;  ///< of all generators during the run; without effect on a trace
    std::string trace;                  ///< recorded routes in place of what the model declares; empty: the model's own
    /// In place of what the model declares, by increasing `from_batch`; what comes before the first is the model's own.
    std::vector<RoutePhase> phases;
};

/// Designs that run_point() knows.
std::vector<std::string> design_words();
/// Throws InputError, which lists the known ones, if the design or one of its parameters is unknown.
void check_design(const DesignPoint& point);

/// Compiles and simulates. Returns the report of docs/report_format.md, or of it what the design's model can say, at
/// least `summary`, `batches` and `fidelity`. Depends on the point and its files only.
///
/// At most once a process, like run_simulation(), whose exceptions it lets through. Throws InputError for whatever is
/// wrong with the files, an unknown design or parameter, a trace that is too short.
nlohmann::ordered_json run_point(const DesignPoint& point);

}  // namespace switchyard::platform
