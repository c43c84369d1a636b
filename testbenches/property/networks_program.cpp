// SPDX-License-Identifier: Apache-2.0
// Random networks over the whole model format: what compiles must run.

#include <cstdint>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <systemc>

#include "switchyard/platform/apps/command_line.h"
#include "switchyard/platform/system/report_parts.h"
#include "switchyard/testbenches/property/format_case.h"

using namespace switchyard;

int sc_main(int, char**) {
    return 0;
}

int main(int argc, char** argv) {
    CLI::App app("Compiles and runs random networks over the whole model format.", "property_networks");
    std::uint64_t first = 1;
    std::size_t count = 100;
    unsigned jobs = 1;
    bool values = false;
    std::string json, folder;
    app.add_option("--seed", first, "of the first network; the next ones count on");
    app.add_option("--networks", count, "number of networks")->check(CLI::PositiveNumber);
    app.add_option("--jobs", jobs, "networks at a time")->check(CLI::PositiveNumber);
    app.add_option("--json", json, "file for what became of each");
    app.add_option("--write", folder, "do not run: write the files and commands of each network to FOLDER/SEED");
    app.add_flag("--values", values, "with --write: networks that a functional run computes");
    return platform::run_program(app, argc, argv, [&] {
        if (!folder.empty()) {
            for (std::uint64_t seed = first; seed < first + count; ++seed)
                testing::write_format_case(seed, values ? testing::FormatUse::values : testing::FormatUse::sizes,
                                           fmt::format("{}/{}", folder, seed));
            return 0;
        }
        const std::vector<nlohmann::ordered_json> results = testing::run_format_cases(first, count, jobs);
        fmt::print("seeds {} to {}: {}", first, first + count - 1, testing::format_text(results));
        if (!json.empty())
            platform::write_json({{"format", "switchyard-networks"}, {"version", 1}, {"networks", results}}, json);
        return testing::summary_of_formats(results).faults.empty() ? 0 : 1;
    });
}
