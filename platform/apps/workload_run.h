// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "switchyard/platform/apps/work_options.h"
#include "switchyard/platform/system/system_registry.h"

namespace switchyard::platform {

/// `sy-sim run --workload`: one design of the registry on one workload; docs/cli.md.
struct WorkloadRun {
    /// The options of this kind of run, in the list of --help.
    static constexpr const char* kGroup = "With --workload";

    std::string workload, design;

    void add_to(CLI::App& app);
    /// The exit status; false checks make it 1. Throws InputError.
    int run(const WorkOptions& work, const SystemRegistry& registry) const;
};

/// Prints docs/system_keys.md: the keys of all systems but those of the chip of tiles.
std::string system_keys_markdown(const SystemRegistry& registry);

}  // namespace switchyard::platform
