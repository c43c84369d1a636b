// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/system/no_progress.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <systemc>

namespace switchyard::platform {

std::runtime_error no_progress(const SimulationRegistry& registry) {
    constexpr std::size_t kShown = 8;
    const std::vector<std::string> waits = registry.waits();
    std::string text = fmt::format("no progress after {}: ", sc_core::sc_time_stamp().to_string());
    if (waits.empty()) text += "no module says what it waits for";
    for (std::size_t i = 0; i < waits.size() && i < kShown; ++i) text += (i == 0 ? "" : "; ") + waits[i];
    if (waits.size() > kShown) text += fmt::format("; and {} more", waits.size() - kShown);
    return std::runtime_error(text);
}

}  // namespace switchyard::platform
