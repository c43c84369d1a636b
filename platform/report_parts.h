// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "switchyard/platform/conservation.h"
#include "switchyard/platform/platform_config.h"
#include "switchyard/platform/system/energy.h"

namespace switchyard::platform {

/// Parts of docs/report_format.md that reports of simulated chips and of baselines have in common.

/// `platform` of a chip of tiles.
nlohmann::ordered_json platform_json(const PlatformConfig& platform);

/// `summary.latency_us` of at least one batch: min, mean, max.
nlohmann::ordered_json latency_json(const std::vector<double>& microseconds);

/// `energy` of a run of N nanoseconds and batches.
nlohmann::ordered_json energy_json(const std::vector<Energy::Part>& parts, double total_picojoules, double nanoseconds,
                                   std::size_t batches);

/// `conservation`.
nlohmann::ordered_json checks_json(const std::vector<Check>& checks);

/// A value of a report; throws nlohmann's type_error if it is none of these.
inline std::string text_of(const nlohmann::ordered_json& value) {
    return value.get<std::string>();
}
inline double number_of(const nlohmann::ordered_json& value) {
    return value.get<double>();
}

/// Lines of the table for people: one of `name` and `value`; `energy` by part; `conservation`, with the checks that
/// failed.
std::string report_row(const std::string& name, const std::string& value);
std::string energy_rows(const nlohmann::ordered_json& energy);
std::string check_rows(const nlohmann::ordered_json& checks);
/// Of `validation`, what a reader of the figures has to know: why the chip is tiles although `chip.impl` is `auto`, why
/// stages are not validated for this run, what a spot check has shown.
std::string validation_rows(const nlohmann::ordered_json& validation);

}  // namespace switchyard::platform
