// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "switchyard/platform/apps/given_options.h"
#include "switchyard/platform/characterisation/link_run.h"

namespace CLI {
class App;
}

namespace switchyard::platform {

/// `sy-sim link`: docs/cli.md.
class LinkCommand {
public:
    void add_to(CLI::App& app);
    /// Options that have no effect beside the others.
    std::vector<UnusedParameter> unused() const;
    /// What --json writes. Throws InputError.
    nlohmann::ordered_json report();
    /// The exit status. Throws InputError.
    int run();

private:
    sched::LinkTopology topology();

    LinkRun run_;
    std::string file_, family_, rate_, json_;
    unsigned devices_ = 0;  ///< 0: those of the file
    double rate_factor_ = 1;
    GivenOptions given_;
};

}  // namespace switchyard::platform
