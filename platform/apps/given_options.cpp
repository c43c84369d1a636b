// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/apps/given_options.h"

#include <algorithm>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::platform {

void GivenOptions::watch(CLI::App& command) {
    command.parse_complete_callback([this, &command] {
        for (const CLI::Option* const option : command.get_options())
            if (option->count() > 0) names_[option->get_single_name()] = option->get_group();
    });
}

bool GivenOptions::any_but(std::initializer_list<const char*> names) const {
    return std::any_of(names_.begin(), names_.end(), [&](const auto& given) {
        return std::find(names.begin(), names.end(), given.first) == names.end();
    });
}

std::vector<UnusedParameter> GivenOptions::unused(std::initializer_list<Case> cases) const {
    std::vector<UnusedParameter> found;
    for (const Case& one : cases)
        if (!one.used && has(one.option)) found.push_back({one.option, one.why});
    return found;
}

void GivenOptions::refuse_unused(std::initializer_list<Case> cases) const {
    refuse(unused(cases));
}

void GivenOptions::refuse_group(const char* group, const char* why) const {
    for (const auto& [name, of] : names_)
        if (of == group) refuse({{name, why}});
}

void refuse(const std::vector<UnusedParameter>& unused) {
    if (unused.empty()) return;
    const UnusedParameter& first = unused.front();
    throw InputError("--" + first.name, 0, "",
                     fmt::format("expected no value here, as it {}, found one; leave it out", first.why));
}

}  // namespace switchyard::platform
