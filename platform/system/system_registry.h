// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "switchyard/platform/system/system.h"

namespace switchyard::platform {

/// The systems that a program knows. The experiment runner and the commands find designs here and know no system.
class SystemRegistry {
public:
    /// Throws std::logic_error if a system or a design of this name is there.
    void add(std::unique_ptr<System> system);

    /// Throw InputError that lists the known ones.
    const System& system_of_design(const std::string& design) const;
    SystemDesign design(const std::string& name) const;
    const System& system(const std::string& name) const;

    /// "" if the design takes this key of a work, or is unknown; otherwise why the key is refused: "sushi-table does
    /// not take it; leave it out (taken by adyna, ...)".
    std::string refusal(const std::string& design, WorkKey key) const;

    const std::vector<std::unique_ptr<System>>& systems() const { return systems_; }
    /// Of all systems but those that make their load, in order of registration.
    std::vector<std::string> design_names() const;

private:
    struct Known {
        const System* system;
        SystemDesign design;
    };
    const Known& known(const std::string& design) const;

    std::vector<std::unique_ptr<System>> systems_;
    std::map<std::string, Known> designs_;  ///< by name
};

}  // namespace switchyard::platform
