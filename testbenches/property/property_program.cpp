// SPDX-License-Identifier: Apache-2.0
// Random pairs of a network and a chip, run as tiles and as stages: the distribution of the difference.

#include <cstdint>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <systemc>

#include "switchyard/platform/apps/command_line.h"
#include "switchyard/platform/system/report_parts.h"
#include "switchyard/platform/systems/adyna/report.h"
#include "switchyard/testbenches/property/pair.h"
#include "switchyard/testbenches/property/summary.h"

using namespace switchyard;

int sc_main(int, char**) {
    return 0;
}

int main(int argc, char** argv) {
    CLI::App app("Runs random pairs of a network and a chip as tiles and as stages.", "property_pairs");
    std::uint64_t first = 1;
    std::size_t count = 100;
    unsigned jobs = 1;
    bool large = false;
    std::string json, folder;
    app.add_option("--seed", first, "of the first pair; the next ones count on");
    app.add_option("--pairs", count, "number of pairs")->check(CLI::PositiveNumber);
    app.add_option("--jobs", jobs, "pairs at a time")->check(CLI::PositiveNumber);
    app.add_flag("--large", large, "larger networks and chips; seconds a pair");
    app.add_option("--json", json, "file for all pairs and the distribution");
    app.add_option("--write", folder, "do not run: write the first pair's files and the commands that run it here");
    return platform::run_program(app, argc, argv, [&] {
        const testing::PairSize size = large ? testing::PairSize::large : testing::PairSize::small;
        if (!folder.empty()) {
            testing::write_pair(first, size, folder);
            return 0;
        }
        const std::vector<nlohmann::ordered_json> results = testing::run_pairs(first, count, size, jobs);
        fmt::print("seeds {} to {}, {} pairs\n{}", first, first + count - 1, large ? "large" : "small",
                   testing::summary_text(results));
        if (!json.empty())
            platform::write_json({{"format", "switchyard-pairs"},
                                  {"version", 1},
                                  {"distribution", testing::to_json(testing::summary_of(results))},
                                  {"validated", testing::to_json(testing::summary_of(testing::validated(results)))},
                                  {"pairs", results}},
                                 json);
        return 0;
    });
}
