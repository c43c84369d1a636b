// SPDX-License-Identifier: Apache-2.0
// Random networks over the whole model format on chips of all sizes: an image that compiles is one that runs, and a
// refusal is one line.

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "switchyard/platform/system/process_pool.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/json_text.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/property/format_case.h"

using namespace switchyard;
using namespace switchyard::testing;

namespace {

void check_formats(std::uint64_t first, std::size_t count) {
    const unsigned jobs = std::max(1U, std::thread::hardware_concurrency());
    const std::vector<nlohmann::ordered_json> results = run_format_cases(first, count, jobs);
    INFO(fmt::format("seeds {} to {}\n{}", first, first + count - 1, format_text(results)));
    const FormatSummary summary = summary_of_formats(results);
    CHECK(summary.faults.empty());
    CHECK(summary.ran + summary.refused == count);
    // A generator of networks that nothing takes would find nothing.
    CHECK(summary.refused <= count / 3);
    CHECK(summary.sliced >= count / 100);
}

}  // namespace

TEST_CASE("networks of the whole format that once ran to a fault", "[property]") {
    // A pool whose padding gives more outputs than it has inputs, in the last slot; kernels written at a byte a cycle;
    // a memory that still stores when the run ends; a batch of 67727 samples, more than 16 bits, which is refused.
    const std::uint64_t seed = GENERATE(72004855u, 72000711u, 72001951u, 83003513u);
    const FormatSummary summary = summary_of_formats(run_format_cases(seed, 1, 1));
    CHECK(summary.faults.empty());
    CHECK(summary.ran == (seed == 83003513u ? 0 : 1));
}

TEST_CASE("a seed makes one network of the whole format", "[property]") {
    for (const std::uint64_t seed : {1u, 2u, 77u}) {
        const FormatCase first = draw_format_case(seed, FormatUse::sizes),
                         second = draw_format_case(seed, FormatUse::sizes),
                         other = draw_format_case(seed + 1, FormatUse::sizes);
        CHECK(first.pair.network.yaml == second.pair.network.yaml);
        CHECK(first.pair.platform == second.pair.platform);
        CHECK(first.pair.network.yaml != other.pair.network.yaml);
    }
}

TEST_CASE("networks of the whole format have every kind, step, router and route", "[property]") {
    std::string all;
    for (std::uint64_t seed = 0; seed < 600; ++seed) all += draw_format_case(seed, FormatUse::sizes).pair.network.yaml;
    for (const char* word : {"kind: convolution",
                             "kind: depthwise",
                             "kind: pool",
                             "kind: matmul",
                             "kind: attention",
                             "kind: elementwise",
                             "kind: norm",
                             "kind: layer_norm",
                             "kind: global_pool",
                             "kind: switch",
                             "kind: merge",
                             "kind: sink",
                             "over: input",
                             "pooling: mean",
                             "heads: ",
                             "bias",
                             "norm",
                             "relu",
                             "sigmoid",
                             "softmax",
                             "layer_norm",
                             "{layer_norm: ",
                             "position",
                             "{position: ",
                             "{add: ",
                             "{scale: ",
                             "group: ",
                             "groups: ",
                             "parameters: ",
                             "choose: one",
                             "choose: any",
                             "threshold: ",
                             "patience: ",
                             "cell: ",
                             "kind: top_k",
                             "kind: hash",
                             "kind: task",
                             "kind: threshold",
                             "router: {kind: switch",
                             "capacity: ",
                             "drop: next_best",
                             "k: 2",
                             "mode: exclusive",
                             "mode: sum",
                             "templates:",
                             "use: ",
                             "correlation: ",
                             "input: {correlation",
                             "batch: {correlation",
                             "drift: ",
                             "probability: ",
                             "zipf: ",
                             "keep: ",
                             "agreement: ",
                             "by: hash",
                             "numbers: ",
                             "tasks: ",
                             "batch: 1\n"}) {
        INFO(word);
        CHECK(all.find(word) != std::string::npos);
    }
}

TEST_CASE("what compiles of the whole model format runs", "[property]") {
    check_formats(40'000'000, 60);
}

TEST_CASE("a gate that compares its outputs has them on one tile", "[property]") {
    std::size_t gates = 0;
    for (std::uint64_t seed = 42'000'000; seed < 42'000'060; ++seed) {
        CAPTURE(seed);
        Compiled compiled;
        try {
            compiled = compile(draw_format_case(seed, FormatUse::values).pair);
        } catch (const InputError& error) {
            CHECK_THAT(error.what(), !Catch::Matchers::Contains("outputs of a gate on one tile"));
            continue;
        }
        for (const TileProgram& tile : decode_image(compiled.bytes, "case").tiles)
            for (const TileOperator& op : tile.operators) {
                const OperatorPlacement& placement = tile.placement(op.op_id);
                if (op.gate_switch == kNone || placement.shape.out_channels == 1) continue;
                ++gates;
                CHECK(placement.k_factor == 1);
            }
    }
    CHECK(gates > 100);
}

/// Networks that once compiled to an image that no chip ran.
struct Regression {
    const char* model;
    PlatformSettings platform;
};

TEST_CASE("networks that once compiled and did not run", "[property]") {
    const auto& [model, settings] = GENERATE(values<Regression>({{"position_on_slices",
                                                                  {{"chip.columns", "2"},
                                                                   {"chip.rows", "2"},
                                                                   {"pe_array.rows", "8"},
                                                                   {"pe_array.columns", "8"},
                                                                   {"scratchpad.capacity_bytes", "131072"},
                                                                   {"hbm.stacks", "1"},
                                                                   {"hbm.interfaces_per_stack", "2"},
                                                                   {"hbm.pseudo_channels_per_interface", "4"}}}}));
    const std::string impl = GENERATE("tiles", "stages");
    CAPTURE(model, impl);
    Pair pair;
    std::ifstream file(fmt::format("testbenches/data/formats/{}.yaml", model));
    pair.network.yaml.assign(std::istreambuf_iterator<char>(file), {});
    REQUIRE_FALSE(pair.network.yaml.empty());
    pair.platform = settings;
    const Compiled compiled = compile(pair);
    std::string answer;
    platform::run_in_processes(
        1, 1, [&](std::size_t) { return run_model(compiled, impl); },
        [&](std::size_t, const std::string& text, double) { answer = text; });
    CHECK(parse_ordered_json(answer, "a run").at("failed").empty());
}

TEST_CASE("what compiles of many networks runs", "[.property-long]") {
    check_formats(41'000'000, 5000);
}
