// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "switchyard/testbenches/cosim/mutation/mutation.h"

namespace switchyard::testing {

/// A regression to run in a process of its own.
struct MutantRun {
    Mutant mutant;
    unsigned cpu_seconds;  ///< a process that needs more hangs
};

struct MutantOutcome {
    std::string found;       ///< what tells the mutant from the original; "" if it survives
    double cpu_seconds = 0;  ///< of its process
};

/// Runs a regression on each mutant, as many processes at a time as there are processors, the first ones of the list
/// first. A crash, a simulation that does not settle and a hang are all found. `ended` is called with the place of each
/// as soon as it has ended. Returns the outcomes in the order of the list. Throws std::runtime_error if a process
/// cannot be made.
std::vector<MutantOutcome> run_in_processes(const std::vector<MutantRun>& runs, const MutantRegression& regression,
                                            const std::function<void(std::size_t, const MutantOutcome&)>& ended);

}  // namespace switchyard::testing
