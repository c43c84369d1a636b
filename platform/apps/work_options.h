// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "switchyard/platform/apps/command_line.h"
#include "switchyard/platform/apps/given_options.h"
#include "switchyard/platform/apps/timeline_option.h"

namespace switchyard::platform {

/// What every kind of `sy-sim run` takes: the platform, the batches with their routes, and where the report goes.
struct WorkOptions {
    PlatformOptions platform;
    std::string trace, report;
    std::size_t batches = 0;
    std::optional<std::uint64_t> seed;
    TimelineOption timeline;
    GivenOptions given;

    void add_to(CLI::App& app);
};

}  // namespace switchyard::platform
