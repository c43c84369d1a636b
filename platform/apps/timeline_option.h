// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>

namespace switchyard::platform {

/// `--timeline FILE` and `--timeline-window BEGIN:END` (docs/timeline.md).
struct TimelineOption {
    std::string file, window;

    void add_to(CLI::App& app);
    /// Throws InputError for a window that is none.
    void check() const;
    /// What `simulate` returns; its simulation is written to the file if there is one. In the process that elaborates.
    /// Throws InputError if nothing of it is on the timeline, and whatever `simulate` throws; then no file is left.
    nlohmann::ordered_json record(const std::function<nlohmann::ordered_json()>& simulate) const;
};

}  // namespace switchyard::platform
