// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/experiment/design_run.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <boost/algorithm/string.hpp>
#include <boost/lexical_cast/try_lexical_convert.hpp>
#include <nlohmann/json.hpp>

#include "switchyard/platform/baselines/gpu.h"
#include "switchyard/platform/baselines/m_tenant.h"
#include "switchyard/platform/chip_choice.h"
#include "switchyard/platform/expectation.h"
#include "switchyard/platform/network_image.h"
#include "switchyard/platform/report.h"
#include "switchyard/platform/rescheduler.h"
#include "switchyard/platform/simulation.h"
#include "switchyard/sw_scheduler/adyna/compiler/design.h"
#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::platform {

using nlohmann::ordered_json;

namespace {

constexpr const char* kFile = "file";

/// A point whose files have been read.
struct PreparedPoint {
    const DesignPoint& point;
    sched::Model model;
    PlatformConfig platform;
    std::vector<BatchRouting> routing;
    RoutingSource source;

    std::string parameter(const std::string& key) const {
        const auto found = point.parameters.find(key);
        return found == point.parameters.end() ? "" : found->second;
    }
    /// 0 if the parameter is not there. Throws InputError unless it is a number from 1 on.
    std::uint32_t number(const std::string& key, const char* wanted) const {
        const std::string text = parameter(key);
        std::uint32_t value = 0;
        if (text.empty()) return 0;
        if (!boost::conversion::try_lexical_convert(text, value) || value == 0)
            throw InputError(fmt::format("design {}: {}: wants {}, not {}", point.design, key, wanted, text));
        return value;
    }
};

/// Compiled for the chip, loaded into it and run.
ordered_json run_on_chip(const PreparedPoint& prepared) {
    NetworkImageOptions options;
    options.design = prepared.point.design;
    options.sampling = prepared.parameter("sampling");
    const std::string without = prepared.parameter("without");
    if (!without.empty()) boost::split(options.without, without, boost::is_space(), boost::token_compress_on);
    options.unit_samples = prepared.number("unit_samples", "a number of samples");
    const std::vector<std::uint8_t> bytes = encode(compile_network(prepared.model, prepared.platform, options));
    const Image image = decode_image_for(prepared.platform, bytes, prepared.point.network);
    std::vector<BatchRouting> routing = prepared.routing;
    RoutingSource source = prepared.source;
    if (!sched::design_of(image.meta).has(sched::Mechanism::routing)) {
        source = {"every branch", 0};
        routing.assign(routing.size(), every_branch(image.meta));
    }
    RunOptions run;
    Rescheduler rescheduler(prepared.model, prepared.platform, options, image,
                            expected_routes(prepared.model, options));
    run.reschedule_interval = prepared.number("reschedule", "a number of batches");
    if (run.reschedule_interval > 0) {
        run.reschedule = [&rescheduler](const SimulatedHost::Profile& read_back) { return rescheduler(read_back); };
    }
    return run_on_chosen_chip(prepared.platform,
                              [&](const PlatformConfig& chosen) {
                                  const RunResult result = run_simulation(chosen, image, bytes, routing, run);
                                  return ordered_json{{kReport, make_report(chosen, image, routing, source, result)}};
                              })
        .at(kReport);
}

/// Parameters of the design as `--set` has them, but for `file`.
std::map<std::string, std::string> overrides_of(const DesignPoint& point, const std::string& section) {
    std::map<std::string, std::string> overrides;
    for (const auto& [key, value] : point.parameters)
        if (key != kFile) overrides.emplace(fmt::format("{}.{}", section, key), value);
    return overrides;
}

/// Empty: the built-in values.
std::string file_of(const DesignPoint& point) {
    const auto file = point.parameters.find(kFile);
    return file == point.parameters.end() ? "" : file->second;
}

GpuConfig gpu_of(const DesignPoint& point) {
    std::map<std::string, std::string> overrides = overrides_of(point, "gpu");
    return read_gpu_config(file_of(point), overrides);
}

TenantConfig tenants_of(const DesignPoint& point) {
    std::map<std::string, std::string> overrides = overrides_of(point, "m_tenant");
    return read_tenant_config(file_of(point), overrides);
}

ordered_json run_on_gpu(const PreparedPoint& prepared) {
    return run_gpu(prepared.model.graph, prepared.routing, prepared.source, gpu_of(prepared.point));
}

ordered_json run_on_tenants(const PreparedPoint& prepared) {
    return run_m_tenant(prepared.model.graph, prepared.routing, prepared.source, prepared.platform,
                        tenants_of(prepared.point));
}

std::vector<std::string> with_file(std::vector<std::string> keys) {
    keys.insert(keys.begin(), kFile);
    return keys;
}

struct DesignEntry {
    const char* name;
    std::vector<std::string> parameters;
    ordered_json (*run)(const PreparedPoint&);
    void (*check_values)(const DesignPoint&) = [](const DesignPoint&) {};
};

/// A further design is one more line.
const std::vector<DesignEntry>& entries() {
    static const std::vector<DesignEntry> kKnown{
        {"adyna", {"sampling", "without", "unit_samples", "reschedule"}, run_on_chip},
        {"adyna-static", {"without", "unit_samples"}, run_on_chip},
        {"full-kernel", {"without", "unit_samples", "reschedule"}, run_on_chip},
        {"real-time", {"without", "unit_samples"}, run_on_chip},
        {"m-tile", {"without", "unit_samples"}, run_on_chip},
        {"m-tenant", with_file(tenant_keys()), run_on_tenants, [](const DesignPoint& point) { tenants_of(point); }},
        {"gpu", with_file(gpu_keys()), run_on_gpu, [](const DesignPoint& point) { gpu_of(point); }},
    };
    return kKnown;
}

const DesignEntry& find_entry(const std::string& design) {
    for (const DesignEntry& entry : entries())
        if (design == entry.name) return entry;
    throw InputError(fmt::format("design {}: unknown; known designs: {}", design, fmt::join(design_words(), ", ")));
}

sched::RouteDistribution distribution_of(const RoutePhase& phase, const sched::DynGraph& graph) {
    std::optional<sched::RouteDistribution> found =
        sched::read_routing(phase.routing, graph.signatures(), graph.samples_per_input).distribution;
    if (!found) phase.routing.fail("trace", "a phase has a distribution, not a trace");
    return *found;
}

/// What the point says in place of the model's own routes. Profiles that the scheduler works with are of the first.
void declare_routes(const DesignPoint& point, sched::Model& model) {
    if (!point.trace.empty()) model.routing = {point.trace, std::nullopt};
    if (!point.phases.empty() && point.phases.front().from_batch == 0)
        model.routing = {"", distribution_of(point.phases.front(), model.graph)};
}

std::vector<BatchRouting> recorded_routes(const std::string& trace, const DesignPoint& point,
                                          const sched::DynGraph& graph) {
    std::vector<BatchRouting> routes = read_trace(trace, graph.signatures(), graph.batch_samples(), point.batches);
    if (routes.size() < point.batches)
        throw InputError(trace, 0, "batches",
                         fmt::format("the trace has {} batches, not {}", routes.size(), point.batches));
    return routes;
}

std::vector<BatchRouting> generated_routes(const DesignPoint& point, const sched::Model& model) {
    const std::vector<SwitchSignature> switches = model.graph.signatures();
    std::vector<sched::RouteGenerator> generators;
    std::vector<std::size_t> begins;
    const auto add = [&](std::size_t from_batch, sched::RouteDistribution distribution) {
        if (point.seed) distribution.seed = *point.seed;
        generators.emplace_back(std::move(distribution), switches, model.graph.batch_samples());
        begins.push_back(from_batch);
    };
    add(0, *model.routing.distribution);
    for (const RoutePhase& phase : point.phases)
        if (phase.from_batch > 0) add(phase.from_batch, distribution_of(phase, model.graph));

    std::vector<BatchRouting> routes;
    for (std::size_t batch = 0; batch < point.batches; ++batch) {
        const auto next = std::upper_bound(begins.begin(), begins.end(), batch);
        routes.push_back(generators[static_cast<std::size_t>(next - begins.begin()) - 1].batch(batch));
    }
    return routes;
}

void find_routes(PreparedPoint& prepared) {
    const sched::Model& model = prepared.model;
    const DesignPoint& point = prepared.point;
    if (model.graph.switches.empty()) {
        prepared.source.kind = "none";
        prepared.routing.assign(point.batches, BatchRouting{model.graph.batch_samples(), {}});
    } else if (!model.routing.trace.empty()) {
        if (!point.phases.empty())
            throw InputError(model.graph.file, 0, "routing", "phases need a distribution, the network has a trace");
        prepared.source.kind = "trace";
        prepared.routing = recorded_routes(model.routing.trace, point, model.graph);
    } else if (model.routing.distribution) {
        prepared.source = {"generator", point.seed.value_or(model.routing.distribution->seed)};
        prepared.routing = generated_routes(point, model);
    } else {
        throw InputError(model.graph.file, 0, "routing", "the network declares no routes and is given no trace");
    }
}

}  // namespace

std::vector<std::string> design_words() {
    std::vector<std::string> words;
    for (const DesignEntry& entry : entries()) words.emplace_back(entry.name);
    return words;
}

void check_design(const DesignPoint& point) {
    const DesignEntry& entry = find_entry(point.design);
    const std::vector<std::string>& known = entry.parameters;
    for (const auto& [key, value] : point.parameters) {
        if (std::find(known.begin(), known.end(), key) == known.end())
            throw InputError(fmt::format("design {}: unknown parameter {}; known parameters: {}", point.design, key,
                                         known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
    }
    entry.check_values(point);
}

ordered_json run_point(const DesignPoint& point) {
    check_design(point);
    PreparedPoint prepared{
        point, sched::read_model(point.network), read_platform(point.platform, point.overrides), {}, {}};
    if (point.batch_inputs > 0) prepared.model.graph.batch_inputs = point.batch_inputs;
    declare_routes(point, prepared.model);
    find_routes(prepared);
    return find_entry(point.design).run(prepared);
}

}  // namespace switchyard::platform
