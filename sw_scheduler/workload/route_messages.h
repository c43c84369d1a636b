// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/rounding.h"
#include "switchyard/sw_scheduler/base/shown.h"
#include "switchyard/sw_scheduler/base/suggestion.h"
#include "switchyard/sw_scheduler/workload/trace.h"

namespace switchyard {

/// The message for a name that no switch of the model has, with the nearest of `switches`.
inline std::string no_switch(const std::string& name, const std::vector<SwitchSignature>& switches) {
    std::vector<std::string> names;
    names.reserve(switches.size());
    for (const SwitchSignature& known : switches) names.push_back(known.name);
    return fmt::format("expected a switch of the model, found {}{}", shown(name), suggestion(name, names));
}

/// The message for a switch whose `branches` of `capacity` samples each have no room for the `samples` of a batch.
inline std::string no_room(std::uint64_t branches, std::uint64_t capacity, std::uint64_t samples) {
    return fmt::format(
        "expected room for the {} samples of a batch, found {} branches of {}; set capacity to {} or more", samples,
        branches, capacity, ceil_div(samples, branches));
}

}  // namespace switchyard
