// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/system/system.h"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "switchyard/platform/system/joint_run.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/suggestion.h"

namespace switchyard::platform {

const char* name_of(WorkKey key) {
    static constexpr const char* kNames[] = {"batches", "first_batch", "batch_size", "seed", "trace", "phases"};
    return kNames[static_cast<std::size_t>(key)];
}

std::vector<WorkKey> keys_of(const Work& work) {
    const std::pair<bool, WorkKey> set[] = {
        {work.batches > 0, WorkKey::batches},         {work.first_batch > 0, WorkKey::first_batch},
        {work.batch_inputs > 0, WorkKey::batch_size}, {work.seed.has_value(), WorkKey::seed},
        {!work.trace.empty(), WorkKey::trace},        {!work.phases.empty(), WorkKey::phases}};
    std::vector<WorkKey> keys;
    for (const auto& [is_set, key] : set)
        if (is_set) keys.push_back(key);
    return keys;
}

const std::vector<WorkKey>& all_work_keys() {
    static const std::vector<WorkKey> kAll{WorkKey::batches, WorkKey::first_batch, WorkKey::batch_size,
                                           WorkKey::seed,    WorkKey::trace,       WorkKey::phases};
    return kAll;
}

nlohmann::ordered_json Plan::cost() const {
    return nlohmann::ordered_json::object();
}

std::unique_ptr<ElaboratedRun> Plan::elaborate(const std::string& /*prefix*/, BatchGate& /*gate*/) {
    return nullptr;
}

SystemDesign System::design(const std::string& design_name) const {
    for (const SystemDesign& one : designs())
        if (one.name == design_name) return one;
    throw std::logic_error("system " + name() + " has no design " + design_name);
}

std::string System::parameter_error(const std::string& design_name, const std::string& key,
                                    const std::string& /*value*/) const {
    const std::vector<std::string> known = design(design_name).parameters;
    if (std::find(known.begin(), known.end(), key) != known.end()) return "";
    return known.empty() ? "expected no parameter, found " + key : not_one_of(key, known);
}

void System::check_parameters(const Point& point) const {
    for (const auto& [key, value] : point.parameters) {
        const std::string message = parameter_error(point.design, key, value);
        if (!message.empty()) throw InputError(fmt::format("design {}: {}", point.design, message));
    }
}

std::vector<UnusedParameter> System::unused_parameters(const Point& /*point*/) const {
    return {};
}

void System::check_workload(const Point& /*point*/) const {}

void System::check_platform(const Point& /*point*/) const {}

}  // namespace switchyard::platform
