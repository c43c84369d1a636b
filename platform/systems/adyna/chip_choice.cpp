// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/adyna/chip_choice.h"

#include <algorithm>
#include <string>

#include <nlohmann/json.hpp>

#include "switchyard/platform/system/process_pool.h"
#include "switchyard/sw_scheduler/base/json_text.h"

namespace switchyard::platform {

using nlohmann::ordered_json;

namespace {

PlatformConfig as(PlatformConfig platform, const char* impl) {
    platform.chip.impl = impl;
    return platform;
}

/// SystemC elaborates once a process. Throws WorkFailed.
ordered_json in_process(const PlatformConfig& platform, const ChipRun& run) {
    ordered_json documents;
    run_in_processes(
        1, 1, [&](std::size_t) { return json_text(run(platform)); },
        [&](std::size_t, const std::string& text, double) {
            documents = parse_ordered_json(text, "answer of a process");
        });
    return documents;
}

double mean_latency_us(const ordered_json& report, std::size_t batches) {
    double sum = 0;
    for (std::size_t i = 0; i < batches; ++i) sum += report.at("batches").at(i).at("latency_us").get<double>();
    return sum / static_cast<double>(batches);
}

}  // namespace

ordered_json run_on_chosen_chip(const PlatformConfig& platform, const ChipRun& run) {
    if (platform.chip.impl != "auto") return run(platform);
    ordered_json reasons;
    try {
        ordered_json documents = in_process(as(platform, "stages"), run);
        reasons = documents.at(kReport).at("validation").at("outside");
        if (reasons.empty()) return documents;
    } catch (const WorkFailed& failure) {
        reasons = {failure.what()};
    }
    ordered_json documents = run(as(platform, "tiles"));
    documents.at(kReport)["validation"] = {{"chip", "tiles"}, {"not_stages", std::move(reasons)}};
    return documents;
}

ordered_json report_of_tiles(const PlatformConfig& platform, const ChipRun& run) {
    return in_process(as(platform, "tiles"), run).at(kReport);
}

ordered_json spot_check(const ordered_json& report, const ordered_json& tiles) {
    if (report.at("validation").at("chip") != "stages") return nullptr;
    const std::size_t batches = std::min(tiles.at("batches").size(), report.at("batches").size());
    const double on_tiles = mean_latency_us(tiles, batches), on_stages = mean_latency_us(report, batches);
    return {{"batches", batches},
            {"tiles_latency_us", on_tiles},
            {"stages_latency_us", on_stages},
            {"difference", on_stages / on_tiles - 1}};
}

}  // namespace switchyard::platform
