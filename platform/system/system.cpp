// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/system/system.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "switchyard/platform/system/joint_run.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/suggestion.h"

namespace switchyard::platform {

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
    return fmt::format("unknown parameter {}; known parameters: {}{}", key,
                       known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")), suggestion(key, known));
}

void System::check_parameters(const Point& point) const {
    for (const auto& [key, value] : point.parameters) {
        const std::string message = parameter_error(point.design, key, value);
        if (!message.empty()) throw InputError(fmt::format("design {}: {}", point.design, message));
    }
}

void System::check_workload(const Point& /*point*/) const {}

void System::check_platform(const Point& /*point*/) const {}

}  // namespace switchyard::platform
