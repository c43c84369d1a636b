// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/platform/system/report_parts.h"
#include "switchyard/platform/systems/adyna/report.h"

namespace switchyard::platform {

using nlohmann::ordered_json;

namespace {

std::string percent(const ordered_json& share) {
    return fmt::format("{:.2f} %", 100 * number_of(share));
}

std::string fidelity(const ordered_json& report) {
    std::string text;
    for (const auto& [component, model] : report.at("fidelity").items())
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", component, text_of(model));
    return text;
}

std::string kernel_rows(const ordered_json& operators) {
    std::string text = fmt::format("  {:<26}{:<13}{:>6}{:>10}  {}\n", "operator", "kind", "tiles", "samples",
                                   "kernels selected, dyn_dim:times");
    for (const ordered_json& op : operators) {
        std::string kernels;
        for (const ordered_json& kernel : op.at("kernels"))
            kernels += fmt::format("{}:{} ", kernel.at("dyn_dim").get<unsigned>(),
                                   kernel.at("invocations").get<std::uint64_t>());
        text += fmt::format("  {:<26}{:<13}{:>6}{:>10.2f}  {}\n", text_of(op.at("operator")), text_of(op.at("kind")),
                            op.at("tiles").get<unsigned>(), number_of(op.at("samples_per_batch")), kernels);
    }
    return text;
}

/// What bounds the run, and the shares of the tiles' time that are at least a thousandth.
std::string bounds_rows(const ordered_json& bounds) {
    constexpr double kShown = 1e-3;
    const auto list = [](const ordered_json& shares) {
        std::string text;
        for (const auto& [name, share] : shares.items())
            if (number_of(share) >= kShown)
                text += fmt::format("{}{} {:.1f} %", text.empty() ? "" : ", ", name, 100 * number_of(share));
        return text;
    };
    return report_row("tiles' time", list(bounds.at("chip"))) +
           report_row("bound", fmt::format("{}; waits followed to their causes: {}", text_of(bounds.at("bound")),
                                           list(bounds.at("causes"))));
}

}  // namespace

std::string validation_rows(const ordered_json& validation) {
    std::string text;
    if (validation.contains("not_stages"))
        for (const ordered_json& reason : validation.at("not_stages"))
            text += report_row("tiles, not stages", text_of(reason));
    if (validation.contains("outside"))
        for (const ordered_json& reason : validation.at("outside"))
            text += report_row("not validated here", text_of(reason));
    if (validation.contains("spot_check") && !validation.at("spot_check").is_null()) {
        const ordered_json& check = validation.at("spot_check");
        text +=
            report_row("spot check",
                       fmt::format("{} batches: {:.2f} us on stages, {:.2f} us on tiles: {:+.2f} %",
                                   check.at("batches").get<unsigned>(), number_of(check.at("stages_latency_us")),
                                   number_of(check.at("tiles_latency_us")), 100 * number_of(check.at("difference"))));
    }
    return text;
}

std::string report_table(const ordered_json& report) {
    const ordered_json& platform = report.at("platform");
    const ordered_json& summary = report.at("summary");
    const ordered_json& latency = summary.at("latency_us");
    const ordered_json& use = report.at("utilisation");
    const ordered_json& load = report.at("load");
    std::string text =
        fmt::format("{} on {} ({}x{} tiles of {}x{} PEs, {:g} GHz), design {}, {} batches of {} samples, routes: {}\n",
                    text_of(report.at("model")), text_of(platform.at("name")), platform.at("columns").get<unsigned>(),
                    platform.at("rows").get<unsigned>(), platform.at("pe_rows").get<unsigned>(),
                    platform.at("pe_columns").get<unsigned>(), number_of(platform.at("clock_ghz")),
                    text_of(report.at("design")), summary.at("batches").get<unsigned>(),
                    summary.at("samples_per_batch").get<unsigned>(), text_of(report.at("routing").at("source")));
    text += report_row("latency a batch",
                       fmt::format("{:.2f} us mean, {:.2f} min, {:.2f} max", number_of(latency.at("mean")),
                                   number_of(latency.at("min")), number_of(latency.at("max"))));
    if (const unsigned together = report.value("batches_in_flight", 1U); together > 1)
        text += report_row("in flight", fmt::format("{} batches from a doorbell to its interrupt, one every {:.2f} us",
                                                    together, number_of(summary.at("interval_us"))));
    text += report_row("throughput",
                       fmt::format("{:.1f} batches/s, {:.0f} samples/s", number_of(summary.at("batches_per_second")),
                                   number_of(summary.at("samples_per_second"))));
    text += report_row(
        "load",
        fmt::format("{} cycles for the image, {} for {} bytes of weights", load.at("image_cycles").get<std::uint64_t>(),
                    load.at("weight_cycles").get<std::uint64_t>(), load.at("weight_bytes").get<std::uint64_t>()));
    text += report_row("PE utilisation", percent(use.at("pe")) + " (arrays busy " + percent(use.at("pe_busy")) + ")");
    text += report_row("HBM bandwidth", percent(use.at("hbm")));
    text +=
        report_row("links", percent(use.at("link_mean")) + " mean, " + percent(use.at("link_busiest")) + " busiest");
    text += report_row("scratchpads", percent(use.at("scratchpad")) + " of the time");
    text += bounds_rows(report.at("bounds"));
    text += energy_rows(report.at("energy"));
    text += kernel_rows(report.at("operators"));
    text += report_row("models", fidelity(report));
    text += validation_rows(report.at("validation"));
    return text + check_rows(report.at("conservation"));
}

std::string speed_line(const ordered_json& speed) {
    return fmt::format("  simulated {:.0f} cycles in {:.3f} s: {:.4g} cycles/s, {:.4g} batches/s\n",
                       number_of(speed.at("simulated_cycles")), number_of(speed.at("host_seconds")),
                       number_of(speed.at("cycles_per_second")), number_of(speed.at("batches_per_second")));
}

}  // namespace switchyard::platform
