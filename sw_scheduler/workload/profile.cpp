// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/workload/profile.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/base/json_kind.h"
#include "switchyard/sw_scheduler/base/json_text.h"
#include "switchyard/sw_scheduler/base/output_marker.h"
#include "switchyard/sw_scheduler/base/plain_number.h"
#include "switchyard/sw_scheduler/base/rounding.h"
#include "switchyard/sw_scheduler/base/shown.h"
#include "switchyard/sw_scheduler/base/suggestion.h"

namespace switchyard::sched {

namespace {

using nlohmann::json;

std::uint32_t units_a_batch(const Profile& profile, std::uint32_t unit_samples) {
    return ceil_div(profile.batch_samples, unit_samples);
}

/// Every micro-batch of every batch was full; the last of a batch may be shorter.
OperatorProfile static_operator(const Profile& profile) {
    OperatorProfile result{profile.unit_samples, false, {}};
    const std::uint32_t full = profile.batch_samples / profile.unit_samples;
    const std::uint32_t rest = profile.batch_samples % profile.unit_samples;
    if (full) result.frequency[profile.unit_samples] = full * profile.batches;
    if (rest) result.frequency[rest] = profile.batches;
    return result;
}

/// Samples of each unit that take the step.
std::vector<std::uint32_t> count_units(const BranchStep& step, const BatchRouting& routing, const Profile& profile) {
    std::vector<std::uint32_t> counts(units_a_batch(profile, profile.unit_samples));
    const auto& masks = routing.masks[static_cast<std::size_t>(step.switch_id)];
    for (std::size_t sample = 0; sample < masks.size(); ++sample)
        counts[sample / profile.unit_samples] += masks[sample] >> step.branch & 1;
    return counts;
}

std::uint64_t read_count(const json& object, const char* key, std::uint64_t low, const std::string& path,
                         const std::string& prefix = "") {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_number_unsigned() || found->get<std::uint64_t>() < low ||
        found->get<std::uint64_t>() > UINT32_MAX)
        throw InputError(path, 0, prefix + key,
                         fmt::format("expected an integer of {} to {}, found {}", low, UINT32_MAX,
                                     found == object.end() ? "nothing" : json_kind(*found)));
    return found->get<std::uint64_t>();
}

std::map<std::uint32_t, std::uint64_t> read_frequency(const json& object, const Profile& profile,
                                                      std::uint32_t unit_samples, const std::string& path,
                                                      const std::string& key) {
    std::map<std::uint32_t, std::uint64_t> result;
    std::uint64_t units = 0;
    if (!object.is_object())
        throw InputError(path, 0, key, "expected an object of dyn_dim to count, found " + json_kind(object));
    for (const auto& [text, count] : object.items()) {
        std::uint32_t dyn_dim = 0;
        if (parse_plain_number(text, dyn_dim) != Parsed::ok || dyn_dim > unit_samples)
            throw InputError(path, 0, key,
                             fmt::format("expected dyn_dims of 0 to {}, found {}", unit_samples, shown(text)));
        if (!count.is_number_unsigned())
            throw InputError(
                path, 0, key,
                fmt::format("expected an integer of 0 or more as the count of {}, found {}", text, json_kind(count)));
        result[dyn_dim] = count.get<std::uint64_t>();
        units += result[dyn_dim];
    }
    if (const std::uint64_t expected = profile.batches * units_a_batch(profile, unit_samples); units != expected)
        throw InputError(path, 0, key,
                         fmt::format("expected counts of {} micro-batches together, found {}", expected, units));
    return result;
}

/// {"5": 97, "6": 3} or {"unit_samples": 8, "kernels": {"0": 1, "4": 20, "8": 79}}.
OperatorProfile read_operator(const json& object, const Profile& profile, const std::string& path,
                              const std::string& key) {
    if (!object.is_object() || !object.contains("kernels"))
        return {profile.unit_samples, false, read_frequency(object, profile, profile.unit_samples, path, key)};
    for (const auto& [name, value] : object.items())
        if (name != "kernels" && name != "unit_samples")
            throw InputError(path, 0, fmt::format("{}.{}", key, name), not_one_of(name, {"kernels", "unit_samples"}));
    OperatorProfile result{profile.unit_samples, true, {}};
    if (object.contains("unit_samples")) {
        const std::uint64_t samples = read_count(object, "unit_samples", 1, path, key + ".");
        if (samples > profile.batch_samples)
            throw InputError(
                path, 0, key + ".unit_samples",
                fmt::format("expected at most {}, the samples of a batch, found {}", profile.batch_samples, samples));
        result.unit_samples = static_cast<std::uint32_t>(samples);
    }
    result.frequency = read_frequency(object.at("kernels"), profile, result.unit_samples, path, key + ".kernels");
    if (result.frequency.count(result.unit_samples) == 0)
        throw InputError(path, 0, key + ".kernels",
                         fmt::format("expected a kernel of {}, the largest, found none", result.unit_samples));
    return result;
}

/// All of a profile's file but its operators.
Profile read_head(const json& root, const std::string& path) {
    if (!root.is_object()) throw InputError(path, 0, "", "expected an object, found " + json_kind(root));
    static const std::vector<std::string> kKnown{"batch_samples", "unit_samples", "batches", "operators"};
    for (const auto& [key, value] : root.items())
        if (key != kProgramKey && std::find(kKnown.begin(), kKnown.end(), key) == kKnown.end())
            throw InputError(path, 0, key, not_one_of(key, kKnown));
    Profile profile;
    profile.batch_samples = static_cast<std::uint32_t>(read_count(root, "batch_samples", 1, path));
    profile.unit_samples = static_cast<std::uint32_t>(read_count(root, "unit_samples", 1, path));
    profile.batches = read_count(root, "batches", 1, path);
    return profile;
}

const json& operators_of(const json& root, const std::string& path) {
    const auto operators = root.find("operators");
    if (operators == root.end() || !operators->is_object())
        throw InputError(path, 0, "operators",
                         "expected an object of operator to frequencies, found " +
                             (operators == root.end() ? "nothing" : json_kind(*operators)));
    return *operators;
}

double mean_samples(const OperatorProfile& counted) {
    double sum = 0;
    std::uint32_t before = 0;
    for (const auto& [dyn_dim, count] : counted.frequency) {
        // The middle of before + 1 .. dyn_dim.
        const double samples = counted.by_kernel && dyn_dim > 0 ? (before + 1.0 + dyn_dim) / 2 : dyn_dim;
        sum += static_cast<double>(count) * samples;
        before = dyn_dim;
    }
    return sum;
}

}  // namespace

