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

    /// The design of a run on this platform file. Empty `design`: the only one for the file's system, or the one that
    /// has its name. Throws InputError for an unknown design or system, and for a design of another system than the
    /// file's.
    std::string design_for(const std::string& platform_file, const std::string& design) const;

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
    /// The designs for platform files with `system: name`.
    std::vector<std::string> designs_for(const std::string& name) const;

    std::vector<std::unique_ptr<System>> systems_;
    std::map<std::string, Known> designs_;  ///< by name
};

}  // namespace switchyard::platform
