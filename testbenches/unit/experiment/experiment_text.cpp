// SPDX-License-Identifier: Apache-2.0
#include "experiment_text.h"

#include <filesystem>

#include "switchyard/platform/apps/systems.h"
#include "switchyard/sw_scheduler/base/scratch_folder.h"
#include "switchyard/testbenches/catch.h"

namespace switchyard::platform {

namespace fs = std::filesystem;

const char* const kHead =
    "name: e\n"
    "platform: configs/platforms/mini.yaml\n"
    "batches: 4\n"
    "networks: [testbenches/data/moe.yaml, testbenches/data/early_exit.yaml]\n"
    "designs:\n"
    "  - m-tile\n"
    "  - adyna-static\n"
    "  - {design: adyna, set: {sampling: profile}}\n";
const char* const kFigures =
    "figures:\n"
    "  - {name: f, measure: summary.latency_us.mean, over: m-tile, inverse: yes}\n";

const SystemRegistry& registry() {
    static const SystemRegistry kSystems = all_systems();
    return kSystems;
}

Experiment experiment_of(const std::string& text) {
    const ScratchFolder folder("switchyard-experiment");
    Experiment experiment = read_experiment(folder.file("experiment.yaml", text), registry());
    const auto here = [&folder](std::string& path) {
        if (!path.empty()) path = fs::path(path).lexically_relative(folder.path()).string();
    };
    here(experiment.platform);
    for (Experiment::Network& network : experiment.networks) {
        here(network.file);
        here(network.trace);
    }
    return experiment;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

}  // namespace switchyard::platform