Profile profile_of(const DynGraph& graph, const std::vector<BatchRouting>& batches, std::uint32_t unit_samples) {
    Profile profile;
    profile.batch_samples = graph.batch_samples();
    profile.unit_samples = unit_samples;
    profile.batches = batches.size();
    profile.routes = std::make_shared<const std::vector<BatchRouting>>(batches);
    for (const Operator& op : graph.operators) {
        if (op.path.empty()) {
            profile.operators.push_back(static_operator(profile));
            continue;
        }
        OperatorProfile counted{unit_samples, false, {}};
        // A sample that does not reach the innermost switch has the mask 0 there.
        for (const BatchRouting& routing : batches)
            for (const std::uint32_t count : count_units(op.path.back(), routing, profile)) ++counted.frequency[count];
        profile.operators.push_back(std::move(counted));
    }
    return profile;
}

std::vector<double> expected_fractions(const Profile& profile) {
    std::vector<double> result;
    const double samples = static_cast<double>(profile.batches) * profile.batch_samples;
    for (const OperatorProfile& counted : profile.operators) result.push_back(mean_samples(counted) / samples);
    return result;
}

double moved_load(const DynGraph& graph, const std::vector<double>& from, const std::vector<double>& to) {
    double moved = 0, all = 0;
    for (std::size_t op = 0; op < graph.operators.size(); ++op) {
        const auto macs = static_cast<double>(graph.operators[op].macs_per_sample);
        moved += macs * std::abs(to[op] - from[op]);
        all += macs * from[op];
    }
    return all > 0 ? moved / all : 0;
}

std::vector<double> worst_case_fractions(const DynGraph& graph) {
    return std::vector<double>(graph.operators.size(), 1.0);
}

Profile read_profile(const std::string& path, const DynGraph& graph) {
    return parse_profile(read_file(path, kMaxJsonBytes), path, graph);
}

Profile parse_profile(const std::string& text, const std::string& path, const DynGraph& graph) {
    const json root = parse_json(text, path);
    Profile profile = read_head(root, path);
    if (profile.batch_samples != graph.batch_samples())
        throw InputError(path, 0, "batch_samples",
                         fmt::format("expected {}, the samples of a batch of model \"{}\", found {}",
                                     graph.batch_samples(), graph.name, profile.batch_samples));
    const json& operators = operators_of(root, path);
    for (const auto& [name, value] : operators.items())
        if (graph.find_operator(name) < 0)
            throw InputError(path, 0, "operators." + name,
                             fmt::format("expected an operator of model \"{}\", found \"{}\"", graph.name, name));
    for (const Operator& op : graph.operators) {
        const std::string key = "operators." + op.name;
        const auto found = operators.find(op.name);
        if (found == operators.end() && op.dynamic()) throw InputError(path, 0, key, "expected a value, found nothing");
        profile.operators.push_back(found == operators.end() ? static_operator(profile)
                                                             : read_operator(*found, profile, path, key));
        if (!op.dynamic() && profile.operators.back().by_kernel)
            throw InputError(path, 0, key,
                             "expected counts of dyn_dims for an operator on no branch, found counts of kernels");
    }
    return profile;
}

OperatorProfile read_operator_profile(const std::string& path, const std::string& name) {
    const json root = parse_json(read_file(path, kMaxJsonBytes), path);
    const Profile head = read_head(root, path);
    const json& operators = operators_of(root, path);
    const auto found = operators.find(name);
    if (found == operators.end()) throw InputError(path, 0, "operators." + name, "expected a value, found nothing");
    return read_operator(*found, head, path, "operators." + name);
}

void write_profile(const Profile& profile, const DynGraph& graph, const std::string& path) {
    json operators = json::object();
    for (std::size_t id = 0; id < graph.operators.size(); ++id) {
        const OperatorProfile& counted = profile.operators[id];
        json frequency = json::object();
        for (const auto& [dyn_dim, count] : counted.frequency) frequency[std::to_string(dyn_dim)] = count;
        json& entry = operators[graph.operators[id].name];
        if (counted.by_kernel)
            entry = {{"unit_samples", counted.unit_samples}, {"kernels", std::move(frequency)}};
        else
            entry = std::move(frequency);
    }
    nlohmann::ordered_json root = {{kProgramKey, kProgram},
                                   {"batch_samples", profile.batch_samples},
                                   {"unit_samples", profile.unit_samples},
                                   {"batches", profile.batches},
                                   {"operators", operators}};
    write_file(json_text(root, 1) + "\n", path);
}

}  // namespace switchyard::sched
