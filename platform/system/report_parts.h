// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "switchyard/platform/system/checks.h"
#include "switchyard/platform/system/energy.h"

namespace switchyard::platform {

/// Parts of docs/report_format.md that the reports of all systems have in common.

/// `summary.latency_us` of at least one batch: min, mean, max.
nlohmann::ordered_json latency_json(const std::vector<double>& microseconds);

/// `summary.batch_us`, what a batch takes for its user: latency on the chip alone; with re-configurations between
/// batches; from the first batch's begin to the last one's end, so that the host's transfers are in it as well.
/// `latency_us`: of each batch, or of each `together` batches that a doorbell starts, one at least; the others in
/// microseconds, of the whole run.
nlohmann::ordered_json batch_time_json(const std::vector<double>& latency_us, double reconfigurations_us, double run_us,
                                       std::uint32_t together = 1);

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

/// A document as files have it, and write_file() of it, into a folder that need not exist.
std::string document_text(const nlohmann::ordered_json& document);
void write_json(const nlohmann::ordered_json& document, const std::string& path);

}  // namespace switchyard::platform
