// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/system/report_parts.h"

#include <algorithm>
#include <numeric>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/base/json_text.h"

namespace switchyard::platform {

using nlohmann::ordered_json;

ordered_json latency_json(const std::vector<double>& microseconds) {
    const auto [min, max] = std::minmax_element(microseconds.begin(), microseconds.end());
    const double sum = std::accumulate(microseconds.begin(), microseconds.end(), 0.0);
    return {{"min", *min}, {"mean", sum / static_cast<double>(microseconds.size())}, {"max", *max}};
}

ordered_json batch_time_json(const std::vector<double>& latency_us, double reconfigurations_us, double run_us,
                             std::uint32_t together) {
    const auto batches = static_cast<double>(latency_us.size() * together);
    const double sum_us = std::accumulate(latency_us.begin(), latency_us.end(), 0.0);
    return {{"chip", sum_us / batches},
            {"with_reconfiguration", (sum_us + reconfigurations_us) / batches},
            {"with_host", run_us / batches}};
}

ordered_json energy_json(const std::vector<Energy::Part>& parts, double total_picojoules, double nanoseconds,
                         std::size_t batches) {
    constexpr double kPicojoulesToMillijoules = 1e-9, kPicojoulesANanosecondToWatts = 1e-3;
    ordered_json by_part, watts;
    for (const Energy::Part& part : parts) {
        by_part[part.name] = part.picojoules * kPicojoulesToMillijoules;
        watts[part.name] = part.picojoules / nanoseconds * kPicojoulesANanosecondToWatts;
    }
    const double total = total_picojoules * kPicojoulesToMillijoules;
    return {{"parts_mj", by_part},
            {"total_mj", total},
            {"per_batch_mj", total / static_cast<double>(batches)},
            {"mean_power_w", total_picojoules / nanoseconds * kPicojoulesANanosecondToWatts},
            {"parts_w", watts}};
}

ordered_json checks_json(const std::vector<Check>& checks) {
    ordered_json list = ordered_json::array();
    for (const Check& check : checks) {
        list.push_back({{"name", check.name},
                        {"relation", check.relation == Check::Relation::equal ? "equal" : "at most"},
                        {"expected", check.expected},
                        {"got", check.got},
                        {"ok", check.ok}});
    }
    return list;
}

std::string report_row(const std::string& name, const std::string& value) {
    return fmt::format("  {:<22}{}\n", name, value);
}

std::string energy_rows(const ordered_json& energy) {
    const double total = number_of(energy.at("total_mj"));
    std::string text =
        report_row("energy", fmt::format("{:.4g} mJ, {:.4g} mJ a batch, {:.4g} W", total,
                                         number_of(energy.at("per_batch_mj")), number_of(energy.at("mean_power_w"))));
    for (const auto& [part, value] : energy.at("parts_mj").items())
        text +=
            fmt::format("    {:<24}{:>11.4g} mJ {:>6.2f} %\n", part, number_of(value), 100 * number_of(value) / total);
    return text;
}

std::string check_rows(const ordered_json& checks) {
    std::size_t held = 0;
    std::string failed;
    for (const ordered_json& check : checks) {
        if (check.at("ok").get<bool>()) {
            ++held;
        } else {
            failed +=
                fmt::format("    FAILED {}: wants {} {}, got {}\n", text_of(check.at("name")),
                            text_of(check.at("relation")), number_of(check.at("expected")), number_of(check.at("got")));
        }
    }
    return report_row("conservation", fmt::format("{} of {} checks hold", held, checks.size())) + failed;
}

std::string document_text(const ordered_json& document) {
    return json_text(document, 2) + "\n";
}

void write_json(const ordered_json& document, const std::string& path) {
    make_folder_of(path);
    write_file(document_text(document), path);
}

}  // namespace switchyard::platform
