// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

/// Mutants of an RTL block: mutate.py has put all of them into one Verilated model, and every model of a process is the
/// one that select_mutant() has named before its construction.
namespace switchyard::testing {

/// A line of mutants.tsv.
struct Mutant {
    unsigned number;  ///< from 1; 0 is the original
    std::string file;
    unsigned line;
    std::string kind;
    std::string original, mutated;
    unsigned occurrence;  ///< from 1, among those of the file that read the same
    std::string text() const;
};

/// Throws std::runtime_error if the file cannot be read.
std::vector<Mutant> read_mutants(const std::string& path);

/// Models made from now on are this mutant. Their registers begin with zeros, ones or random values: `registers` is 0,
/// 1 or 2.
void select_mutant(unsigned number, int registers = 2, int seed = 1);

/// A block's regression on a mutant: "" or what is wrong. It may throw; what it prints is lost.
using MutantRegression = std::function<std::string(const Mutant&)>;

/// What came of a file's mutants.
struct MutantScore {
    std::string file;
    unsigned mutants = 0, killed = 0, equivalent = 0;
    /// Of those that are not equivalent.
    double percent() const { return mutants == equivalent ? 100 : 100.0 * killed / (mutants - equivalent); }
};

struct MutationReport {
    std::vector<MutantScore> scores;  ///< by file
    std::vector<std::string> errors;  ///< what contradicts survivors.tsv, one line each
    std::string original;             ///< with a stride of 1, what the regression says of the original: "" if it passes
};

/// Runs the regression on every `stride`-th mutant, and on all that were selected by hand, each in a process of its own
/// with `cpu_seconds` (a mutant that needs more is found: it hangs). survivors.tsv beside this file lists the mutants
/// that survive, with the reason: a survivor that it does not list is an error, as is a listed one that is found or,
/// with a stride of 1, does not exist. A stride of 1 writes <block>.md, the scores, <block>.survivors.tsv and
/// <block>.log, how each one was found and after how many seconds, into the build folder's mutation/. Environment
/// SWITCHYARD_MUTANTS=FIRST-LAST: only these numbers.
MutationReport run_mutants(const std::string& block, const std::vector<Mutant>& mutants, unsigned stride,
                           const MutantRegression& regression, unsigned cpu_seconds = 30);

}  // namespace switchyard::testing
