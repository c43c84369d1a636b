// SPDX-License-Identifier: Apache-2.0
// Kernels that are invoked once a batch.
#include <algorithm>
#include <numeric>
#include <vector>

#include "switchyard/sw_scheduler/adyna/compiler/compile.h"
#include "switchyard/sw_scheduler/adyna/image/image_check.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/workload/model_reader.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/unit/compiler/chips.h"

namespace switchyard::sched {
namespace {

using Catch::Matchers::ContainsSubstring;

Image image_of(const std::string& file, Invocation invocation, const std::string& design = "adyna",
               unsigned unit_samples = 0, const std::vector<std::string>& without = {}) {
    CompileOptions options;
    options.design = design;
    options.invocation = invocation;
    options.unit_samples = unit_samples;
    options.without = without;
    const HardwareDescription chip = file.find("digits") != std::string::npos ? mini_chip() : large_chip();
    return compile(read_model(file).graph, chip, options);
}

Image by_batch(const std::string& file, const std::string& design = "adyna", unsigned unit_samples = 0) {
    return image_of(file, Invocation::batch, design, unit_samples);
}

void check(const Image& image) {
    check_image(image, "image", [](std::size_t) { return std::string("tile"); });
}

template <class Visit>
void for_each_operator(Image& image, Visit&& visit) {
    for (TileProgram& tile : image.tiles) {
        for (TileOperator& op : tile.operators) visit(tile, op, tile.placement(op.op_id));
    }
}

TEST_CASE("A kernel of a batch walks whole units, and the largest is for the batch") {
    const char* const file = GENERATE("configs/workloads/digits_skipnet.yaml", "configs/workloads/digits_moe.yaml",
                                      "configs/workloads/skipnet_resnet34.yaml", "testbenches/data/moe16.yaml");
    const char* const design = GENERATE("adyna", "adyna-static", "full-kernel");
    CAPTURE(file, design);
    Image image = by_batch(file, design);
    check(image);
    CHECK(image.meta.invocation == "batch");
    for_each_operator(image, [&](TileProgram& tile, const TileOperator& op, const OperatorPlacement& placement) {
        CAPTURE(op.op_id);
        const std::uint32_t unit = placement.unit_samples;
        CHECK(placement.invoked_by_batch() == (placement.units > 1));
        for (std::size_t i = 0; i < op.kernel_count; ++i) {
            const Kernel& kernel = tile.kernels[op.kernel_first + i];
            CHECK(kernel.unit_samples() == std::min<std::uint32_t>(kernel.dyn_dim(), unit));
            CHECK(placement.unit_partition(i).dyn_dim == kernel.unit_samples());
            if (kernel.dyn_dim() > unit) CHECK(kernel.dyn_dim() % unit == 0);
        }
        CHECK(placement.partitions[placement.last_partition(0) - 1].dyn_dim == image.meta.batch_samples);
    });
}

TEST_CASE("Every kernel of an operator that is invoked by batch: for less than a unit, and for whole units") {
    Image image = by_batch("configs/workloads/digits_skipnet.yaml", "full-kernel", 16);
    std::vector<std::uint16_t> expected(16);
    std::iota(expected.begin(), expected.end(), std::uint16_t{1});
    for (std::uint16_t samples = 32; samples <= 128; samples += 16) expected.push_back(samples);
    for_each_operator(image, [&](TileProgram&, const TileOperator& op, const OperatorPlacement& placement) {
        if (!image.meta.operators[op.op_id].dynamic) return;
        CAPTURE(op.op_id);
        std::vector<std::uint16_t> dyn_dims;
        for (const Partition& partition : placement.partitions) dyn_dims.push_back(partition.dyn_dim);
        CHECK(dyn_dims == expected);
    });
}

TEST_CASE("Where kernels are invoked once a batch a segment ends at each gate") {
    const char* const file =
        GENERATE("configs/workloads/digits_skipnet.yaml", "configs/workloads/digits_early_exit.yaml",
                 "configs/workloads/fbsnet_mcifarnet.yaml", "testbenches/data/moe16.yaml");
    CAPTURE(file);
    const Image image = by_batch(file);
    for (const TileProgram& tile : image.tiles) {
        for (const Edge& edge : tile.edges) CHECK((edge.path != EdgePath::on_chip || edge.switch_id == kNone));
    }
}

TEST_CASE("Micro-batches are what an invocation takes unless a batch is asked for") {
    const std::string file = "configs/workloads/digits_skipnet.yaml";
    Image image = image_of(file, Invocation::micro_batch);
    CHECK(image.meta.invocation == "micro_batch");
    const std::vector<std::uint8_t> bytes = encode(image);
    CHECK(std::string(bytes.begin(), bytes.end()).find("invocation") == std::string::npos);
    for_each_operator(image, [&](TileProgram& tile, const TileOperator& op, const OperatorPlacement& placement) {
        CHECK(!placement.invoked_by_batch());
        for (std::size_t i = 0; i < op.kernel_count; ++i) {
            const Kernel& kernel = tile.kernels[op.kernel_first + i];
            CHECK(kernel.unit_samples() == kernel.dyn_dim());
            CHECK(placement.unit_partition(i).dyn_dim == kernel.dyn_dim());
        }
    });
    const Image read = decode_image(encode(by_batch(file)), "image");
    CHECK(read.meta.invocation == "batch");
    CHECK(design_of(read.meta).invocation() == Invocation::batch);
}

TEST_CASE("Tensors in HBM are cut for micro-batches, whatever a kernel is invoked for") {
    // A piece of a whole batch would put all of its samples on one memory interface.
    constexpr std::uint32_t kUnitSamples = 8;
    const Image image = by_batch("configs/workloads/fbsnet_mcifarnet.yaml", "adyna", kUnitSamples);
    std::size_t tensors = 0;
    for (const TileProgram& tile : image.tiles) {
        for (const OperatorPlacement& tensor : tile.placements) {
            if (!tensor.in_memory()) continue;
            const Partition& cut = tensor.partitions.front();
            CAPTURE(tensor.op_id, cut.dyn_dim, cut.n, cut.p);
            ++tensors;
            CHECK(std::uint32_t{cut.dyn_dim} / cut.n <= 2 * kUnitSamples);
        }
    }
    CHECK(tensors > 0);
}

TEST_CASE("Designs that do not route are refused an invocation for each batch") {
    const std::string file = "configs/workloads/digits_skipnet.yaml";
    CHECK_THROWS_WITH(by_batch(file, "m-tile"), ContainsSubstring("design m-tile: expected invocation micro_batch"));
    CHECK_THROWS_WITH(image_of(file, Invocation::batch, "adyna", 0, {"routing"}),
                      ContainsSubstring("design adyna: expected invocation micro_batch"));
    CHECK_THROWS_WITH(parse_invocation("sample"), "invocation: expected one of micro_batch, batch, found sample");
    CHECK(parse_invocation("batch") == Invocation::batch);
}

Image on_chip(const std::string& file, unsigned unit_samples = 0) {
    CompileOptions options;
    options.invocation = Invocation::batch;
    options.routing = SampleRouting::on_chip;
    options.unit_samples = unit_samples;
    return compile(read_model(file).graph, large_chip(), options);
}

TEST_CASE("Routing on the chip keeps gates and their branches in a segment, with room for the batch at the switch") {
    const char* const file = GENERATE("configs/workloads/digits_early_exit.yaml", "configs/workloads/digits_moe.yaml",
                                      "configs/workloads/digits_channel_gate.yaml");
    CAPTURE(file);
    const unsigned unit_samples = std::string(file).find("moe") != std::string::npos ? 64 : 16;
    Image image = on_chip(file, unit_samples);
    check(image);
    CHECK(image.meta.routing == "on_chip");
    unsigned switched = 0;
    for_each_operator(image, [&](TileProgram& tile, const TileOperator& op, const OperatorPlacement& placement) {
        CAPTURE(op.op_id);
        CHECK(placement.allocations.empty());
        const SegmentOrder* const order = tile.order(op.segment);
        REQUIRE(order != nullptr);
        CHECK(order->packs());
        for (const std::uint16_t id : op.out_edges) {
            const Edge& edge = tile.edge(id);
            if (edge.path != EdgePath::on_chip || edge.switch_id == kNone) continue;
            ++switched;
            CHECK(op.out_slots == placement.units);
        }
    });
    CHECK(switched > 0);
    const Image read = decode_image(encode(image), "image");
    CHECK(design_of(read.meta).has(Mechanism::packing));
    CHECK(!design_of(read.meta).has(Mechanism::compaction));
}

TEST_CASE("Routing on the chip needs to know a batch's samples when the first arrive") {
    CHECK_THROWS_WITH(find_design("adyna").routing(SampleRouting::on_chip),
                      "design adyna: expected invocation batch for sample routing on_chip, found micro_batch; give "
                      "invocation batch");
    CHECK_THROWS_WITH(parse_sample_routing("hbm"), "routing: expected one of sorted_reload, on_chip, found hbm");
}

TEST_CASE("Batches in flight have units, kernels and orders of their own") {
    const DynGraph graph = read_model("configs/workloads/digits_skipnet.yaml").graph;
    CompileOptions options;
    options.batches_in_flight = 3;
    options.invocation = GENERATE(Invocation::micro_batch, Invocation::batch);
    Image image = compile(graph, mini_chip(), options);
    check(image);
    CHECK(image.meta.batch_samples == 3 * 128);
    CHECK(image.meta.batches_in_flight == 3);
    CHECK(image.meta.samples_of_batch() == 128);
    unsigned sorted = 0;
    for (const TileProgram& tile : image.tiles) {
        for (const SegmentOrder& order : tile.orders) {
            CHECK(order.samples == 128);
            ++sorted;
        }
    }
    CHECK(sorted > 0);
    for_each_operator(image, [&](TileProgram&, const TileOperator& op, const OperatorPlacement& placement) {
        CAPTURE(op.op_id);
        CHECK(placement.units * placement.unit_samples == 3 * 128);
        CHECK(placement.units_of_invocation() == (options.invocation == Invocation::batch ? placement.units / 3U : 1U));
        CHECK(placement.partitions[placement.last_partition(0) - 1].dyn_dim ==
              placement.units_of_invocation() * placement.unit_samples);
    });
    options.batches_in_flight = 512;  // more samples than 16 bits can name
    CHECK_THROWS_WITH(compile(graph, mini_chip(), options),
                      ContainsSubstring("expected at most 65535 samples in flight, found 65536 in 512 batches"));
}

TEST_CASE("Images of several batches in flight are refused if these are not equal parts") {
    CompileOptions options;
    options.batches_in_flight = 2;
    Image image = compile(read_model("configs/workloads/digits_skipnet.yaml").graph, mini_chip(), options);
    image.meta.batches_in_flight = 3;
    CHECK_THROWS_WITH(check(image), ContainsSubstring("expected samples that divide into 3 batches, found 256"));
    image.meta.batches_in_flight = 0;
    CHECK_THROWS_WITH(check(image), ContainsSubstring("expected samples that divide into 0 batches, found 256"));
}

TEST_CASE("An image whose kernels do not fit the units of its invocations is refused") {
    Image image = by_batch("configs/workloads/digits_skipnet.yaml", "adyna", 16);
    SECTION("on the chip the samples of a batch are known too late") {
        for (TileProgram& tile : image.tiles) {
            for (Edge& edge : tile.edges)
                if (edge.path == EdgePath::on_chip) edge.switch_id = 0;
        }
        CHECK_THROWS_WITH(check(image), ContainsSubstring("kernels are invoked once a batch"));
    }
    SECTION("part of a unit") {
        for (TileProgram& tile : image.tiles) {
            for (OperatorPlacement& placement : tile.placements)
                if (!placement.in_memory() && placement.invoked_by_batch()) --placement.partitions.back().dyn_dim;
        }
        CHECK_THROWS_WITH(check(image), ContainsSubstring("a unit of 16 samples, or for whole units, found one for "));
    }
    SECTION("other units") {
        for (TileProgram& tile : image.tiles) {
            for (Kernel& kernel : tile.kernels)
                if (kernel.dyn_dim() == 128) kernel.loop(Level::unit, Dim::n).block = 16;
        }
        CHECK_THROWS_WITH(check(image), ContainsSubstring("expected units of 16 samples, found 8"));
    }
}

}  // namespace
}  // namespace switchyard::sched
