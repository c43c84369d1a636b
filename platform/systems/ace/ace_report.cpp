// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/ace/ace_report.h"

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

#include "switchyard/platform/system/checks.h"
#include "switchyard/platform/system/report_parts.h"
#include "switchyard/platform/systems/ace/gpu_energy.h"

namespace switchyard::platform::ace {

using nlohmann::ordered_json;

namespace {

using ByClass = std::array<double, hw::kCtaClasses.size()>;

/// Shares by class of CTAs, without the class of none: "1 to 9", ..., "1000 and more". All 0 if there is nothing.
ordered_json shares_json(const ByClass& counts) {
    ordered_json json;
    const double sum = std::accumulate(counts.begin() + 1, counts.end(), 0.0);
    for (std::size_t i = 1; i < counts.size(); ++i) {
        const std::string name = i + 1 < counts.size()
                                     ? fmt::format("{} to {}", hw::kCtaClasses[i], hw::kCtaClasses[i + 1] - 1)
                                     : fmt::format("{} and more", hw::kCtaClasses[i]);
        json[name] = sum > 0 ? counts[i] / sum : 0;
    }
    return json;
}

ordered_json host_json(const AceOutcome& outcome) {
    sched::ace::RuntimeStats sum;
    for (const AceOutcome::Input& input : outcome.inputs) {
        sum.launches += input.host.launches;
        sum.event_records += input.host.event_records;
        sum.event_waits += input.host.event_waits;
        sum.synchronisations += input.host.synchronisations;
        sum.segment_pairs += input.host.segment_pairs;
        sum.check_us += input.host.check_us;
        sum.construction_us += input.host.construction_us;
    }
    return {{"launches", sum.launches},
            {"event_records", sum.event_records},
            {"event_waits", sum.event_waits},
            {"synchronisations", sum.synchronisations},
            {"segment_pairs", sum.segment_pairs},
            {"check_us", sum.check_us},
            {"construction_us", sum.construction_us}};
}

ordered_json kernels_json(const AceWork& work, const AceOutcome& outcome) {
    std::vector<std::uint64_t> ctas;
    ByClass classes{};
    for (const sched::GeneratedStream& input : work.inputs)
        for (const sched::GpuKernel& kernel : input.kernels) {
            ctas.push_back(kernel.ctas());
            ++classes[hw::cta_class(kernel.ctas())];
        }
    std::sort(ctas.begin(), ctas.end());
    const auto count = static_cast<double>(ctas.size());
    const auto share_below = [&](std::uint64_t limit) {
        return static_cast<double>(std::lower_bound(ctas.begin(), ctas.end(), limit) - ctas.begin()) / count;
    };
    const double sum = std::accumulate(ctas.begin(), ctas.end(), 0.0);
    double chain = 0;
    for (const AceOutcome::Input& input : outcome.inputs) chain += static_cast<double>(input.longest_chain);
    return {{"count", ctas.size()},
            {"of_an_input", count / static_cast<double>(work.inputs.size())},
            {"ctas", sum},
            {"mean_ctas", sum / count},
            {"median_ctas", ctas[ctas.size() / 2]},
            {"share_below_50_ctas", share_below(50)},
            {"share_below_200_ctas", share_below(200)},
            {"share_by_ctas", shares_json(classes)},
            {"longest_chain", chain},
            {"mean_parallelism", count / chain}};
}

ordered_json window_json(const hw::SchedulingWindow::Stats& stats) {
    ordered_json json = ordered_json::object();
    for (const auto& counter : hw::SchedulingWindow::kCounters) json[counter.name] = counter.read(stats);
    return json;
}

std::vector<Check> checks_of(const AceWork& work, const AceConfig& config, const std::string& design,
                             const AceOutcome& outcome) {
    double kernels = 0, ctas = 0;
    for (const sched::GeneratedStream& input : work.inputs)
        for (const sched::GpuKernel& kernel : input.kernels) {
            ++kernels;
            ctas += static_cast<double>(kernel.ctas());
        }
    Checks checks;
    checks.equal("kernels completed = kernels of the streams", kernels, static_cast<double>(outcome.completed_kernels));
    checks.equal("CTAs run = CTAs of the kernels", ctas, static_cast<double>(outcome.multiprocessors.ctas));
    if (design == "ace-hw") {
        checks.equal("kernels out of the window = kernels into it", static_cast<double>(outcome.window.inserted),
                     static_cast<double>(outcome.window.completed));
        checks.at_most("kernels in the window <= slots", config.window.slots,
                       static_cast<double>(outcome.window.max_kernels));
    }
    if (config.run.functional)
        for (std::size_t i = 0; i < outcome.inputs.size(); ++i)
            checks.equal(fmt::format("memory after input {} = memory after its kernels one by one", i), 1,
                         outcome.inputs[i].memory_as_serial ? 1 : 0);
    return checks.take();
}

}  // namespace

ordered_json ace_report(const AceWork& work, const AceConfig& config, const std::string& design,
                        const AceOutcome& outcome) {
    std::vector<double> us;
    for (const AceOutcome::Input& input : outcome.inputs) us.push_back(input.us);
    const double total_us = std::accumulate(us.begin(), us.end(), 0.0);
    const hw::Multiprocessors::Stats& stats = outcome.multiprocessors;
    const hw::MultiprocessorConfig& sm = config.gpu.gpu.multiprocessors;
    const ordered_json kernels = kernels_json(work, outcome), host = host_json(outcome);
    const std::vector<Check> held = checks_of(work, config, design, outcome);

    GpuActivity activity;
    activity.ns = total_us * 1e3;
    activity.active_multiprocessor_ns = stats.busy_ns;
    activity.memory_bytes = stats.memory_bytes;
    for (const sched::GeneratedStream& input : work.inputs)
        for (const sched::GpuKernel& kernel : input.kernels)
            activity.flops += static_cast<double>(kernel.work.flops + kernel.work.tensor_flops);
    const std::vector<Energy::Part> energy = gpu_energy(config.energy, config.gpu, activity);
    double picojoules = 0;
    for (const Energy::Part& part : energy) picojoules += part.picojoules;

    ordered_json batches = ordered_json::array();
    for (std::size_t i = 0; i < us.size(); ++i)
        batches.push_back({{"batch", i}, {"latency_us", us[i]}, {"kernels", work.inputs[i].kernels.size()}});
    ordered_json report{{"format", "switchyard-report"},
                        {"version", 1},
                        {"ok", std::all_of(held.begin(), held.end(), [](const Check& check) { return check.ok; })},
                        {"model", work.model.name},
                        {"design", design},
                        {"fidelity", {{"gpu", config.gpu.gpu.impl}, {"scheduling_window", config.window.impl}}},
                        {"gpu", config.gpu.gpu.name},
                        {"summary",
                         {{"batches", us.size()},
                          {"latency_us", latency_json(us)},
                          {"kernels_per_ms", kernels.at("count").get<double>() / total_us * 1e3},
                          {"occupancy", stats.busy_ns > 0 ? stats.warp_ns / (stats.busy_ns * sm.max_warps) : 0},
                          {"occupancy_of_all_cycles", stats.warp_ns * 1e-3 / (total_us * sm.count * sm.max_warps)},
                          {"busy_share", stats.busy_ns * 1e-3 / (total_us * sm.count)},
                          {"mean_running_kernels", outcome.kernel_us / total_us},
                          {"construction_share", host.at("construction_us").get<double>() / total_us},
                          {"check_share", host.at("check_us").get<double>() / total_us}}},
                        {"kernels", kernels},
                        {"resident_ctas", {{"share_of_time", shares_json(stats.resident_ns)}}},
                        {"host", host},
                        {"energy", energy_json(energy, picojoules, activity.ns, us.size())}};
    if (design == "ace-hw") report["scheduling_window"] = window_json(outcome.window);
    report["batches"] = batches;
    report["conservation"] = checks_json(held);
    return report;
}

}  // namespace switchyard::platform::ace
