// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "switchyard/platform/apps/image_run.h"
#include "switchyard/platform/apps/work_options.h"
#include "switchyard/platform/apps/workload_run.h"
#include "switchyard/platform/system/system_registry.h"

namespace switchyard::platform {

/// `sy-sim run`: a kernel image, or a network on a design of the registry, on one platform; docs/cli.md.
struct RunCommand {
    WorkOptions work;
    ImageRun image;
    WorkloadRun workload;

    void add_to(CLI::App& app);
    /// The exit status. Throws InputError, also for options of the other kind of run.
    int run(const SystemRegistry& registry) const;
};

}  // namespace switchyard::platform
