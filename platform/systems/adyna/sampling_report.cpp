// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/adyna/sampling_report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/sw_scheduler/adyna/sampling/kernel_sampling.h"
#include "switchyard/sw_scheduler/adyna/sampling/resampling.h"

namespace switchyard::platform {

using nlohmann::ordered_json;

ordered_json sampling_json(const std::string& file, const std::string& name, const sched::OperatorProfile& profile,
                           unsigned kernels) {
    const sched::Distribution phi = sched::distribution_of(profile, profile.unit_samples);
    const auto set = [&phi](const sched::DynDims& values) {
        return ordered_json{{"expected_loss", sched::expected_loss(phi, values)}, {"dyn_dims", values}};
    };
    const auto sampled = [&](sched::Sampling how) {
        return set(sched::sample_dyn_dims(how, phi.largest(), kernels, profile));
    };
    ordered_json result = {{"format", "switchyard-sampling"},
                           {"version", 1},
                           {"profile", file},
                           {"operator", name},
                           {"counted_by", profile.by_kernel ? "kernel" : "dyn_dim"},
                           {"units", phi.total()},
                           {"unit_samples", phi.largest()},
                           {"mean_samples", phi.mean()},
                           {"kernels", kernels},
                           {"initial", sampled(sched::Sampling::uniform)},
                           {"sampled", sampled(sched::Sampling::profile)},
                           {"optimal", sampled(sched::Sampling::optimal)}};
    if (!profile.by_kernel) {
        const sched::DynDims even = sched::uniform_dyn_dims(phi.largest(), kernels);
        result["from_kernels"] =
            set(sched::resample_best(sched::selected_counts(phi, even), sched::usual_iterations(even.size())));
    }
    return result;
}

std::string sampling_table(const ordered_json& result) {
    std::string text =
        fmt::format("{}: {:g} micro-batches of {} samples, counted by {}; {:.2f} samples at the operator on average\n",
                    result.at("operator").get<std::string>(), result.at("units").get<double>(),
                    result.at("unit_samples").get<unsigned>(), result.at("counted_by").get<std::string>(),
                    result.at("mean_samples").get<double>());
    text += "  kernels        samples lost a unit   dyn_dims\n";
    for (const char* key : {"initial", "from_kernels", "sampled", "optimal"}) {
        if (!result.contains(key)) continue;
        const ordered_json& set = result.at(key);
        text += fmt::format("  {:<14} {:>19.3f}   {}\n", key, set.at("expected_loss").get<double>(),
                            fmt::join(set.at("dyn_dims").get<sched::DynDims>(), " "));
    }
    return text;
}

}  // namespace switchyard::platform
