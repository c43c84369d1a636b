// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "switchyard/platform/experiment/executor.h"
#include "switchyard/platform/experiment/point_key.h"
#include "switchyard/platform/experiment/sweep.h"

namespace switchyard::platform {

struct SweepOptions {
    std::string store;  ///< SQLite file
    ExecutorOptions executor{};
    bool retry = false;  ///< run the points that failed once more
    bool quiet = false;  ///< no progress
};

/// Of the sweep's points: those that are in the store now.
struct SweepOutcome {
    std::size_t points = 0, known = 0, ran = 0;  ///< known: they were there before
    std::size_t infeasible = 0, failed = 0;
    bool checks_hold = true;  ///< the conservation checks of all
    bool interrupted = false;
};

/// Runs the points of a sweep that the store does not have, each in a process of its own, here or elsewhere, and notes
/// each result as soon as it is there. Progress goes to standard error: one line that changes on a terminal, a line
/// every 5 s otherwise, and one for each point that fails. Throws InputError for bad input; a point that fails is no
/// error. No SystemC object may exist in this process.
SweepOutcome run_sweep(const Sweep& sweep, const SystemRegistry& registry, const std::string& version,
                       const SweepOptions& options);

/// The points on the Pareto fronts, one table a network.
std::string front_table(const Sweep& sweep, const std::string& store);

/// The rows of a statement of SQL: for people, as CSV (RFC 4180) or as a JSON list of objects. The store is not
/// changed.
enum class RowFormat { table, csv, json };
std::string query_store(const std::string& store, const std::string& sql, RowFormat format);

}  // namespace switchyard::platform
