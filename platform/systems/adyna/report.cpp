// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/adyna/report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/platform/chip/platform_json.h"
#include "switchyard/platform/system/report_parts.h"
#include "switchyard/platform/systems/adyna/bounds.h"
#include "switchyard/platform/systems/adyna/conservation.h"
#include "switchyard/platform/systems/adyna/places.h"
#include "switchyard/platform/systems/adyna/stages/validated_domain.h"
#include "switchyard/sw_scheduler/adyna/compiler/compile.h"
#include "switchyard/sw_scheduler/base/files.h"

namespace switchyard::platform {

using nlohmann::ordered_json;

namespace {

constexpr double kNanosecondsToMicroseconds = 1e-3;
constexpr double kNanosecondsToSeconds = 1e-9;

/// Counters are whole numbers that are read as floating-point ones.
std::uint64_t whole(double count) {
    return static_cast<std::uint64_t>(count);
}

double nanoseconds(const sc_core::sc_time& time) {
    return time / sc_core::sc_time(1, sc_core::SC_NS);
}

/// Simulated times are multiples of the clock period, but for the host's memory.
std::uint64_t whole_cycles(const PlatformConfig& platform, const sc_core::sc_time& time) {
    return static_cast<std::uint64_t>(std::llround(platform.cycles(nanoseconds(time))));
}

/// The model behind every figure. What has one model only is named here, what has several in the platform file.
ordered_json fidelity_json(const PlatformConfig& p) {
    if (p.chip.impl == "stages")
        return {{"chip", "stages"},
                {"pe_array", p.pe_array.impl},
                {"scratchpad", "bytes"},
                {"dispatcher", p.dispatcher.impl},
                {"controller", "pipeline stages"},
                {"network_interface", "units"},
                {"noc", "link loads"},
                {"hbm", "interface bandwidth"},
                {"host_interface", "link_rate"},
                {"values", "timing only"}};
    return {{"chip", "tiles"},
            {"pe_array", p.pe_array_overrides.describe_all(p.pe_array.impl)},
            {"scratchpad", "ports"},
            {"dispatcher", p.dispatcher_overrides.describe_all(p.dispatcher.impl)},
            {"controller", "events"},
            {"network_interface", p.network_interface_overrides.describe_all(p.network_interface.impl)},
            {"noc", p.noc.impl == "packet" ? "link_calendar" : p.noc_overrides.describe_all(p.noc.impl)},
            {"hbm", p.hbm.impl},
            {"host_interface", "link_rate"},
            {"values", p.chip.functional ? "acc " + p.pe_array.acc + ", partial sums " + p.pe_array.partial_sums
                                         : "timing only"}};
}

/// Whether the chip's model was validated for such a run. Tiles are what it is validated against.
ordered_json validation_json(const PlatformConfig& p, const RunResult& result) {
    if (p.chip.impl != "stages") return {{"chip", "tiles"}};
    ordered_json figures = ordered_json::array(), outside = ordered_json::array();
    for (const DomainFigure& figure : domain_figures(p, result)) {
        figures.push_back({{"name", figure.name}, {"bound", figure.bound}, {"got", figure.got}});
        if (!figure.inside())
            outside.push_back(fmt::format("{} {:.3g}, validated up to {:g}", figure.name, figure.got, figure.bound));
    }
    return {{"chip", "stages"}, {"outside", outside}, {"figures", figures}};
}

ordered_json load_json(const PlatformConfig& p, const RunResult& result) {
    const SimulatedHost::Result& host = result.host;
    return {{"image_cycles", whole_cycles(p, host.image_loaded)},
            {"weight_cycles", whole_cycles(p, host.weights_loaded - host.image_loaded)},
            {"weight_bytes", host.weight_bytes},
            {"first_input_cycles", whole_cycles(p, host.batches.front().doorbell - host.weights_loaded)}};
}

ordered_json phases_json(const PlatformConfig& p, const RunResult& result) {
    ordered_json list = ordered_json::array();
    for (const SimulatedHost::Phase& phase : result.host.phases)
        list.push_back({{"first_batch", phase.first_batch * phase.image->meta.batches_in_flight},
                        {"reconfiguration_us", nanoseconds(phase.reconfiguration) * kNanosecondsToMicroseconds},
                        {"reconfiguration_cycles", whole_cycles(p, phase.reconfiguration)},
                        {"segments", phase.image->chip.segments.size()}});
    return list;
}

ordered_json batches_json(const PlatformConfig& p, const std::vector<Expectation>& expected, const RunResult& result) {
    ordered_json list = ordered_json::array();
    for (std::size_t b = 0; b < result.host.batches.size(); ++b) {
        const SimulatedHost::Batch& batch = result.host.batches[b];
        const std::uint64_t latency = whole_cycles(p, batch.interrupt - batch.doorbell);
        list.push_back(
            {{"batch", b},
             {"start_cycle", whole_cycles(p, batch.doorbell)},
             {"end_cycle", whole_cycles(p, batch.interrupt)},
             {"latency_cycles", latency},
             {"latency_us", nanoseconds(batch.interrupt - batch.doorbell) * kNanosecondsToMicroseconds},
             {"chip_cycles", batch.chip_cycles},
             {"macs", expected[b].macs},
             {"pe_utilisation", static_cast<double>(expected[b].macs) / (p.pes() * static_cast<double>(latency))}});
    }
    return list;
}

ordered_json summary_json(const PlatformConfig& p, const Image& image, const RunActivity& run,
                          const RunResult& result) {
    std::vector<double> latencies;
    for (const SimulatedHost::Batch& batch : result.host.batches)
        latencies.push_back(nanoseconds(batch.interrupt - batch.doorbell) * kNanosecondsToMicroseconds);
    double reconfigurations_us = 0;
    for (const SimulatedHost::Phase& phase : result.host.phases)
        reconfigurations_us += nanoseconds(phase.reconfiguration) * kNanosecondsToMicroseconds;
    const std::uint32_t together = image.meta.batches_in_flight;
    // A doorbell starts the batches together, and its interrupt ends them all.
    const double in_flight_us = together * std::accumulate(latencies.begin(), latencies.end(), 0.0);
    const auto batches = static_cast<double>(result.host.batches.size() * together);
    const double per_second = batches / (run.nanoseconds * kNanosecondsToSeconds);
    ordered_json batch_us =
        batch_time_json(latencies, reconfigurations_us, run.nanoseconds * kNanosecondsToMicroseconds, together);
    return {{"batches", result.host.batches.size() * together},
            {"samples_per_batch", image.meta.samples_of_batch()},
            {"run_cycles", whole_cycles(p, sc_core::sc_time(run.nanoseconds, sc_core::SC_NS))},
            {"run_us", run.nanoseconds * kNanosecondsToMicroseconds},
            {"latency_us", latency_json(latencies)},
            {"interval_us", 1e6 / per_second},
            {"mean_in_flight", in_flight_us / (run.nanoseconds * kNanosecondsToMicroseconds)},
            {"batch_us", std::move(batch_us)},
            {"batches_per_second", per_second},
            {"samples_per_second", per_second * image.meta.samples_of_batch()}};
}

ordered_json utilisation_json(const PlatformConfig& p, const RunActivity& run, const RunResult& result) {
    const Counters counters = result.after_run.since(result.before_run);
    const Counters pe = counters.of("pe_array"), noc = counters.of("torus"), hbm = counters.of("hbm");
    const double cycles = p.cycles(run.nanoseconds), tiles = p.tiles();
    const double links = result.after_run.of("torus").max("links");
    const double hbm_peak = p.hbm.interfaces() * p.hbm.peak_bytes_per_cycle();
    const auto share = [](double part, double whole) { return whole > 0 ? part / whole : 0; };
    return {{"pe", share(pe.sum("macs"), p.pes() * cycles)},
            {"pe_busy", share(pe.sum("busy_cycles"), tiles * cycles)},
            {"hbm", share(hbm.sum("read_bytes") + hbm.sum("write_bytes"), hbm_peak * cycles)},
            {"hbm_read_bytes", whole(hbm.sum("read_bytes"))},
            {"hbm_write_bytes", whole(hbm.sum("write_bytes"))},
            {"link_mean", share(noc.sum("link_busy_cycles"), links * cycles)},
            {"link_busiest", share(noc.max("max_link_busy_cycles"), cycles)},
            {"link_bytes", whole(noc.sum("link_bytes"))},
            {"scratchpad", share(counters.of("scratchpad").sum("busy_cycles"), tiles * cycles)},
            {"scratchpad_read_bytes", whole(run.chip.scratchpad_read_bytes)},
            {"scratchpad_write_bytes", whole(run.chip.scratchpad_write_bytes)}};
}

ordered_json counters_json(const RunResult& result) {
    ordered_json sums = ordered_json::object();
    for (const auto& [name, value] : result.after_run.since(result.before_run).totals()) sums[name] = value;
    return sums;
}

/// Per operator: samples that reached it, and how often each of its kernels was selected, over all of its tiles.
ordered_json operators_json(const Image& image, const std::vector<Expectation>& expected, const RunResult& result) {
    std::map<std::uint16_t, std::map<std::uint16_t, std::uint64_t>> selected;
    for (const SimulatedHost::Profile* profile : result.host.last_profiles())
        for (const auto& tile : profile->by_tile)
            for (const ProfileRecord& record : tile)
                selected[record.op_id][record.kernel_dyn_dim] += record.invocations;
    std::map<std::uint16_t, unsigned> tiles;
    for (const TileProgram& tile : image.tiles)
        for (const TileOperator& op : tile.operators) ++tiles[op.op_id];

    ordered_json list = ordered_json::array();
    for (std::size_t id = 0; id < image.meta.operators.size(); ++id) {
        const auto op_id = static_cast<std::uint16_t>(id);
        const ImageMeta::Operator& op = image.meta.operators[id];
        if (tiles[op_id] == 0) continue;
        std::uint64_t samples = 0;
        for (const Expectation& batch : expected) samples += batch.operator_samples[id];
        ordered_json kernels = ordered_json::array();
        for (const auto& [dyn_dim, invocations] : selected[op_id])
            if (invocations > 0) kernels.push_back({{"dyn_dim", dyn_dim}, {"invocations", invocations}});
        list.push_back({{"operator", op.name},
                        {"kind", op.kind},
                        {"segment", op.segment},
                        {"switch", op.switch_name},
                        {"tiles", tiles[op_id]},
                        {"samples_per_batch", static_cast<double>(samples) /
                                                  static_cast<double>(expected.size() * image.meta.batches_in_flight)},
                        {"macs", samples * op.macs_per_sample},
                        {"kernels", std::move(kernels)}});
    }
    return list;
}

}  // namespace

ordered_json make_report(const PlatformConfig& platform, const Image& image, const std::vector<BatchRouting>& routing,
                         const sched::RoutingSource& source, const RunResult& result) {
    std::vector<Expectation> expected;
    expected.reserve(routing.size());
    for (const BatchRouting& batch : routing) expected.push_back(expect(image, batch));
    const std::vector<Check> checks = check_conservation(platform, image, expected, result);
    const RunActivity run = run_activity(platform, result);

    ordered_json routes = {{"source", source.kind}};
    if (source.kind == "generator") routes["seed"] = source.seed;
    ordered_json report = {
        {"format", "switchyard-report"},
        {"version", 1},
        {"ok", std::all_of(checks.begin(), checks.end(), [](const Check& check) { return check.ok; })},
        {"model", image.meta.model},
        {"design", image.meta.design},
        {"without", image.meta.without},
        {"platform", platform_json(platform)},
        {"routing", routes},
        {"fidelity", fidelity_json(platform)},
        {"validation", validation_json(platform, result)},
        {"load", load_json(platform, result)},
        {"summary", summary_json(platform, image, run, result)},
        {"utilisation", utilisation_json(platform, run, result)},
        {"bounds", bounds_json(platform, result, platform.cycles(run.nanoseconds))},
        {"energy", energy_json(energy_of(platform.energy, run.chip).parts(), run.total_picojoules, run.nanoseconds,
                               result.host.batches.size() * image.meta.batches_in_flight)},
        {"phases", phases_json(platform, result)},
        {"batches", batches_json(platform, expected, result)},
        {"operators", operators_json(image, expected, result)},
        {"tiles", tiles_json(platform, result, platform.cycles(run.nanoseconds))},
        {"links", links_json(platform, result, platform.cycles(run.nanoseconds))},
        {"counters", counters_json(result)},
        {"conservation", checks_json(checks)}};
    if (image.meta.invocation != ImageMeta{}.invocation) report["invocation"] = image.meta.invocation;
    if (image.meta.batches_in_flight > 1) report["batches_in_flight"] = image.meta.batches_in_flight;
    if (image.meta.routing != ImageMeta{}.routing) report["sample_routing"] = image.meta.routing;
    if (image.meta.invocation != ImageMeta{}.invocation || image.meta.batches_in_flight > 1)
        report["switches"] = {{"all", image.meta.switches.size()}, {"on_chip", sched::switches_on_chip(image)}};
    return report;
}

ordered_json make_speed(const PlatformConfig& platform, const RunResult& result) {
    const double cycles = platform.cycles(result.end_ns);
    const auto batches = static_cast<double>(result.host.batches.size());
    return {{"format", "switchyard-speed"},
            {"version", 1},
            {"host_seconds", result.host_seconds},
            {"simulated_cycles", cycles},
            {"cycles_per_second", cycles / result.host_seconds},
            {"batches_per_second", batches / result.host_seconds}};
}

}  // namespace switchyard::platform
