// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iostream>
#include <string>

#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/cosim/mutation/mutation.h"

namespace switchyard::testing {

/// The least score of a file, all of its mutants run, in percent of those that are not equivalent.
constexpr double kMinMutationScore = 95;

/// Every `stride`-th mutant of a list: the original passes, survivors.tsv is right, and with a stride of 1 every file
/// has the score. Prints the scores.
inline void check_mutants(const std::string& block, const std::string& list, unsigned stride,
                          const MutantRegression& regression) {
    const MutationReport report = run_mutants(block, read_mutants(list), stride, regression);
    CHECK(report.original == "");
    for (const std::string& error : report.errors) FAIL_CHECK(error);
    for (const MutantScore& score : report.scores) {
        std::cout << block << ": " << score.file << ": " << score.killed << " of " << score.mutants << " found, "
                  << score.equivalent << " equivalent\n";
        if (stride == 1) CHECK(score.percent() >= kMinMutationScore);
    }
}

}  // namespace switchyard::testing
