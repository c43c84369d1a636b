// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/apps/experiment_command.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "switchyard/platform/apps/command_line.h"
#include "switchyard/platform/apps/exit_status.h"
#include "switchyard/platform/apps/self_description.h"
#include "switchyard/platform/experiment/stored_run.h"
#include "switchyard/platform/system/interrupt.h"
#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::platform {

void ExperimentCommand::add_to(CLI::App& app) {
    app.add_option("experiment", file, "experiment file (YAML)")->required();
    app.add_option("--report", report, "folder for results.json, table.txt, plots/ and the page index.html")
        ->required();
    executor.add_to(app);
    app.add_option("--store", options.store, "SQLite file with results of points; points that it has do not run");
    app.add_flag("--retry", options.retry, "with a store: run the points that failed once more");
    app.add_flag("--quiet", options.quiet, "no progress and no table");
    app.add_option("--set", settings, "override batches, seed, or a key of the platform for all points")
        ->allow_extra_args(false)
        ->type_name("KEY=VALUE");
}

Experiment ExperimentCommand::read(const SystemRegistry& registry) const {
    Experiment experiment = read_experiment(file, registry);
    override_settings(experiment, parse_overrides(settings), registry);
    return experiment;
}

int ExperimentCommand::run(const SystemRegistry& registry) {
    const Experiment experiment = read(registry);
    std::vector<std::string> work = {"work", file};
    for (const std::string& setting : settings) work.insert(work.end(), {"--set", setting});
    options.executor = executor.options(options.store.empty() ? report : options.store, work);
    if (options.retry && options.store.empty())
        throw InputError("--retry", 0, "", "expected with --store only, found without; leave it out");
    const bool elsewhere = options.executor.kind != ExecutorOptions::Kind::processes;
    if (elsewhere && options.store.empty())
        throw InputError("--executor", 0, "", "expected --store beside it, found none");
    if (!options.store.empty()) {
        options.version = program_hash();
        catch_interrupts();
    }
    try {
        return run_experiment(experiment, registry, report, options) ? 0 : kFailedCheck;
    } catch (const ExperimentInterrupted& end) {
        fmt::print(stderr, "sy-sim: {}\n", end.what());
        return kInterrupted;
    }
}

void WorkCommand::add_to(CLI::App& app) {
    app.add_option("experiment", experiment.file, "experiment file (YAML)")->required();
    app.add_option("number", number, "of the point")->required();
    app.add_option("--key", key, "hash that the point must have")->required();
    app.add_option("--answer", answer, "file to write the answer to")->required();
    app.add_option("--set", experiment.settings, "as of the experiment")->allow_extra_args(false);
}

int WorkCommand::run(const SystemRegistry& registry) const {
    const auto points = points_of(experiment.read(registry), registry);
    if (number >= points.size())
        throw InputError(experiment.file, 0, "", fmt::format("expected a point of the experiment, found {}", number));
    answer_point(points[number].run, registry, program_hash(), key, answer);
    return 0;
}

}  // namespace switchyard::platform
