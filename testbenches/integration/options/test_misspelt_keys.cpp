// SPDX-License-Identifier: Apache-2.0
// A misspelt key of a platform file gets the same answer in every system: file, line, key and the nearest known key.
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/options/option_cases.h"
#include "switchyard/testbenches/integration/programs.h"

using namespace switchyard;
using namespace switchyard::testing;

namespace fs = std::filesystem;

namespace {

struct Misspelt {
    std::string file, section, key, wrong;
    int line = 0;
};

/// A copy of the platform file without a letter of the first long key of a section.
Misspelt misspelt(const std::string& platform, const std::string& name) {
    std::istringstream lines(read_text(platform));
    Misspelt result;
    std::string text, line;
    std::smatch found;
    for (int number = 1; std::getline(lines, line); ++number) {
        if (result.key.empty() && std::regex_search(line, found, std::regex("^([a-z_]+):"))) result.section = found[1];
        // A line of its own, or one within braces.
        if (result.key.empty() &&
            std::regex_search(line, found, std::regex("^(  |[a-z_]+: \\{(?:.*, )?)([a-z_]{7,}): *[^ {\\[]"))) {
            result.key = found[2];
            result.wrong = result.key;
            result.wrong.erase(3, 1);
            result.line = number;
            line.replace(static_cast<std::size_t>(found.position(2)), result.key.size(), result.wrong);
        }
        text += line + "\n";
    }
    result.file = scratch(name);
    // Files that it names are relative to it.
    write_text(result.file, std::regex_replace(text, std::regex("\\.\\./"), fs::current_path().string() + "/configs/"));
    return result;
}

}  // namespace

TEST_CASE("a misspelt key of a platform gets the nearest one in every system", "[options]") {
    std::set<std::string> systems;
    for (const std::string& design : registry().design_names()) {
        const std::string system = registry().system_of_design(design).name();
        if (!systems.insert(system).second) continue;
        platform::Point point = small_point(design);
        std::string& platform = point.platform.empty() ? point.parameters["file"] : point.platform;
        const Misspelt key = misspelt(platform, system + "_misspelt.yaml");
        INFO(system << ", " << key.section << "." << key.key);
        REQUIRE_FALSE(key.key.empty());
        platform = key.file;
        const Outcome outcome = sy_sim(run_command(point));
        INFO(outcome.err);
        CHECK(outcome.status == 2);
        CHECK_THAT(outcome.err, Catch::Matchers::ContainsSubstring(fmt::format(
                                    "{}:{}: {}.{}: expected one of ", key.file, key.line, key.section, key.wrong)));
        CHECK_THAT(outcome.err, Catch::Matchers::ContainsSubstring("; did you mean " + key.key + "?"));
    }
    CHECK(systems.size() == 8);
}
