// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "switchyard/platform/apps/command_line.h"
#include "switchyard/platform/apps/given_options.h"
#include "switchyard/platform/apps/timeline_option.h"
#include "switchyard/platform/system/system_registry.h"

namespace switchyard::platform {

/// `sy-sim baseline`: one design of the registry on one model; docs/cli.md.
struct BaselineCommand {
    PlatformOptions platform;
    std::string name, model, parameters_file, trace, report;
    std::size_t batches = 0;
    std::optional<std::uint64_t> seed;
    TimelineOption timeline;
    GivenOptions given;

    void add_to(CLI::App& app, const SystemRegistry& registry);
    /// The exit status; false checks make it 1.
    int run(const SystemRegistry& registry) const;

private:
    Point point(const SystemRegistry& registry) const;
};

}  // namespace switchyard::platform
