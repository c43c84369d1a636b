// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/system/system_registry.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/suggestion.h"

namespace switchyard::platform {

const System* SystemRegistry::find_design(const std::string& design) const {
    for (const auto& system : systems_)
        for (const SystemDesign& one : system->designs())
            if (one.name == design) return system.get();
    return nullptr;
}

void SystemRegistry::add(std::unique_ptr<System> system) {
    for (const auto& other : systems_)
        if (other->name() == system->name()) throw std::logic_error("two systems are called " + system->name());
    for (const SystemDesign& design : system->designs())
        if (find_design(design.name) != nullptr) throw std::logic_error("two designs are called " + design.name);
    systems_.push_back(std::move(system));
}

const System& SystemRegistry::system_of_design(const std::string& design) const {
    const System* const found = find_design(design);
    if (found == nullptr)
        throw InputError(fmt::format("design {}: unknown; known designs: {}{}", design, fmt::join(design_names(), ", "),
                                     suggestion(design, design_names())));
    return *found;
}

SystemDesign SystemRegistry::design(const std::string& name) const {
    const std::vector<SystemDesign> designs = system_of_design(name).designs();
    return *std::find_if(designs.begin(), designs.end(), [&name](const SystemDesign& one) { return one.name == name; });
}

const System& SystemRegistry::system(const std::string& name) const {
    std::vector<std::string> known;
    for (const auto& system : systems_) {
        if (system->name() == name) return *system;
        known.push_back(system->name());
    }
    throw InputError(fmt::format("system {}: unknown; known systems: {}", name, fmt::join(known, ", ")));
}

std::vector<std::string> SystemRegistry::design_names() const {
    std::vector<std::string> names;
    for (const auto& system : systems_) {
        if (system->makes_its_load()) continue;
        for (const SystemDesign& design : system->designs()) names.push_back(design.name);
    }
    return names;
}

}  // namespace switchyard::platform
