// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "switchyard/platform/apps/given_options.h"
#include "switchyard/sw_scheduler/dynn_offload/pilot.h"

namespace CLI {
class App;
}

namespace switchyard::platform {

/// `sy-sched pilot`: records traces of networks, trains the pilot of DyNN-Offload, evaluates and shows it.
class PilotCommand {
public:
    void add_to(CLI::App& app);
    bool parsed() const;
    int run();

private:
    int trace();
    int train();
    int evaluate();
    int inspect();

    dynn_offload::PilotConfig config_;
    std::string network_, gpu_, output_, pilot_, representation_ = "idiom", json_;
    std::vector<std::string> inputs_, networks_, settings_;
    std::uint64_t seed_ = 1, samples_ = 3000;
    bool time_ = false;
    GivenOptions given_;  ///< of evaluate
    CLI::App *command_ = nullptr, *trace_ = nullptr, *train_ = nullptr, *evaluate_ = nullptr, *inspect_ = nullptr;
};

}  // namespace switchyard::platform
