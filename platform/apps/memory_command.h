// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "switchyard/platform/apps/given_options.h"
#include "switchyard/platform/characterisation/memory_run.h"

namespace CLI {
class App;
}

namespace switchyard::platform {

/// `sy-sim mem`: docs/models/dram.md.
class MemoryCommand {
public:
    void add_to(CLI::App& app);
    /// The device and what is asked of it. Throws InputError for options that contradict each other, and for whatever
    /// is wrong with the device. Before report().
    void resolve();
    /// What --json writes.
    nlohmann::ordered_json report();
    /// Options that have no effect beside the others. After resolve().
    std::vector<UnusedParameter> unused() const;
    /// The exit status. Throws InputError.
    int run();

private:
    std::string device_ = "hbm2", mapping_, page_, json_;
    std::vector<std::string> settings_;
    MemoryTraffic traffic_;
    MemoryRunOptions options_;
    bool keys_ = false;
    GivenOptions given_;
    hw::dram::Device memory_;
    MemoryFigures figures_;
};

}  // namespace switchyard::platform
