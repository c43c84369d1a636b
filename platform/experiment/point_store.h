// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "switchyard/platform/experiment/database.h"

namespace switchyard::platform {

/// What is known of a point that has ended.
struct StoredPoint {
    std::string key;
    std::string configuration, version;           ///< for people; the key has both in it
    std::string state;                            ///< "done", "infeasible" or "failed"
    std::string message{};                        ///< one line, unless it is done
    double seconds = 0;                           ///< of the run
    std::string report{};                         ///< JSON; empty unless it is done
    std::map<std::string, std::string> inputs{};  ///< files that it has read, with the hashes of their contents

    /// The report. Throws InputError that names the store and the point for one that is damaged.
    nlohmann::ordered_json parsed_report(const std::string& store) const;
};

/// A column of a sweep's view.
struct SweepColumn {
    std::string name;
    std::string source;  ///< an expression of SQL over `settings` and `report`
};

/// One point of a sweep.
struct SweepRow {
    std::string key, network, design;
    std::string settings;  ///< JSON, of the axes
};

/// Results of points in an SQLite file, one row a point, and which points are those of a sweep. docs/sweeps.md has the
/// tables. What add() has returned from outlives the process. One process at a time: a second one gets InputError.
class PointStore {
public:
    explicit PointStore(const std::string& file);
    ~PointStore();
    PointStore(const PointStore&) = delete;
    PointStore& operator=(const PointStore&) = delete;

    std::optional<StoredPoint> find(const std::string& key);
    /// Throws InputError if the point is there.
    void add(const StoredPoint& point);
    void remove(const std::string& key);

    /// Throws InputError that names the first point of the sweep, as the store has it, whose report is no JSON.
    void check_sweep(const std::string& name);
    /// In place of what the sweep of this name had. Makes a view with its name.
    void set_sweep(const std::string& name, const std::vector<SweepRow>& rows, const std::vector<SweepColumn>& columns);
    /// Of each row of set_sweep(): is it on the Pareto front?
    void set_front(const std::string& name, const std::vector<bool>& front);

    Database& database() { return *database_; }

private:
    std::string file_;
    int lock_ = -1;
    std::unique_ptr<Database> database_;
};

}  // namespace switchyard::platform
