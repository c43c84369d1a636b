// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "switchyard/platform/experiment/experiment.h"

namespace switchyard::platform {

/// Runs all points, each in a process of its own, at most `jobs` at a time (0: one a core), and writes
/// FOLDER/results.json, FOLDER/table.txt and FOLDER/plots/*.svg, whose bytes do not depend on `jobs`. Prints the table
/// on standard output, and on standard error each point as it ends. A point that does not fit its chip (Infeasible) is
/// a gap. What an earlier run left stays until all is whole; results.json is written last.
///
/// Returns true if the conservation checks of all points that ran hold. Throws InputError for bad input, Infeasible if
/// no point fits, std::runtime_error that names the point if one fails. No SystemC object may exist in this process.
bool run_experiment(const Experiment& experiment, const SystemRegistry& registry, const std::string& folder,
                    unsigned jobs);

}  // namespace switchyard::platform
