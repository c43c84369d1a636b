// SPDX-License-Identifier: Apache-2.0
// Kernel streams and the system ace by command line: streams in both forms, repeatability, bad input.
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/sw_scheduler/base/json_text.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/programs.h"

using namespace switchyard::testing;
using Catch::Matchers::ContainsSubstring;
using nlohmann::json;

namespace {

const std::string kWalker = "configs/workloads/ace/walker2d.yaml";

Outcome run_design(const std::string& design, const std::string& workload, const std::string& more = "") {
    return sy_sim(
        fmt::format("run --platform configs/platforms/ace_rtx3070.yaml --design {} --workload {} --batches 1 {}",
                    design, workload, more));
}

/// The text of the report of a run, which must succeed.
std::string report_text(const std::string& design, const std::string& workload, const std::string& more = "") {
    const Outcome outcome = run_design(design, workload, more + " --report " + scratch("ace"));
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    REQUIRE(outcome.err.empty());
    return read_text(scratch("ace/report.json"));
}

json report_of(const std::string& design, const std::string& workload, const std::string& more) {
    return switchyard::parse_json(report_text(design, workload, more), "report.json");
}

/// A description of a stream that is in a file beside it.
std::string recorded(const std::string& stream) {
    write_text(scratch("recorded.yaml"), "name: walker2d\ngenerator: recorded\nstream: " + stream + "\n");
    return scratch("recorded.yaml");
}

/// The same of a stream of one line.
std::string recorded_line(const std::string& line) {
    write_text(scratch("line.jsonl"), line + "\n");
    return recorded("line.jsonl");
}

}  // namespace

TEST_CASE("a stream in a file runs as the application that made it, in both forms", "[cli][ace]") {
    REQUIRE(sy_sched("kernels " + kWalker + " -o " + scratch("walker.jsonl")).status == 0);
    REQUIRE(sy_sched("kernels " + kWalker + " --binary -o " + scratch("walker.syks")).status == 0);
    // One graph for all inputs is constructed before the first: set for both.
    const std::string more = "--set run.prepared=no";
    const json made = report_of("ace-sw", kWalker, more);
    CHECK(report_of("ace-sw", recorded("walker.jsonl"), more) == made);
    CHECK(report_of("ace-sw", recorded("walker.syks"), more) == made);

    // Another input of a network whose graph depends on it is another stream.
    const auto instanas = [](const std::string& more_options) {
        REQUIRE(sy_sched("kernels configs/workloads/ace/instanas.yaml " + more_options + " -o " + scratch("i.jsonl"))
                    .status == 0);
        return read_text(scratch("i.jsonl"));
    };
    CHECK(instanas("--input 0") == instanas(""));
    CHECK(instanas("--input 1") != instanas(""));
    CHECK(instanas("--seed 2") != instanas(""));
}

TEST_CASE("a run and an experiment of ACE are the same bytes when they are repeated", "[cli][ace]") {
    CHECK(report_text("ace-hw", kWalker) == report_text("ace-hw", kWalker));

    write_text(scratch("experiment.yaml"), fmt::format(R"(name: repeated
platform: {0}/configs/platforms/ace_rtx3070.yaml
batches: 2
networks: [{0}/configs/workloads/ace/walker2d.yaml, {0}/configs/workloads/ace/instanas.yaml]
designs: [gpu-serial, ace-sw, ace-hw]
figures:
  - {{name: speedup, measure: summary.latency_us.mean, over: gpu-serial, inverse: yes, label: speedup}}
)",
                                                       std::filesystem::current_path().string()));
    const auto results = [](const std::string& folder, const std::string& more) {
        const Outcome outcome =
            sy_sim("experiment " + scratch("experiment.yaml") + " --report " + scratch(folder) + " " + more);
        INFO(outcome.err);
        REQUIRE(outcome.status == 0);
        CHECK_THAT(outcome.err, ContainsSubstring("ace-hw"));  // progress
        return read_text(scratch(folder + "/results.json")) + read_text(scratch(folder + "/table.txt"));
    };
    CHECK(results("first", "--jobs 2") == results("second", "--jobs 1"));
}

TEST_CASE("what no GPU runs is one line", "[cli][ace][bad]") {
    const auto refused = [](const std::string& workload, std::initializer_list<const char*> parts) {
        check_refused(run_design("ace-hw", workload), parts);
    };
    refused(recorded_line(R"({"name": "large", "grid": [1], "block": [1024], "registers": 255, "flops": 1})"),
            {"recorded.yaml", "kernel 0 (large)", "registers"});
    std::string segments;
    for (unsigned i = 0; i < 65; ++i) segments += fmt::format("{}[{}, 8]", i > 0 ? ", " : "", 64 * i);
    refused(recorded_line(R"({"name": "k", "grid": [1], "block": [32], "reads": [)" + segments + "]}"),
            {"line.jsonl:1: ", "expected at most 64 segments, found 65"});
    refused(recorded_line(R"({"name": "k", "grid": [1], "block": [32], "reads": [[281474976710656, 8]]})"),
            {"line.jsonl:1: ", "48 bits"});
    refused(recorded_line(R"({"name": "k", "grid": [1], "bl)"), {"line.jsonl:1: "});
    refused(recorded_line(""), {"line.jsonl"});

    REQUIRE(sy_sched("kernels " + kWalker + " --binary -o " + scratch("whole.syks")).status == 0);
    const std::string whole = read_text(scratch("whole.syks"));
    write_text(scratch("cut.syks"), whole.substr(0, whole.size() / 2));
    refused(recorded("cut.syks"), {"cut.syks", "truncated"});
    std::string damaged = whole;
    damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
    write_text(scratch("damaged.syks"), damaged);
    refused(recorded("damaged.syks"), {"damaged.syks"});

    check_refused(run_design("ace-hw", kWalker, "--set scheduling_window.slots=1"), {"scheduling_window.slots"});
    check_refused(run_design("ace-hw", kWalker, "--set run.kernel_scale=0"), {"run.kernel_scale"});
    check_refused(run_design("ace-hw", kWalker, "--set window.slots=8"),
                  {"window.slots: expected a known key, found window.slots"});
    check_refused(sy_sched("kernels " + scratch("nowhere.yaml") + " -o " + scratch("n.jsonl")), {"nowhere.yaml"});
    write_text(scratch("unknown.yaml"), "name: u\ngenerator: transformers\n");
    check_refused(sy_sched("kernels " + scratch("unknown.yaml") + " -o " + scratch("n.jsonl")),
                  {"unknown.yaml:2: generator"});
}

TEST_CASE("a run that makes no progress says who waits for what", "[cli][ace][bad]") {
    // Nothing can complete within a microsecond of the first launch: the launch itself takes longer.
    check_refused(run_design("gpu-multi-stream", kWalker, "--set run.watchdog_us=1"),
                  {"expected a kernel to complete within 1 us, found none for", "queue 0 (packet", "waits for"});
    check_refused(run_design("ace-hw", kWalker, "--set run.watchdog_us=1"),
                  {"the scheduling window: expected a kernel to complete within 1 us, found none for"});
}
