// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "switchyard/platform/experiment/executor.h"

namespace CLI {
class App;
}

namespace switchyard::platform {

/// Adds `--jobs`, `--executor`, `--command`, `--slurm-options` and `--spool`.
class ExecutorCommandLine {
public:
    void add_to(CLI::App& command);
    /// `store`: the spool is beside it unless the command line says otherwise. `work`: the command of this program, and
    /// its options, that works on one point; files are made absolute by the caller's `file` at index 1.
    ExecutorOptions options(const std::string& store, std::vector<std::string> work) const;

private:
    std::string kind_ = "processes", command_, slurm_options_, spool_;
    unsigned jobs_ = 0;
};

}  // namespace switchyard::platform
