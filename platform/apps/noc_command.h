// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "switchyard/platform/apps/given_options.h"
#include "switchyard/platform/characterisation/noc_run.h"

namespace CLI {
class App;
}

namespace switchyard::platform {

/// `sy-sim noc`: docs/cli.md.
struct NocCommand {
    NocRun noc;
    std::string topology = "torus", size = "8x8", pipeline = "1,1,1,1", arbitration = "round_robin", json;
    unsigned link_cycles = 0;  ///< 0: two on a torus, one on a mesh
    std::int64_t warmup = -1;  ///< -1: half the measured cycles
    bool without_dateline = false, heat_map = false;
    GivenOptions given;

    void add_to(CLI::App& app);
    /// Completes `noc` from the options that are texts. Throws InputError. Before report().
    void resolve();
    /// What --json writes. At most once a process with impl packet. Throws InputError.
    nlohmann::ordered_json report() const;
    /// Options that have no effect beside the others. After resolve().
    std::vector<UnusedParameter> unused() const;
    /// The exit status. Throws InputError.
    int run();
};

}  // namespace switchyard::platform
