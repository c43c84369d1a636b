// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "switchyard/platform/experiment/executor.h"
#include "switchyard/platform/experiment/experiment.h"
#include "switchyard/platform/system/interrupt.h"

namespace switchyard::platform {

struct ExperimentOptions {
    ExecutorOptions executor{};
    std::string store{};    ///< SQLite file with the results of points (docs/sweeps.md); empty: every point runs
    std::string version{};  ///< with a store: program_hash()
    bool retry = false;     ///< with a store: run the points that failed once more
    bool quiet = false;     ///< no progress and no table
};

/// interrupt_requested() has ended an experiment.
class ExperimentInterrupted : public Interrupted {
public:
    ExperimentInterrupted() : Interrupted("interrupted; what has ended is in the store, if there is one") {}
};

/// Runs all points, each in a process of its own, here or elsewhere, and writes FOLDER/results.json, FOLDER/table.txt
/// and FOLDER/plots/*.svg, whose bytes do not depend on where points run and how many at a time. Prints the table on
/// standard output, and on standard error each point as it ends. A point that does not fit its chip (Infeasible) is a
/// gap. What an earlier run left stays until all is whole; results.json is written last.
///
/// Returns true if the conservation checks of all points that ran hold. Throws InputError for bad input, Infeasible if
/// no point fits, std::runtime_error that names the point if one fails, ExperimentInterrupted. No SystemC object may
/// exist in this process.
bool run_experiment(const Experiment& experiment, const SystemRegistry& registry, const std::string& folder,
                    const ExperimentOptions& options);

}  // namespace switchyard::platform
