// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "switchyard/platform/experiment/executor.h"
#include "switchyard/platform/experiment/point_key.h"
#include "switchyard/platform/experiment/point_store.h"
#include "switchyard/platform/system/system_registry.h"

namespace switchyard::platform {

/// States of a StoredPoint.
inline constexpr const char* kDone = "done";
inline constexpr const char* kInfeasible = "infeasible";
inline constexpr const char* kFailed = "failed";

/// Runs a point in this process: JSON with `state`, `report` or `message`, `seconds`, and `files` that were read.
std::string point_answer(const Point& point, const SystemRegistry& registry);

/// The same for another process, which execute() has started: writes the answer to a file. A point whose key is another
/// one, because a file or the program differs on that machine, is answered as failed.
void answer_point(const Point& point, const SystemRegistry& registry, const std::string& version,
                  const std::string& key, const std::string& file);

/// A point of a sweep or an experiment.
struct StoredTask {
    std::size_t number = 0;  ///< in its file
    std::string key;
    const Point* point = nullptr;
};

/// Points whose results are kept in a store.
class StoredRun {
public:
    StoredRun(const SystemRegistry& registry, std::string version, const std::string& store, bool retry)
        : registry_(registry), keys_(registry, std::move(version)), store_(store), retry_(retry) {}

    PointKeys& keys() { return keys_; }
    PointStore& store() { return store_; }

    /// The store has the point, and the files that it has read are the same. What is stale is removed.
    bool is_known(const std::string& key);

    /// Runs the tasks, notes each result in the store as soon as it is there, then calls noted(index, result). Returns
    /// whether all have ended.
    bool run(const std::vector<StoredTask>& tasks, const ExecutorOptions& executor,
             const std::function<void(std::size_t, const StoredPoint&)>& noted);

private:
    StoredPoint stored(const std::string& answer, double seconds);

    const SystemRegistry& registry_;
    PointKeys keys_;
    PointStore store_;
    bool retry_;
};

}  // namespace switchyard::platform
