// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/system/batch_report.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/platform/system/report_parts.h"

namespace switchyard::platform {

using nlohmann::ordered_json;

BatchClock::BatchClock(double input_us, double output_us, const std::vector<double>& latency_us) {
    double now = 0;
    for (std::size_t batch = 0; batch < latency_us.size(); ++batch) {
        start_us_.push_back(now);
        run_us_ = now + latency_us[batch];
        now = std::max(run_us_, now + (batch > 0 ? output_us : 0) + input_us);
    }
}

ordered_json batch_report(const sched::DynGraph& graph, const sched::RoutingSource& source, const BatchRun& run,
                          ordered_json platform, ordered_json fidelity, ordered_json energy,
                          const std::vector<Check>& checks) {
    const BatchClock clock(run.input_us, run.output_us, run.latency_us);
    const double run_us = clock.run_us(), per_second = static_cast<double>(run.latency_us.size()) / run_us * 1e6;
    double macs = 0;
    ordered_json batches = ordered_json::array();
    for (std::size_t batch = 0; batch < run.latency_us.size(); ++batch) {
        const auto useful = static_cast<double>(run.macs[batch]);
        macs += useful;
        batches.push_back({{"batch", batch},
                           {"start_us", clock.start_us(batch)},
                           {"latency_us", run.latency_us[batch]},
                           {"macs", run.macs[batch]},
                           {"pe_utilisation", useful / (run.peak_macs_per_us * run.latency_us[batch])}});
    }
    ordered_json routes = {{"source", source.kind}};
    if (source.kind == "generator") routes["seed"] = source.seed;
    return {{"format", "switchyard-report"},
            {"version", 1},
            {"ok", std::all_of(checks.begin(), checks.end(), [](const Check& check) { return check.ok; })},
            {"model", graph.name},
            {"design", run.design},
            {"platform", std::move(platform)},
            {"routing", std::move(routes)},
            {"fidelity", std::move(fidelity)},
            {"summary",
             {{"batches", run.latency_us.size()},
              {"samples_per_batch", graph.batch_samples()},
              {"run_us", run_us},
              {"latency_us", latency_json(run.latency_us)},
              {"batch_us", batch_time_json(run.latency_us, 0, run_us)},
              {"batches_per_second", per_second},
              {"samples_per_second", per_second * graph.batch_samples()}}},
            {"utilisation",
             {{"pe", macs / (run.peak_macs_per_us * run_us)},
              {"hbm", (run.hbm_read_bytes + run.hbm_written_bytes) / (run.peak_bytes_per_us * run_us)},
              {"hbm_read_bytes", run.hbm_read_bytes},
              {"hbm_write_bytes", run.hbm_written_bytes}}},
            {"energy", std::move(energy)},
            {"batches", std::move(batches)},
            {"conservation", checks_json(checks)}};
}

std::string batch_table(const ordered_json& report) {
    const ordered_json& summary = report.at("summary");
    const ordered_json& latency = summary.at("latency_us");
    const ordered_json& use = report.at("utilisation");
    std::string text = fmt::format(
        "{} on {}, design {}, {} batches of {} samples, routes: {}\n", report.at("model").get<std::string>(),
        report.at("platform").at("name").get<std::string>(), report.at("design").get<std::string>(),
        summary.at("batches").get<unsigned>(), summary.at("samples_per_batch").get<unsigned>(),
        report.at("routing").at("source").get<std::string>());
    text += report_row("latency a batch",
                       fmt::format("{:.2f} us mean, {:.2f} min, {:.2f} max", number_of(latency.at("mean")),
                                   number_of(latency.at("min")), number_of(latency.at("max"))));
    text += report_row("throughput",
                       fmt::format("{:.1f} batches/s, {:.0f} samples/s", number_of(summary.at("batches_per_second")),
                                   number_of(summary.at("samples_per_second"))));
    for (const auto& [name, part] : report.at("time_us_per_batch").items())
        text += fmt::format("    {:<24}{:>11.2f} us\n", name, number_of(part));
    for (const auto& [name, number] : report.at("events_per_batch").items())
        text += fmt::format("    {:<24}{:>11.2f}\n", name, number_of(number));
    text += report_row("PE utilisation", fmt::format("{:.2f} %", 100 * number_of(use.at("pe"))));
    text += report_row("HBM bandwidth", fmt::format("{:.2f} %", 100 * number_of(use.at("hbm"))));
    return text + energy_rows(report.at("energy")) + check_rows(report.at("conservation"));
}

}  // namespace switchyard::platform
