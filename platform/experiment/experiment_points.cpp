// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "switchyard/platform/experiment/experiment.h"
#include "switchyard/platform/platform_config.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/plain_number.h"
#include "switchyard/sw_scheduler/workload/model_reader.h"

namespace switchyard::platform {

namespace {

constexpr const char* kBatchSize = "batch_size";

bool is_platform_key(const std::string& key) {
    return key.find('.') != std::string::npos;
}

template <class T>
T whole_number(const std::string& file, int line, const std::string& key, const std::string& text, T low) {
    T value{};
    if (parse_plain_number(text, value) != Parsed::ok || value < low)
        throw InputError(file, line, key, fmt::format("wants an integer from {}, got \"{}\"", low, text));
    return value;
}

/// Sorts a setting to where it belongs.
void apply(const Experiment& experiment, int line, const std::string& key, const std::string& value,
           DesignPoint& point) {
    if (key == kBatchSize)
        point.batch_inputs = whole_number<std::uint32_t>(experiment.file, line, key, value, 1);
    else
        (is_platform_key(key) ? point.overrides : point.parameters)[key] = value;
}

void check_at(const Experiment& experiment, int line, const ExperimentPoint& point) {
    try {
        if (point.traffic)
            check_traffic(*point.traffic);
        else
            check_design(point.run);
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
        point.traffic = TrafficPoint{experiment.command, experiment.set};
        for (const auto* set : {&network.set, &design.set}) point.traffic->options.insert(set->begin(), set->end());
        return point;
    }
    point.run.network = network.file;
    point.run.trace = network.trace;
    point.run.phases = network.phases;
    point.run.design = design.design;
    point.run.platform = experiment.platform;
    point.run.batches = experiment.batches;
    point.run.seed = experiment.seed;
    point.run.overrides = experiment.set;
    for (const auto& [key, value] : design.set) apply(experiment, design.line, key, value, point.run);
    return point;
}

/// Whatever can be wrong with the files, before anything runs.
void check_files(const Experiment& experiment, const std::vector<ExperimentPoint>& points) {
    std::set<std::string> networks;
    std::set<std::map<std::string, std::string>> platforms;
    for (const ExperimentPoint& point : points) {
        if (point.traffic) continue;
        if (networks.insert(point.run.network).second) sched::read_model(point.run.network);
        if (!platforms.insert(point.run.overrides).second) continue;
        try {
            read_platform(point.run.platform, point.run.overrides);
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
        throw InputError("--set", 0, key, "is swept by " + experiment.file);
    const auto check = [&](const char* what, const auto& list) {
        for (const auto& one : list)
            if (one.set.count(key) != 0)
                throw InputError("--set", 0, key,
                                 fmt::format("is set by {} \"{}\" of {}", what, one.name, experiment.file));
    };
    check(experiment.word(Dimension::network), experiment.networks);
    check("design", experiment.designs);
    experiment.set[key] = value;
}

void set_option(Experiment& experiment, const std::string& key, const std::string& value) {
    const std::string message = option_error(experiment.command, key, value);
    if (!message.empty()) throw InputError("--set", 0, key, message);
    set_for_all(experiment, key, value);
}

}  // namespace

void override_settings(Experiment& experiment, const std::map<std::string, std::string>& settings) {
    for (const auto& [key, value] : settings) {
        if (experiment.synthetic()) {
            set_option(experiment, key, value);
        } else if (key == "batches") {
            experiment.batches = whole_number<std::size_t>("--set", 0, key, value, 1);
        } else if (key == "seed") {
            experiment.seed = whole_number<std::uint64_t>("--set", 0, key, value, 0);
        } else if (!is_platform_key(key)) {
            throw InputError("--set", 0, key, "unknown key: batches, seed, or a key of the platform");
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

std::vector<ExperimentPoint> points_of(const Experiment& experiment) {
    std::vector<ExperimentPoint> points;
    for (const Experiment::Network& network : experiment.networks) {
        for (const Experiment::Design& design : experiment.designs) {
            ExperimentPoint point = point_of(experiment, network, design);
            check_at(experiment, design.line, point);
            if (!design.swept) {
                points.push_back(std::move(point));
                continue;
            }
            point.sweep_key = experiment.sweep->key;
            for (const std::string& value : experiment.sweep->values) {
                ExperimentPoint swept = point;
                swept.sweep = value;
                if (swept.traffic)
                    swept.traffic->options[swept.sweep_key] = value;
                else
                    apply(experiment, experiment.sweep->line, swept.sweep_key, value, swept.run);
                check_at(experiment, experiment.sweep->line, swept);
                points.push_back(std::move(swept));
            }
        }
    }
    check_files(experiment, points);
    return points;
}

}  // namespace switchyard::platform
