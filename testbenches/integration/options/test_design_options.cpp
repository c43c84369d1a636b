// SPDX-License-Identifier: Apache-2.0
// Every design of the registry with every key of a work, and with every option of `sy-sim run`: it changes what is
// done, or it is refused in one line.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "switchyard/platform/apps/run_command.h"
#include "switchyard/platform/system/process_pool.h"
#include "switchyard/sw_scheduler/base/json_text.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/options/option_cases.h"
#include "switchyard/testbenches/integration/programs.h"

using namespace switchyard;
using namespace switchyard::testing;
using platform::Point;
using platform::WorkKey;

namespace {

platform::RoutePhase phase(const std::string& probability) {
    const std::string file = scratch("phase.yaml");
    write_text(file, "seed: 5\nprobability: " + probability + "\n");
    return {0, sched::MappingReader(load_yaml(file), file, "phases")};
}

/// The point with the key set, in another way for each `variant`.
Point with(Point point, WorkKey key, unsigned variant) {
    const bool experts = point.design == "expert-parallel";
    point.work.batches = 1;
    switch (key) {
        case WorkKey::batches:
            point.work.batches = 1 + variant;
            break;
        case WorkKey::first_batch:
            point.work.first_batch = 3 * variant;
            break;
        case WorkKey::batch_size:
            point.work.batch_inputs = variant == 0 ? 8 : 16;
            break;
        case WorkKey::seed:
            point.work.seed = 40 + variant;
            break;
        case WorkKey::trace:
            point.work.batches = 1 + variant;
            point.work.trace = tiny_trace();
            break;
        case WorkKey::phases:
            point.work.phases.push_back(experts
                                            ? phase(variant == 0 ? "[0.65, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05]"
                                                                 : "[0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.65]")
                                        : variant ? phase("[0.1, 0.9]")
                                                  : phase("[0.9, 0.1]"));
            break;
    }
    return point;
}

/// In a process of its own: the report, or what was refused.
std::string outcome_of(const Point& point) {
    std::string outcome;
    platform::run_all_in_processes(
        1, 1, [&](std::size_t) { return json_text(registry().system_of_design(point.design).prepare(point)->run()); },
        [&](std::size_t, const std::string& text, double) { outcome = text; },
        [&](std::size_t, const std::string& message, double) { outcome = "refused: " + message; });
    return outcome;
}

bool is_refused(const std::string& outcome) {
    return outcome.rfind("refused: ", 0) == 0;
}

/// Exit status 2, one line that names the option.
void check_refused_option(const Outcome& outcome, const std::string& option) {
    INFO(outcome.err);
    CHECK(outcome.status == 2);
    CHECK(outcome.out.empty());
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    CHECK_THAT(outcome.err, Catch::Matchers::ContainsSubstring(option));
}

}  // namespace

TEST_CASE("every key of a work changes what a design does, or the design does not take it", "[options]") {
    unsigned used = 0, refused = 0;
    for (const std::string& design : registry().design_names()) {
        const Point point = small_point(design);
        for (const WorkKey key : platform::all_work_keys()) {
            INFO(design << ": " << name_of(key));
            if (!registry().refusal(design, key).empty()) {
                CHECK_THAT(registry().refusal(design, key), Catch::Matchers::StartsWith(design + " does not take it"));
                ++refused;
                continue;
            }
            ++used;
            if (key == WorkKey::trace && design != "expert-parallel") {
                Point missing = with(point, key, 1);
                missing.work.trace = scratch("missing.jsonl");
                CHECK_THAT(outcome_of(missing), Catch::Matchers::ContainsSubstring("missing.jsonl: cannot be read: "));
            }
            if (key == WorkKey::trace && design == "expert-parallel") continue;  // below
            const std::string one = outcome_of(with(point, key, 0)), other = outcome_of(with(point, key, 1));
            INFO(one.substr(0, 300));
            CHECK_FALSE(is_refused(one));
            INFO(other.substr(0, 300));
            CHECK_FALSE(is_refused(other));
            CHECK(one != other);
        }
    }
    std::cout << fmt::format("designs x keys of a work: {} used, {} refused\n", used, refused);
    CHECK(used + refused == registry().design_names().size() * platform::all_work_keys().size());
}

