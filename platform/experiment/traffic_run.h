// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace switchyard::platform {

/// One point of an experiment with synthetic traffic: `sy-sim noc` or `sy-sim mem` with its options.
struct TrafficPoint {
    std::string command;  ///< "noc" or "mem"
    /// By their long names without dashes in front ("packet-flits"). With a dot: keys of a device file, as `--set` of
    /// `sy-sim mem` has them.
    std::map<std::string, std::string> options;
};

/// "" or what is wrong with one option by itself: the command has none of this name, or not with this value. Options
/// that print or write files aren't for experiments.
std::string option_error(const std::string& command, const std::string& name, const std::string& value);

/// Throws InputError for options that don't go together, and for whatever is wrong with a device.
void check_traffic(const TrafficPoint& point);

/// What the command writes with `--json`. Depends on the point only. At most once a process, as `sy-sim noc` with the
/// packet model is. Throws InputError.
nlohmann::ordered_json run_traffic(const TrafficPoint& point);

}  // namespace switchyard::platform
