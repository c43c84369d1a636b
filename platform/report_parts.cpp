// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/report_parts.h"

#include <algorithm>
#include <numeric>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace switchyard::platform {

using nlohmann::ordered_json;

ordered_json platform_json(const PlatformConfig& p) {
    return {{"name", p.chip.name},
            {"fingerprint", fmt::format("{:016x}", make_hardware_description(p).fingerprint())},
            {"columns", p.chip.columns},
            {"rows", p.chip.rows},
            {"pe_rows", p.pe_array.rows},
            {"pe_columns", p.pe_array.columns},
            {"clock_ghz", p.chip.clock_ghz},
            {"scratchpad_bytes", p.scratchpad.capacity_bytes},
            {"hbm_gb_per_s", p.hbm.interfaces() * p.hbm.peak_bytes_per_cycle() * p.chip.clock_ghz},
            {"link_bytes_per_cycle", p.noc.link_bytes_per_cycle}};
}

ordered_json latency_json(const std::vector<double>& microseconds) {
    const auto [min, max] = std::minmax_element(microseconds.begin(), microseconds.end());
    const double sum = std::accumulate(microseconds.begin(), microseconds.end(), 0.0);
    return {{"min", *min}, {"mean", sum / static_cast<double>(microseconds.size())}, {"max", *max}};
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

}  // namespace switchyard::platform
