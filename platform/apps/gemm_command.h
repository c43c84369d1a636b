// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "switchyard/platform/apps/command_line.h"
#include "switchyard/platform/systems/adyna/gemm.h"

namespace switchyard::platform {

/// `sy-sim gemm`: one dense matrix product; docs/cli.md.
struct GemmCommand {
    PlatformOptions platform;
    GemmSize size;
    std::string json;

    void add_to(CLI::App& app);
    int run() const;
};

}  // namespace switchyard::platform
