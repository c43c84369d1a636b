// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/system/system_registry.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <boost/algorithm/string/replace.hpp>

#include "switchyard/sw_scheduler/base/config.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/sections.h"
#include "switchyard/sw_scheduler/base/suggestion.h"

namespace switchyard::platform {

void SystemRegistry::add(std::unique_ptr<System> system) {
    for (const auto& other : systems_)
        if (other->name() == system->name()) throw std::logic_error("two systems are called " + system->name());
    const std::vector<SystemDesign> designs = system->designs();
    for (const SystemDesign& design : designs)
        if (designs_.count(design.name) != 0) throw std::logic_error("two designs are called " + design.name);
    for (const SystemDesign& design : designs) designs_.emplace(design.name, Known{system.get(), design});
    systems_.push_back(std::move(system));
}

const SystemRegistry::Known& SystemRegistry::known(const std::string& design) const {
    const auto found = designs_.find(design);
    if (found == designs_.end()) throw InputError("design: " + not_one_of(design, design_names()));
    return found->second;
}

const System& SystemRegistry::system_of_design(const std::string& design) const {
    return *known(design).system;
}

SystemDesign SystemRegistry::design(const std::string& name) const {
    return known(name).design;
}

std::string SystemRegistry::refusal(const std::string& design, WorkKey key) const {
    const auto takes = [&](const std::string& name) {
        const std::vector<WorkKey>& work = known(name).design.work;
        return std::find(work.begin(), work.end(), key) != work.end();
    };
    if (designs_.count(design) == 0 || takes(design)) return "";
    std::vector<std::string> others = design_names();
    others.erase(std::remove_if(others.begin(), others.end(), [&](const auto& name) { return !takes(name); }),
                 others.end());
    return fmt::format("{} does not take it; leave it out{}", design,
                       others.empty() ? "" : fmt::format(" (taken by {})", fmt::join(others, ", ")));
}

const System& SystemRegistry::system(const std::string& name) const {
    std::vector<std::string> known;
    for (const auto& system : systems_) {
        if (system->name() == name) return *system;
        known.push_back(system->name());
    }
    throw InputError("system: " + not_one_of(name, known));
}

std::vector<std::string> SystemRegistry::designs_for(const std::string& name) const {
    std::vector<std::string> names;
    for (const auto& system : systems_) {
        if (system->makes_its_load() || system->platform_system() != name) continue;
        for (const SystemDesign& design : system->designs()) names.push_back(design.name);
    }
    return names;
}

std::string SystemRegistry::design_for(const std::string& platform_file, const std::string& design) const {
    const YAML::Node root = load_yaml(platform_file);
    const std::string system = system_of_platform(root, platform_file);
    if (system.empty() && design.empty())
        throw InputError("--design", 0, "",
                         fmt::format("expected a design, as {} has no key 'system', found none; add one of {}",
                                     platform_file, fmt::join(design_names(), ", ")));
    if (!design.empty()) known(design);
    if (system.empty()) return design;
    const std::vector<std::string> names = designs_for(system);
    if (names.empty()) {
        std::set<std::string> systems;
        for (const auto& one : systems_)
            if (!one->makes_its_load()) systems.insert(one->platform_system());
        throw InputError(platform_file, line_of(root["system"]), "system",
                         not_one_of(system, {systems.begin(), systems.end()}));
    }
    if (design.empty() && names.size() == 1) return names.front();
    std::string wanted = design.empty() ? boost::replace_all_copy(system, "_", "-") : design;
    if (std::find(names.begin(), names.end(), wanted) != names.end()) return wanted;
    throw InputError("--design", 0, "",
                     fmt::format("expected a design for {}, a platform of the system {} ({}), found {}", platform_file,
                                 system, fmt::join(names, ", "), design.empty() ? "none" : design));
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
