// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/apps/baseline_command.h"

#include <map>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "switchyard/platform/apps/number_options.h"
#include "switchyard/platform/baselines/baseline_report.h"
#include "switchyard/platform/baselines/gpu.h"
#include "switchyard/platform/baselines/m_tenant.h"
#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::platform {

namespace {

constexpr std::size_t kGeneratedBatches = 40;
constexpr int kFailedCheck = 1;

void refuse_left_over(const std::map<std::string, std::string>& overrides) {
    if (!overrides.empty()) throw InputError("--set", 0, overrides.begin()->first, "unknown key");
}

}  // namespace

std::vector<BatchRouting> routes_of(const sched::Model& model, const std::string& trace, std::size_t batches,
                                    const std::optional<std::uint64_t>& seed, RoutingSource& source) {
    const std::string& file = trace.empty() ? model.routing.trace : trace;
    const std::uint32_t samples = model.graph.batch_samples();
    if (!file.empty()) {
        source.kind = "trace";
        std::vector<BatchRouting> recorded = read_trace(file, model.graph.signatures(), samples, batches);
        if (recorded.size() < batches)
            throw InputError(file, 0, "--batches",
                             fmt::format("the trace has {} batches, not {}", recorded.size(), batches));
        return recorded;
    }
    const std::size_t count = batches == 0 ? kGeneratedBatches : batches;
    if (model.graph.switches.empty()) {
        source.kind = "none";
        return std::vector<BatchRouting>(count, BatchRouting{samples, {}});
    }
    sched::Model seeded = model;
    if (seeded.routing.distribution) {
        if (seed) seeded.routing.distribution->seed = *seed;
        source = {"generator", seeded.routing.distribution->seed};
    }
    return sched::declared_routing(seeded, count);
}

void BaselineCommand::add_to(CLI::App& app) {
    app.add_option("name", name, "gpu or m-tenant; keys prints docs/baseline_keys.md")
        ->required()
        ->check(CLI::IsMember({kGpuBaseline, kTenantBaseline, "keys"}));
    app.add_option("model", model, "model file");
    app.add_option("--platform", platform.file, "gpu: its file; m-tenant: the chip's platform file");
    app.add_option("--tenant", tenant, "m-tenant: file with its own keys; default: theirs");
    app.add_option("--set", platform.settings, "override a key: section.key=value")
        ->allow_extra_args(false)
        ->type_name("KEY=VALUE");
    app.add_option("--trace", trace, "recorded routes (JSON Lines); otherwise what the model file declares");
    app.add_option("--batches", batches, "batches to run; default: all of the trace, or 40")
        ->check(whole_number(1, kMaxBatches));
    app.add_option("--seed", seed, "seed of the route generator; without effect on a trace")->check(whole_number(0));
    app.add_option("--report", report, "folder for report.json");
}

int BaselineCommand::run() const {
    if (name == "keys") {
        fmt::print("{}", baseline_keys_markdown());
        return 0;
    }
    if (model.empty()) throw InputError("baseline", 0, name, "wants a model file");
    if (platform.file.empty()) throw InputError("baseline", 0, "--platform", "is required");
    std::map<std::string, std::string> overrides = parse_overrides(platform.settings);
    const sched::Model network = sched::read_model(model);
    RoutingSource source;
    nlohmann::ordered_json document;
    if (name == kGpuBaseline) {
        if (!tenant.empty()) throw InputError("baseline", 0, "--tenant", "is for m-tenant");
        const GpuConfig gpu = read_gpu_config(platform.file, overrides);
        refuse_left_over(overrides);
        document = run_gpu(network.graph, routes_of(network, trace, batches, seed, source), source, gpu);
    } else {
        const TenantConfig config = read_tenant_config(tenant, overrides);
        const PlatformConfig chip = read_platform(platform.file, overrides);
        document = run_m_tenant(network.graph, routes_of(network, trace, batches, seed, source), source, chip, config);
    }
    if (!report.empty()) write_json(document, report + "/report.json");
    fmt::print("{}", baseline_table(document));
    return document.at("ok").get<bool>() ? 0 : kFailedCheck;
}

}  // namespace switchyard::platform
