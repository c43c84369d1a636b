// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "switchyard/platform/apps/executor_options.h"
#include "switchyard/platform/experiment/run_experiment.h"
#include "switchyard/platform/system/system_registry.h"

namespace CLI {
class App;
}

namespace switchyard::platform {

/// `sy-sim experiment`: docs/experiments.md.
struct ExperimentCommand {
    std::string file, report;
    std::vector<std::string> settings;
    ExperimentOptions options;
    ExecutorCommandLine executor;

    void add_to(CLI::App& app);
    Experiment read(const SystemRegistry& registry) const;
    int run(const SystemRegistry& registry);
};

/// `sy-sim work`, what other machines do: one point of an experiment, whose answer goes to a file.
struct WorkCommand {
    ExperimentCommand experiment;
    std::string key, answer;
    std::size_t number = 0;

    void add_to(CLI::App& app);
    int run(const SystemRegistry& registry) const;
};

}  // namespace switchyard::platform
