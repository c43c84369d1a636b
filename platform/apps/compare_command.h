// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace switchyard::platform {

/// `sy-sim compare`: a page with two or more reports side by side.
struct CompareCommand {
    static constexpr std::size_t kMaxReportBytes = std::size_t{256} << 20;

    std::vector<std::string> reports;  ///< report.json, or folders with it
    std::string output;

    void add_to(CLI::App& app);
    /// Returns the exit status. Throws InputError for what is no report.
    int run() const;
};

}  // namespace switchyard::platform
