// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "switchyard/platform/system/system.h"

namespace CLI {
class App;
}

namespace switchyard::platform {

/// The options that a command line gave. A command with options that have an effect in some cases only names these
/// cases here, so that the others are refused and nothing is accepted and ignored.
class GivenOptions {
public:
    /// Notes what is given when `command` is parsed. This object must stay where it is until then.
    void watch(CLI::App& command);
    bool has(const std::string& name) const { return names_.count(name) != 0; }
    /// Whether an option was given whose name is not among `names`.
    bool any_but(std::initializer_list<const char*> names) const;

    struct Case {
        const char* option;  ///< without the dashes
        bool used;
        const char* why;  ///< when it is used: "goes with --pattern strided"
    };
    /// Lists the options that were given and that no case uses, in their order.
    std::vector<UnusedParameter> unused(std::initializer_list<Case> cases) const;
    /// Throws InputError for the first of them: "--stride-bytes: expected no value here, as it goes with --pattern
    /// strided; leave it out".
    void refuse_unused(std::initializer_list<Case> cases) const;

    /// Throws InputError for the first given option of a group of --help, as refuse_unused() words it. `why`: when such
    /// options are used.
    void refuse_group(const char* group, const char* why) const;

private:
    std::map<std::string, std::string> names_;  ///< with the group
};

/// As GivenOptions::refuse_unused().
void refuse(const std::vector<UnusedParameter>& unused);

}  // namespace switchyard::platform
