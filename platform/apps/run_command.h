// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "switchyard/platform/apps/command_line.h"
#include "switchyard/platform/apps/given_options.h"
#include "switchyard/platform/apps/timeline_option.h"
#include "switchyard/platform/chip/platform_config.h"
#include "switchyard/platform/systems/adyna/simulation.h"
#include "switchyard/platform/systems/adyna/values_report.h"
#include "switchyard/sw_scheduler/workload/route_provider.h"

namespace switchyard::platform {

/// `sy-sim run`: a kernel image on a chip of the system adyna; docs/cli.md.
struct RunCommand {
    PlatformOptions platform;
    std::string image, trace, report, profile;
    std::string weights, inputs, outputs, expected;
    double bound = 0.05;
    std::size_t batches = 0, spot_check = 0;
    unsigned profile_interval = 0, reschedule_interval = 0;
    std::string model;
    std::optional<std::uint64_t> seed;
    TimelineOption timeline;
    GivenOptions given_options;

    void add_to(CLI::App& app);
    /// Throws InputError for options that have no effect beside the others and the platform.
    void refuse_unused(const PlatformConfig& config) const;
    sched::Routes routes(const Image& program, const std::vector<std::uint8_t>& bytes) const;
    /// Those that start N batches.
    unsigned doorbells(const Image& program, const char* option, unsigned count) const;
    /// Values are asked for on both sides or on none.
    void check_values(const PlatformConfig& config) const;
    /// One batch for each of the inputs, or as many as are wanted; the chip finds the routes.
    std::vector<BatchRouting> no_routes(const Image& program, const NetworkValues& values) const;
    nlohmann::ordered_json values_json(const Image& program, const NetworkValues& values,
                                       const std::vector<BatchRouting>& routed, const RunResult& run,
                                       const ReadExpectation& expectation) const;
    int run() const;
};

}  // namespace switchyard::platform
