// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/programs.h"

using namespace switchyard::testing;
using nlohmann::json;

namespace {

/// Compiles a test model for mini.yaml, with `batch` in place of its own if that is not 0.
std::string small_image(const std::string& model, unsigned batch = 0) {
    std::string path = "testbenches/data/" + model + ".yaml";
    if (batch > 0) {
        std::string text = read_text(path);
        const std::size_t line = text.find("\nbatch: ") + 1;
        text.replace(line, text.find('\n', line) - line, fmt::format("batch: {}", batch));
        path = scratch(fmt::format("{}_{}.yaml", model, batch));
        write_text(path, text);
    }
    return compiled(path + " --platform " + kMini + " --design adyna", fmt::format("{}_{}.syk", model, batch));
}

std::string trace_line(const std::string& name, unsigned branches, const std::vector<std::uint64_t>& masks,
                       const std::string& samples = "") {
    return fmt::format("{{\"batch\":0,\"switch\":\"{}\",\"branches\":{},\"samples\":{},\"mask\":[{}]}}\n", name,
                       branches, samples.empty() ? std::to_string(masks.size()) : samples, fmt::join(masks, ","));
}

/// Runs one batch of the trace with checkers on every link; every conservation check must hold, whichever chip it is.
json run_trace(const std::string& chip, const std::string& image, const std::string& trace) {
    write_text(scratch("extreme.jsonl"), trace);
    return report_of_run(std::string("--platform ") + kMini + " --image " + image + " --trace " +
                         scratch("extreme.jsonl") + " --set chip.check_protocol=true --set chip.impl=" + chip);
}

double samples_of(const json& report, const std::string& name) {
    for (const json& op : report.at("operators")) {
        if (op.at("operator") == name) return op.at("samples_per_batch").get<double>();
    }
    FAIL("no operator " << name);
    return 0;
}

}  // namespace

TEST_CASE("a branch that gets no sample", "[routing]") {
    const std::string chip = GENERATE("tiles", "stages");
    const std::string image = small_image("fig6");
    const json all_long = run_trace(chip, image, trace_line("block", 2, std::vector<std::uint64_t>(8, 2)));
    CHECK(samples_of(all_long, "b1") == 0);
    CHECK(samples_of(all_long, "b2b") == 8);
    CHECK(samples_of(all_long, "out") == 8);
    const json all_short = run_trace(chip, image, trace_line("block", 2, std::vector<std::uint64_t>(8, 1)));
    CHECK(samples_of(all_short, "b1") == 8);
    CHECK(samples_of(all_short, "b2a") == 0);
    CHECK(samples_of(all_short, "out") == 8);
}

TEST_CASE("every sample takes every branch", "[routing]") {
    const std::string chip = GENERATE("tiles", "stages");
    const json report =
        run_trace(chip, small_image("moe"), trace_line("experts", 4, std::vector<std::uint64_t>(64, 15)));
    for (const char* name : {"expert0", "expert1", "expert2", "expert3", "sum"}) CHECK(samples_of(report, name) == 64);
}

TEST_CASE("samples that take no branch at all", "[routing]") {
    const std::string chip = GENERATE("tiles", "stages");
    std::vector<std::uint64_t> masks(64, 0);
    masks[63] = 4;
    const json report = run_trace(chip, small_image("moe"), trace_line("experts", 4, masks));
    CHECK(samples_of(report, "expert0") == 0);
    CHECK(samples_of(report, "expert2") == 1);
    CHECK(samples_of(report, "sum") == 64);
}

TEST_CASE("a batch of one", "[routing]") {
    const std::string chip = GENERATE("tiles", "stages");
    for (const std::uint64_t mask : {1, 2}) {
        const json report = run_trace(chip, small_image("fig6", 1), trace_line("block", 2, {mask}));
        CHECK(samples_of(report, "b1") == (mask == 1 ? 1 : 0));
        CHECK(samples_of(report, "b2a") == (mask == 2 ? 1 : 0));
    }
}

TEST_CASE("everybody leaves at the first exit, and nobody does", "[routing]") {
    const std::string chip = GENERATE("tiles", "stages");
    const std::string image = small_image("early_exit");
    const json leave = run_trace(
        chip, image, trace_line("exit0", 2, std::vector<std::uint64_t>(16, 2)) + trace_line("exit1", 2, {}, "0"));
    CHECK(samples_of(leave, "head0") == 16);
    CHECK(samples_of(leave, "attention1") == 0);
    const json stay = run_trace(chip, image,
                                trace_line("exit0", 2, std::vector<std::uint64_t>(16, 1)) +
                                    trace_line("exit1", 2, std::vector<std::uint64_t>(16, 1)));
    CHECK(samples_of(stay, "head0") == 0);
    CHECK(samples_of(stay, "head2") == 16);
}

TEST_CASE("a batch that is larger than the image's kernels is refused, never clamped", "[routing][bad]") {
    write_text(scratch("large.jsonl"), trace_line("block", 2, std::vector<std::uint64_t>(9, 1)));
    check_refused(sy_sim(std::string("run --platform ") + kMini + " --image " + small_image("fig6") + " --trace " +
                         scratch("large.jsonl") + " --report " + scratch("large")),
                  {"large.jsonl:1: samples: expected at most 8, the samples of a batch of the model, found 9"});
}
