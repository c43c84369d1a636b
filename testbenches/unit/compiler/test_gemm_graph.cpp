// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "switchyard/sw_scheduler/adyna/compiler/compile.h"
#include "switchyard/sw_scheduler/adyna/compiler/gemm_graph.h"
#include "switchyard/sw_scheduler/adyna/compiler/segmentation.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/workload/dataflow.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/unit/compiler/chips.h"

namespace switchyard::sched {
namespace {

double planned_cycles(const DynGraph& graph, const HardwareDescription& chip) {
    const Workload workload(graph, chip, std::vector<double>(graph.operators.size(), 1.0));
    StageSearch search(workload, chip);
    double sum = 0;
    for (const SegmentPlan& segment : Segmenter(search, find_design("m-tile"), chip.tiles(), 0).best())
        sum += segment.cycles;
    return sum;
}

TEST_CASE("The slices of a GEMM do its work exactly once") {
    for (const GemmSlicing slicing :
         {GemmSlicing{70, 30}, GemmSlicing{100, 90}, GemmSlicing{1, 90}, GemmSlicing{33, 7}}) {
        const DynGraph graph = gemm_graph(20, 100, 90, slicing);
        CHECK(graph.total_macs_per_sample() == 100 * 90);
        std::uint64_t outputs = 0;
        for (const int output : graph.outputs) outputs += graph.operators[output].shape.out_channels;
        CHECK(outputs == 100);
        for (const Operator& one : graph.operators) {
            for (const Source& source : one.inputs) {
                if (source.role == OperandRole::input) CHECK(source.producer < 0);
            }
        }
    }
}

TEST_CASE("A dense GEMM keeps the PEs busy, a thin one the memory") {
    const HardwareDescription chip = large_chip();
    const double dense = planned_cycles(build_gemm_graph(16384, 4096, 4096, chip), chip);
    CHECK(16384.0 * 4096 * 4096 / chip.tiles() / chip.pes() / dense >= 0.8);
    const double thin = planned_cycles(build_gemm_graph(16, 16384, 16384, chip), chip);
    CHECK(2.0 * 16384 * 16384 / chip.memory_bytes_per_cycle() / thin >= 0.85);
}

TEST_CASE("A GEMM compiles on a part of the chip") {
    CompileOptions options;
    options.tiles = 1;
    const HardwareDescription chip = mini_chip();
    const Image image = compile(build_gemm_graph(128, 128, 128, chip, 1), chip, options);
    for (std::size_t tile = 1; tile < image.tiles.size(); ++tile) CHECK(image.tiles[tile].operators.empty());
    CHECK_NOTHROW(decode_image(encode(image), "gemm"));
    CHECK_NOTHROW(decode_image(encode(compile(build_gemm_graph(64, 300, 2000, chip), chip)), "sliced"));
}

TEST_CASE("Each part of a sliced GEMM's input comes from the host") {
    const DynGraph graph = build_gemm_graph(64, 300, 2000, mini_chip());
    const std::vector<std::uint32_t> counts(graph.operators.size(), 1);
    std::set<int> inputs;
    for (const Operator& op : graph.operators) {
        for (const Source& source : op.inputs) {
            if (!source.from_host()) continue;
            inputs.insert(source.producer);
            CHECK(source_samples(graph, source, {}, counts) == graph.batch_samples());
        }
    }
    REQUIRE(inputs.size() > 1);
    const std::vector<bool> same = graph.same_for_input();
    CHECK(std::count(same.begin(), same.end(), true) == 0);
    const std::vector<std::vector<int>> consumers = graph.consumers();
    for (std::size_t op = 0; op < consumers.size(); ++op) {
        for (const int consumer : consumers[op]) CHECK(consumer > static_cast<int>(op));
    }
}

TEST_CASE("Sizes that make no sense are refused") {
    CHECK_THROWS_AS(build_gemm_graph(0, 1, 1, mini_chip()), InputError);
    CHECK_THROWS_AS(build_gemm_graph(65537, 1, 1, large_chip()), InputError);  // a prime: no equal units below 65536
    CHECK_NOTHROW(build_gemm_graph(1000000, 16, 16, large_chip()));
}

}  // namespace
}  // namespace switchyard::sched