TEST_CASE("every option of sy-sim run is used by a design or refused in one line", "[options]") {
    CLI::App app;
    platform::RunCommand command;
    command.add_to(app);
    const std::string missing = scratch("missing.file");
    // What each option is tried with beside a point; work keys are those of the case above.
    const std::map<std::string, std::string> tried = {{"--trace", missing},
                                                      {"--batches", "2"},
                                                      {"--seed", "77"},
                                                      {"--set", "chip.nothing=1"},
                                                      {"--timeline-window", "0:1"}};
    const std::vector<std::string> others = {"--design", "--workload", "--platform",
                                             "--report", "--timeline", "--help"};
    unsigned refused = 0, used = 0, of_images = 0;
    for (const std::string& design : registry().design_names()) {
        const std::string run = run_command(small_point(design));
        const auto takes = [&](WorkKey key) { return registry().refusal(design, key).empty(); };
        for (const CLI::Option* const option : app.get_options()) {
            const std::string name = option->get_name();
            if (std::find(others.begin(), others.end(), name) != others.end()) continue;
            INFO(design << ": " << name);
            if (option->get_group() == platform::ImageRun::kGroup) {
                if (name == "--image") continue;
                check_refused_option(sy_sim(run + " " + name + " 1"),
                                     name + ": expected no value here, as it goes with --image");
                ++of_images;
                continue;
            }
            REQUIRE(tried.count(name) == 1);  // a new option must join the walk
            if ((name == "--batches" && takes(WorkKey::batches)) || (name == "--seed" && takes(WorkKey::seed))) {
                ++used;
                continue;
            }
            check_refused_option(sy_sim(run + " " + name + " " + tried.at(name)),
                                 name == "--trace" && takes(WorkKey::trace) ? "missing.file: cannot be read: No such"
                                 : name == "--set"                          ? "chip.nothing"
                                                                            : name);
            ++refused;
        }
        // The files that it is about.
        for (const std::string& of : {std::string("--workload"), std::string("--platform")}) {
            Point point = small_point(design);
            std::string& file = of == "--workload"       ? point.workload
                                : point.platform.empty() ? point.parameters["file"]
                                                         : point.platform;
            file = missing;
            check_refused_option(sy_sim(run_command(point)), "missing.file: cannot be read: No such file");
            ++refused;
        }
    }
    std::cout << fmt::format("designs x options of sy-sim run: {} used, {} refused, {} of images\n", used, refused,
                             of_images);
    CHECK(refused + used == registry().design_names().size() * (tried.size() + 2));
}

TEST_CASE("what a run of a workload writes and draws is there, or refused", "[options]") {
    unsigned timelines = 0, formulas = 0;
    for (const std::string& design : registry().design_names()) {
        INFO(design);
        const std::string run = run_command(small_point(design)) +
                                (registry().refusal(design, WorkKey::batches).empty() ? " --batches 1" : "");
        const std::string report = scratch("report_" + design), timeline = scratch("timeline_" + design);
        const Outcome with_timeline = sy_sim(run + " --quiet --report " + report + " --timeline " + timeline);
        INFO(with_timeline.err);
        CHECK(with_timeline.out.empty());
        if (with_timeline.status == 0) {
            ++timelines;
            CHECK(read_json(timeline).at("traceEvents").size() > 1);
            CHECK(read_json(report + "/report.json").at("design") == design);
        } else {
            ++formulas;
            check_refused_option(with_timeline, "--timeline");
            CHECK_FALSE(std::filesystem::exists(timeline));
        }
    }
    std::cout << fmt::format("timelines: {} written, {} refused\n", timelines, formulas);
    CHECK(timelines + formulas == registry().design_names().size());
}

TEST_CASE("a seed from which nothing is drawn is refused", "[options]") {
    const std::string adyna = run_command(small_point("adyna"));
    check_refused_option(sy_sim(adyna + " --batches 1 --seed 4 --trace " + tiny_trace()),
                         "--seed: expected no seed for ");
    const std::string stat = "run --design m-tenant --workload testbenches/data/static_chain.yaml --platform ";
    check_refused_option(sy_sim(stat + kMini + " --batches 1 --seed 4"), "--seed: expected no seed for ");
    check_refused_option(sy_sim("run --design ace-sw --workload configs/workloads/ace/walker2d.yaml --platform "
                                "configs/platforms/ace_rtx3070.yaml --seed 4"),
                         "--seed: expected no seed for ");
}
