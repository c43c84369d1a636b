// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "switchyard/sw_scheduler/adyna/compiler/compile.h"
#include "switchyard/sw_scheduler/adyna/compiler/schedule.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/workload/model_reader.h"
#include "switchyard/sw_scheduler/workload/route_provider.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/unit/compiler/chips.h"
#include "switchyard/testbenches/unit/workload/model_text.h"

namespace switchyard::sched {
namespace {

const char* const kDigits = "configs/workloads/digits_skipnet.yaml";

Image compiled_digits(const HardwareDescription& chip, const std::string& design = "adyna") {
    const Model model = read_model(kDigits);
    const Profile profile = profile_of(model.graph, declared_routing(model, 20), model.graph.batch_samples());
    CompileOptions options;
    options.design = design;
    options.profile = &profile;
    return compile(model.graph, chip, options);
}

struct Region {
    std::uint64_t first = 0, last = 0;
    bool overlaps(const Region& o) const { return first < o.last && o.first < last; }
};

/// Of one operator on one tile: weights first, if it has any, then slots and output.
std::vector<Region> regions_of(const TileProgram& program, const TileOperator& op) {
    std::vector<Region> regions{{op.out_offset, op.out_offset + std::uint64_t{op.out_slots} * op.out_slot_bytes}};
    for (const std::uint16_t id : op.in_edges) {
        const Edge& edge = program.edge(id);
        if (carries_decisions(edge.path)) continue;
        const std::uint64_t bytes =
            edge.path == EdgePath::weights ? edge.weight_bytes : std::uint64_t{edge.slots} * edge.slot_bytes;
        regions.push_back({edge.slot_offset, edge.slot_offset + bytes});
    }
    return regions;
}

void check_scratchpads(const Image& image, const HardwareDescription& chip) {
    for (const TileProgram& program : image.tiles) {
        CHECK(program.kernels.size() * kKernelBytes <= chip.kernel_share * chip.scratchpad_bytes);
        for (const TileOperator& op : program.operators) {
            const std::vector<Region> regions = regions_of(program, op);
            for (std::size_t i = 0; i < regions.size(); ++i) {
                CHECK(regions[i].first >= program.kernels.size() * kKernelBytes);
                CHECK(regions[i].first >= chip.kernel_region_bytes());
                CHECK(regions[i].last <= chip.scratchpad_bytes);
                for (std::size_t j = i + 1; j < regions.size(); ++j) CHECK_FALSE(regions[i].overlaps(regions[j]));
                for (const TileOperator& other : program.operators) {
                    if (other.segment != op.segment || other.op_id <= op.op_id) continue;
                    for (const Region& region : regions_of(program, other)) CHECK_FALSE(regions[i].overlaps(region));
                }
            }
            for (const std::uint16_t id : op.in_edges) {
                const Edge& edge = program.edge(id);
                if (!edge.resident) continue;
                const Region weights{edge.slot_offset, edge.slot_offset + std::uint64_t{edge.weight_bytes}};
                for (const TileOperator& other : program.operators) {
                    if (other.op_id == op.op_id) continue;
                    for (const Region& region : regions_of(program, other)) CHECK_FALSE(weights.overlaps(region));
                }
            }
        }
    }
}

/// No two things in HBM share a byte, and each lies within one interface's region.
void check_memory(const Image& image, const HardwareDescription& chip) {
    std::map<std::uint64_t, std::uint64_t> used;  // first byte -> end
    const auto add = [&](std::uint64_t address, std::uint64_t bytes) {
        CHECK(address / chip.region_bytes == (address + bytes - 1) / chip.region_bytes);
        CHECK(address / chip.region_bytes < chip.memory.size());
        CHECK(used.emplace(address, address + bytes).second);
    };
    std::map<std::uint16_t, Edge> edges;
    std::map<std::uint16_t, OperatorPlacement> placements;
    for (const TileProgram& program : image.tiles) {
        for (const Edge& edge : program.edges) edges.emplace(edge.id, edge);
        for (const OperatorPlacement& placement : program.placements) placements.emplace(placement.op_id, placement);
    }
    for (const auto& [id, edge] : edges) {
        for (const std::uint64_t address : edge.slice_addresses) add(address, edge.weight_bytes);
    }
    for (const auto& [id, placement] : placements) {
        if (!placement.in_memory()) continue;
        const TensorStore& store = placement.store;
        const Partition& cut = placement.partitions.front();
        for (std::uint32_t piece = 0; piece < std::uint32_t{cut.n} * cut.p; ++piece) {
            const Box box = output_box(placement.shape, cut, 1, piece, cut.dyn_dim);
            const std::uint64_t bytes = std::uint64_t{2} * (box.n1 - box.n0) * (box.p1 - box.p0) *
                                        placement.shape.out_channels * placement.shape.out_columns;
            CHECK(bytes <= store.piece_stride);
            for (std::uint32_t bank = 0; bank < (store.bank_stride > 0 ? 2u : 1u); ++bank)
                add(store.address(piece, bank, chip.region_bytes), bytes);
        }
        if (store.index_list_bytes > 0)
            add(store.index_list_address,
                std::uint64_t{store.index_list_bytes} * placement.unit_samples / store.index_list_samples);
    }
    for (const ImageMeta::Switch& one : image.meta.switches) add(one.mask_address, 2 * one.bank_stride);
    for (const ImageMeta::Tensor& tensor : image.meta.tensors) {
        if (tensor.kind != "input") continue;
        std::uint64_t sum = 0;
        for (const std::uint64_t bytes : tensor.piece_bytes) sum += bytes;
        CHECK(sum == tensor.bytes);
    }
    std::uint64_t end = 0;
    for (const auto& [first, last] : used) {
        CHECK(first >= end);
        end = last;
    }
}

TEST_CASE("digits_skipnet compiles for the small chip") {
    const HardwareDescription chip = mini_chip();
    const Image image = compiled_digits(chip);
    const std::vector<std::uint8_t> bytes = encode(image);
    CHECK_NOTHROW(decode_image(bytes, "digits"));
    CHECK(encode(compiled_digits(chip)) == bytes);
    check_scratchpads(image, chip);
    check_memory(image, chip);

    const Model model = read_model(kDigits);
    CHECK(image.platform_fingerprint == chip.fingerprint());
    CHECK(image.meta.design == "adyna");
    CHECK(image.meta.switches.size() == model.graph.switches.size());
    REQUIRE(image.meta.operators.size() > model.graph.operators.size());
    CHECK(image.meta.operators[model.graph.operators.size()].name == "input");
    CHECK(image.meta.operators.back().kind == "tensor");
    for (const TileProgram& program : image.tiles) {
        for (const TileOperator& op : program.operators) {
            const OperatorPlacement& placement = program.placement(op.op_id);
            CHECK(placement.partitions.back().dyn_dim == placement.unit_samples);
            const bool dynamic = image.meta.operators[op.op_id].dynamic;
            if (!dynamic) CHECK(op.kernel_count == 1);
            if (dynamic && placement.unit_samples > 1) CHECK(op.kernel_count > 1);
        }
    }
    const std::string text = explain(image);
    for (const char* expected : {"segment 0", "stem (convolution)", "scratchpad:", "dyn_dim"}) {
        CHECK_THAT(text, Catch::Matchers::ContainsSubstring(expected));
    }
}

TEST_CASE("digits_skipnet compiles for a large chip") {
    const HardwareDescription chip = large_chip();
    const Image image = compiled_digits(chip);
    CHECK_NOTHROW(decode_image(encode(image), "digits"));
    check_scratchpads(image, chip);
    check_memory(image, chip);
}

TEST_CASE("Weights that do not all fit alternate between the ends of the data area") {
    HardwareDescription chip = mini_chip();
    chip.scratchpad_bytes = 32 * 1024;
    chip.kernel_share = 0.2;
    const Image image = compiled_digits(chip);
    check_scratchpads(image, chip);
    check_memory(image, chip);
    const bool some_loaded_again =
        std::any_of(image.tiles[0].edges.begin(), image.tiles[0].edges.end(),
                    [](const Edge& edge) { return edge.path == EdgePath::weights && !edge.resident; });
    CHECK(some_loaded_again);
}

TEST_CASE("m-tile uses one kernel an operator, for the largest dyn_dim") {
    const Image image = compiled_digits(mini_chip(), "m-tile");
    CHECK(image.meta.design == "m-tile");
    for (const TileProgram& program : image.tiles) {
        for (const TileOperator& op : program.operators) CHECK(op.kernel_count == 1);
    }
}

/// Pairs of tile and segment with more than one operator.
std::size_t count_shared_tiles(const Image& image) {
    std::size_t shared = 0;
    for (const TileProgram& program : image.tiles) {
        for (std::size_t i = 1; i < program.operators.size(); ++i)
            shared += program.operators[i].segment == program.operators[i - 1].segment ? 1 : 0;
    }
    return shared;
}

TEST_CASE("Operators that share tiles lie one behind the other, with all their kernels") {
    const Model model = read_model("testbenches/data/moe16.yaml");
    const Profile profile = profile_of(model.graph, declared_routing(model, 40), model.graph.batch_samples());
    for (const std::string kept : {"all weights stay", "weights are loaded segment by segment"}) {
        CAPTURE(kept);
        const HardwareDescription chip = kept == "all weights stay" ? large_chip() : mini_chip();
        CompileOptions options;
        options.profile = &profile;
        if (kept != "all weights stay") options.unit_samples = 1;
        const Image image = compile(model.graph, chip, options);
        CHECK_NOTHROW(decode_image(encode(image), "moe16"));
        CHECK(count_shared_tiles(image) > 0);
        check_memory(image, chip);
        check_scratchpads(image, chip);
        for (const SegmentInfo& segment : image.chip.segments)
            CHECK(std::adjacent_find(segment.tiles.begin(), segment.tiles.end()) == segment.tiles.end());
        bool all_stay = true;
        for (const TileProgram& program : image.tiles) {
            for (const Edge& edge : program.edges) all_stay &= edge.path != EdgePath::weights || edge.resident;
        }
        CHECK(all_stay == (kept == "all weights stay"));
        CHECK_THAT(explain(image), Catch::Matchers::ContainsSubstring("one after another with"));
    }
}

TEST_CASE("A network that fits the chip keeps its weights, whatever its segments") {
    Model model = read_model("configs/workloads/tutel_moe.yaml");
    model.graph.batch_inputs = 4;
    const Profile profile = profile_of(model.graph, declared_routing(model, 40), model.graph.batch_samples());
    for (const char* design : {"adyna", "m-tile"}) {
        CAPTURE(design);
        CompileOptions options;
        options.design = design;
        options.profile = &profile;
        const Image image = compile(model.graph, large_chip(), options);
        CHECK(image.chip.segments.size() > 1);
        for (const TileProgram& program : image.tiles) {
            for (const Edge& edge : program.edges) CHECK((edge.path != EdgePath::weights || edge.resident));
        }
    }
}

TEST_CASE("Branches are grouped unless the design does not or the options say no") {
    const Model model = read_model("testbenches/data/moe16.yaml");
    const Profile profile = profile_of(model.graph, declared_routing(model, 40), model.graph.batch_samples());
    CompileOptions options;
    options.profile = &profile;
    options.without = {"grouping"};
    const Image separate = compile(model.graph, large_chip(), options);
    CHECK(count_shared_tiles(separate) == 0);
    CHECK_THAT(explain(separate), !Catch::Matchers::ContainsSubstring("one after another with"));
    options.without.clear();
    options.design = "m-tile";
    CHECK(count_shared_tiles(compile(model.graph, large_chip(), options)) == 0);
    for (const Design& design : designs()) CHECK(design.has(Mechanism::grouping) == design.has(Mechanism::routing));
}

TEST_CASE("An unknown design is refused with the known ones") {
    CHECK_THROWS_WITH(
        compiled_digits(mini_chip(), "cgra"),
        Catch::Matchers::ContainsSubstring("cgra") &&
            Catch::Matchers::ContainsSubstring("adyna, adyna-static, full-kernel, real-time, m-tile, found cgra"));
}

TEST_CASE("Small batches and nested switches compile") {
    const std::string nested = with_switch(
        "  - {name: outer, kind: convolution, from: s.1, out_channels: 16, filter: 3, pad: 1}\n"
        "  - {name: mean2, kind: global_pool}\n"
        "  - {name: gate2, kind: matmul, out_channels: 1, fused: [sigmoid]}\n"
        "  - {name: t, kind: switch, from: outer, gate: gate2, branches: 2, choose: one}\n"
        "  - {name: deep, kind: convolution, from: t.1, out_channels: 16, filter: 3, pad: 1}\n"
        "  - {name: inner, kind: merge, from: [t.0, deep], mode: exclusive}\n"
        "  - {name: out, kind: merge, from: [s.0, inner], mode: exclusive}\n");
    for (const std::uint32_t batch : {1u, 2u, 7u, 8u}) {
        Model model = model_of(nested);
        model.graph.batch_inputs = batch;
        for (const HardwareDescription& chip : {mini_chip(), large_chip()}) {
            const Image image = compile(model.graph, chip);
            CHECK_NOTHROW(decode_image(encode(image), "nested"));
            check_scratchpads(image, chip);
            check_memory(image, chip);
            CHECK(image.meta.switches[1].parent == "s");
            CHECK(image.meta.switches[1].parent_branch == 1);
        }
    }
}

TEST_CASE("The fingerprint tells platforms apart") {
    HardwareDescription chip = mini_chip();
    const std::uint64_t before = chip.fingerprint();
    CHECK(mini_chip().fingerprint() == before);
    chip.link_bytes_per_cycle = 96;  // only makes it slower: images still fit
    CHECK(chip.fingerprint() == before);
    chip.scratchpad_bytes *= 2;
    CHECK(chip.fingerprint() != before);
    chip = mini_chip();
    chip.memory[1].router = 3;
    CHECK(chip.fingerprint() != before);
    chip = mini_chip();
    chip.name = "other";
    CHECK(chip.fingerprint() == before);
}

TEST_CASE("Neighbours in the order of tiles are one hop apart, column after column") {
    const HardwareDescription chip = large_chip();
    const std::vector<std::uint16_t> order = snake_order(chip);
    REQUIRE(order.size() == chip.tiles());
    for (std::size_t i = 1; i < order.size(); ++i) CHECK(chip.hops(order[i - 1], order[i]) == 1);
    for (std::size_t i = 0; i < chip.rows; ++i) CHECK(order[i] % chip.columns == 0);
}

TEST_CASE("Hops go the shorter way round the torus") {
    const HardwareDescription chip = large_chip();
    CHECK(chip.hops(0, 11) == 1);
    CHECK(chip.hops(0, 6) == 6);
    CHECK(chip.hops(0, 12 * 11 + 11) == 2);
    CHECK(chip.closest_memory(12 * 5 + 2) == 10);
    CHECK(chip.closest_memory(12 * 5 + 9) == 11);
    CHECK(chip.kernel_store_size() == 204);
    CHECK(chip.kernel_region_bytes() <= 0.05 * chip.scratchpad_bytes);
}

}  // namespace
}  // namespace switchyard::sched
