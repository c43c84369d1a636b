// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "switchyard/platform/experiment/experiment.h"
#include "switchyard/platform/experiment/used_keys.h"
#include "switchyard/platform/system/point_setting.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/plain_number.h"

namespace switchyard::platform {

namespace {

template <class T>
T whole_number(const std::string& file, int line, const std::string& key, const std::string& text, T low) {
    T value{};
    if (parse_plain_number(text, value) != Parsed::ok || value < low)
        throw InputError(file, line, key, fmt::format("expected an integer from {}, found \"{}\"", low, text));
    return value;
}

/// Sorts a setting to where it belongs.
void apply(const Experiment& experiment, int line, const std::string& key, const std::string& value, Point& point) {
    if (experiment.synthetic())
        point.parameters[key] = value;
    else
        apply_setting({experiment.file, line}, key, value, point);
}

void check_at(const Experiment& experiment, int line, const Point& point, const SystemRegistry& registry) {
    try {
        registry.system_of_design(point.design).check_parameters(point);
    } catch (const InputError& error) {
        throw InputError(experiment.file, line, "designs", error.what());
    }
}

/// A point of this network and design, not swept.
ExperimentPoint point_of(const Experiment& experiment, const Experiment::Network& network,
                         const Experiment::Design& design) {
    ExperimentPoint point;
    point.network = network.name;
    point.design = design.name;
    if (experiment.synthetic()) {
        point.run.design = experiment.command;
        point.run.parameters = experiment.set;
        for (const auto* set : {&network.set, &design.set}) point.run.parameters.insert(set->begin(), set->end());
        return point;
    }
    point.run.workload = network.file;
    point.run.work.trace = network.trace;
    point.run.work.phases = network.phases;
    point.run.work.batches = experiment.batches;
    point.run.work.first_batch = experiment.first_batch;
    point.run.work.seed = experiment.seed;
    point.run.design = design.design;
    point.run.platform = design.platform;
    point.run.overrides = experiment.set;
    for (const auto& [key, value] : design.set) apply(experiment, design.line, key, value, point.run);
    return point;
}

/// Where a point's option of synthetic traffic is written.
UsedKeys::Place place_of(const Experiment& experiment, const ExperimentPoint& point, const std::string& option) {
    if (experiment.sweep && experiment.sweep->key == option && !point.sweep.empty())
        return {"sweep: " + option, experiment.sweep->line};
    const Experiment::Design& design = experiment.design(point.design);
    if (design.set.count(option) != 0) return {fmt::format("designs: {}: {}", design.name, option), design.line};
    for (const Experiment::Network& network : experiment.networks)
        if (network.name == point.network && network.set.count(option) != 0)
            return {fmt::format("traffic: {}: {}", network.name, option), network.line};
    return {"set: " + option, 0};
}

/// Nothing of the file is without effect on all of the points that it is for.
void check_use(const Experiment& experiment, const std::vector<ExperimentPoint>& points,
               const SystemRegistry& registry) {
    UsedKeys used;
    for (const ExperimentPoint& point : points) {
        if (experiment.synthetic()) {
            std::map<std::string, std::string> refusals;
            for (const auto& option : point.run.parameters) refusals[option.first];
            for (const UnusedParameter& option :
                 registry.system_of_design(point.run.design).unused_parameters(point.run))
                refusals[option.name] = fmt::format("expected no value here, as it {}; leave it out", option.why);
            for (const auto& [option, refusal] : refusals) used.add(place_of(experiment, point, option), refusal);
            continue;
        }
        const auto network = std::find_if(experiment.networks.begin(), experiment.networks.end(),
                                          [&](const auto& one) { return one.name == point.network; });
        const bool sweeps_batches = point.sweep_key == name_of(WorkKey::batch_size);
        add_work(used, point.run, registry, {"networks: " + point.network, network->line},
                 sweeps_batches ? UsedKeys::Place{"sweep", experiment.sweep->line}
                                : UsedKeys::Place{"designs: " + point.design, experiment.design(point.design).line});
    }
    used.check(experiment.file);
}

/// Whatever can be wrong with the files, before anything runs; each file once for a system.
void check_files(const Experiment& experiment, const std::vector<ExperimentPoint>& points,
                 const SystemRegistry& registry) {
    std::set<std::pair<const System*, std::string>> workloads;
    std::set<std::tuple<const System*, std::string, std::map<std::string, std::string>>> platforms;
    for (const ExperimentPoint& point : points) {
        const System& system = registry.system_of_design(point.run.design);
        if (system.makes_its_load()) continue;
        if (workloads.insert({&system, point.run.workload}).second) system.check_workload(point.run);
        if (!platforms.insert({&system, point.run.platform, point.run.overrides}).second) continue;
        try {
            system.check_platform(point.run);
        } catch (const InputError& error) {
            if (point.run.overrides.empty()) throw;
            throw InputError(experiment.file, 0, point.name(), error.what());
        }
    }
}

}  // namespace

std::optional<double> sweep_number(const std::string& text) {
    double value = 0;
    if (parse_plain_number(text, value) != Parsed::ok) return std::nullopt;
    return value;
}

namespace {

/// A key that neither the sweep nor a design sets.
void set_for_all(Experiment& experiment, const std::string& key, const std::string& value) {
    if (experiment.sweep && experiment.sweep->key == key)
        throw InputError("--set", 0, key,
                         "expected a key that is not swept, found one that is swept by " + experiment.file);
    const auto check = [&](const char* what, const auto& list) {
        for (const auto& one : list)
            if (one.set.count(key) != 0)
                throw InputError(
                    "--set", 0, key,
                    fmt::format("expected a key that is set once, found one that is set by {} \"{}\" of {}", what,
                                one.name, experiment.file));
    };
    check(experiment.word(Dimension::network), experiment.networks);
    check("design", experiment.designs);
    experiment.set[key] = value;
}

void set_option(Experiment& experiment, const std::string& key, const std::string& value,
                const SystemRegistry& registry) {
    const std::string message = registry.system(experiment.command).parameter_error(experiment.command, key, value);
    if (!message.empty()) throw InputError("--set", 0, key, message);
    set_for_all(experiment, key, value);
}

}  // namespace

void override_settings(Experiment& experiment, const std::map<std::string, std::string>& settings,
                       const SystemRegistry& registry) {
    for (const auto& [key, value] : settings) {
        if (experiment.synthetic()) {
            set_option(experiment, key, value, registry);
        } else if (key == "batches") {
            experiment.batches = whole_number<std::size_t>("--set", 0, key, value, 1);
        } else if (key == "seed") {
            experiment.seed = whole_number<std::uint64_t>("--set", 0, key, value, 0);
        } else if (!is_platform_key(key)) {
            throw InputError("--set", 0, key, "expected batches, seed or a key of the platform, found " + key);
        } else {
            set_for_all(experiment, key, value);
        }
    }
}

std::string ExperimentPoint::name() const {
    std::string text = network + ", " + design;
    if (!sweep.empty()) text += fmt::format(", {} {}", sweep_key, sweep);
    return text;
}

std::vector<ExperimentPoint> points_of(const Experiment& experiment, const SystemRegistry& registry) {
    std::vector<ExperimentPoint> points;
    for (const Experiment::Network& network : experiment.networks) {
        for (const Experiment::Design& design : experiment.designs) {
            ExperimentPoint point = point_of(experiment, network, design);
            check_at(experiment, design.line, point.run, registry);
            if (point.run.platform.empty() && registry.design(point.run.design).reads_platform)
                point.run.platform = experiment.platform;
            if (!design.swept) {
                points.push_back(std::move(point));
                continue;
            }
            point.sweep_key = experiment.sweep->key;
            for (const std::string& value : experiment.sweep->values) {
                ExperimentPoint swept = point;
                swept.sweep = value;
                apply(experiment, experiment.sweep->line, swept.sweep_key, value, swept.run);
                check_at(experiment, experiment.sweep->line, swept.run, registry);
                points.push_back(std::move(swept));
            }
        }
    }
    check_use(experiment, points, registry);
    check_files(experiment, points, registry);
    return points;
}

}  // namespace switchyard::platform
