// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "switchyard/platform/apps/work_options.h"

namespace switchyard::platform {

/// `sy-sim run --image`: a kernel image on a chip of the system adyna; docs/cli.md.
struct ImageRun {
    /// The options of this kind of run, in the list of --help.
    static constexpr const char* kGroup = "With --image";

    std::string image, profile;
    std::string weights, inputs, outputs, expected;
    double bound = 0.05;
    std::size_t spot_check = 0;
    unsigned profile_interval = 0, reschedule_interval = 0;
    std::string model;

    void add_to(CLI::App& app);
    /// The exit status; false checks make it 1. Throws InputError.
    int run(const WorkOptions& work) const;
};

}  // namespace switchyard::platform
