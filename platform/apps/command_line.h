// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "switchyard/platform/chip/platform_config.h"

namespace CLI {
class App;
}

namespace switchyard::platform {

/// "noc.link_bytes_per_cycle=96" -> {"noc.link_bytes_per_cycle", "96"}. Throws InputError if a text has no '=' or no
/// key, or if a key comes twice. The value may be empty.
std::map<std::string, std::string> parse_overrides(const std::vector<std::string>& texts);

/// Adds `--platform FILE` (required) and `--set KEY=VALUE` (any number of times).
struct PlatformOptions {
    std::string file;
    std::vector<std::string> settings;

    void add_to(CLI::App& command);
    /// Throws InputError.
    PlatformConfig read() const;
};

/// Parses the command line, runs `work` and turns every exception into one line on standard error.
/// Returns the exit status: what `work` returned, or 2 for bad input and for a model's error.
int run_program(CLI::App& app, int argc, char** argv, const std::function<int()>& work);

}  // namespace switchyard::platform
