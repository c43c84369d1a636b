// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/adyna/compiler/compile.h"
#include "switchyard/sw_scheduler/adyna/compiler/design.h"
#include "switchyard/sw_scheduler/adyna/compiler/sharing.h"
#include "switchyard/sw_scheduler/workload/model_reader.h"
#include "switchyard/sw_scheduler/workload/profile.h"
#include "switchyard/sw_scheduler/workload/route_provider.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/unit/compiler/chips.h"
#include "switchyard/testbenches/unit/workload/model_text.h"

namespace switchyard::sched {
namespace {

constexpr double kAlways = 1e9;  ///< Margins::sharing: whatever it costs

double chance_of(const PairSizes& sizes, std::uint32_t a, std::uint32_t b) {
    double found = 0;
    sizes.for_each([&](std::uint32_t first, std::uint32_t second, double chance) {
        if (first == a && second == b) found = chance;
    });
    return found;
}

/// Eight tiles: the chip of Adyna's Fig. 6.
HardwareDescription eight_tiles() {
    HardwareDescription chip = mini_chip();
    chip.columns = 4;
    return chip;
}

/// Four branches of one convolution each, of which a sample may take any.
Model four_parts() {
    std::string layers;
    for (unsigned b = 0; b < 4; ++b)
        layers += fmt::format(
            "  - {{name: part{0}, kind: convolution, from: s.{0}, out_channels: 16, filter: 3, pad: 1}}\n", b);
    return model_of(
        with_layers("  - {name: stem, kind: elementwise, from: input}\n"
                    "  - {name: mean, kind: global_pool, from: stem}\n"
                    "  - {name: gate, kind: matmul, from: mean, out_channels: 4}\n"
                    "  - {name: s, kind: switch, from: stem, gate: gate, branches: 4, choose: any}\n" +
                    layers + "  - {name: out, kind: merge, mode: sum, from: [part0, part1, part2, part3]}\n"));
}

Profile profile_of_masks(const Model& model, const std::vector<std::uint64_t>& pattern) {
    BatchRouting batch{model.graph.batch_samples(), {std::vector<std::uint64_t>(model.graph.batch_samples())}};
    for (std::size_t id = 0; id < batch.masks[0].size(); ++id) batch.masks[0][id] = pattern[id % pattern.size()];
    return profile_of(model.graph, {batch}, model.graph.batch_samples());
}

TEST_CASE("The three allocations of Adyna's Fig. 6 are 4:4, 5:3 and 2:6", "[sharing]") {
    // Expected demands 5.03 (one operator) and 2 x 2.97 = 5.94 (two operators) on eight tiles.
    const SharedTiles tiles = shared_tiles(8, 5.03, 5.94);
    CHECK(tiles[0] == std::array<unsigned, 2>{4, 4});  // 8 * 5.03 / 10.97 = 3.67
    CHECK(tiles[1] == std::array<unsigned, 2>{5, 3});  // 8 * 10.06 / 16.00 = 5.03
    CHECK(tiles[2] == std::array<unsigned, 2>{2, 6});  // 8 * 5.03 / 16.91 = 2.38
    CHECK(tiles[1][0] - tiles[2][0] == 3);             // tiles that change hands
    CHECK(shared_tiles(2, 1, 9)[1] == std::array<unsigned, 2>{1, 1});
}

TEST_CASE("A branch's tiles go where its load is", "[sharing]") {
    const std::vector<SharingOperator> two{{8, 4, 1}, {4, 4, 1}};
    CHECK(grown(two, 3) == std::vector<unsigned>{7, 4});
    CHECK(grown(two, 5) == std::vector<unsigned>{9, 4});  // 8 / 8 is as much as 4 / 4: the first of both
    CHECK(shrunk(two, 2) == std::vector<unsigned>{4, 2});
    CHECK(shrunk(two, 3) == std::vector<unsigned>{3, 2});
    CHECK(shrunk(two, 6) == std::vector<unsigned>{1, 1});
    CHECK(shrunk(two, 7).empty());
    // Operators with k factors get and give tiles by as many.
    const std::vector<SharingOperator> sliced{{8, 6, 3}, {1, 4, 2}};
    CHECK(grown(sliced, 2) == std::vector<unsigned>{6, 4});
    CHECK(grown(sliced, 5) == std::vector<unsigned>{9, 4});
    CHECK(shrunk(sliced, 1) == std::vector<unsigned>{6, 2});
    CHECK(shrunk(sliced, 3) == std::vector<unsigned>{3, 2});
}

TEST_CASE("Sizes of two branches follow from each other as far as the switch says", "[sharing]") {
    const SizeChances half = binomial_sizes(2, 0.5);
    CHECK(half[0] == Approx(0.25));
    CHECK(half[1] == Approx(0.5));
    CHECK(binomial_sizes(3, 0) == SizeChances{1, 0, 0, 0});
    CHECK(binomial_sizes(3, 1) == SizeChances{0, 0, 0, 1});
    CHECK(chance_of(PairSizes(half, half, PairSizesAre::independent), 2, 2) == Approx(0.0625));
    const PairSizes exclusive(half, half, PairSizesAre::the_unit);
    CHECK(chance_of(exclusive, 2, 0) == Approx(0.25));
    CHECK(chance_of(exclusive, 2, 2) == 0);
    CHECK(exclusive.both_active() == Approx(0.5));  // one sample each
    // 0:0, 0:1, 1:0, 0:2, 2:0 and 1:1 in proportion to 1, 2, 2, 1, 1 and 4.
    const PairSizes among(half, half, PairSizesAre::at_most_the_unit);
    CHECK(chance_of(among, 1, 1) == Approx(4.0 / 11));
    CHECK(chance_of(among, 2, 1) == 0);
}

TEST_CASE("What consecutive units have together counts, not only how often each size occurs", "[sharing]") {
    // Branch 0 or branch 1, in units of two samples: a batch on one of them alone, or turn and turn about.
    const std::vector<std::uint64_t> zeros(8, 1), ones(8, 2), turns{1, 1, 2, 2, 1, 1, 2, 2};
    const auto first = [](std::uint32_t a, std::uint32_t b) {
        return std::array<double, 2>{static_cast<double>(a), static_cast<double>(b)};
    };
    const PairMoments alone = PairSizes({&zeros, &ones}, 2, 0, 1).moments(first);
    const PairMoments mixed = PairSizes({&turns, &turns}, 2, 0, 1).moments(first);
    for (const PairMoments& moments : {alone, mixed}) {
        CHECK(moments.mean[0] == Approx(1));
        CHECK(moments.mean[1] == Approx(1));
    }
    CHECK(alone.variance[0] == Approx(1));  // 2, 2, 0, 0
    CHECK(alone.covariance == Approx(-1));
    CHECK(mixed.variance[0] == Approx(0).margin(1e-12));  // two units always have two samples each
    // Without batches units are independent: half the variance of one.
    const PairMoments unknown =
        PairSizes(SizeChances{0.5, 0, 0.5}, SizeChances{0.5, 0, 0.5}, PairSizesAre::the_unit).moments(first);
    CHECK(unknown.variance[1] == Approx(0.5));
    CHECK(unknown.covariance == Approx(-0.5));
}

TEST_CASE("The larger of two normal variables", "[sharing]") {
    const Normal alike = larger_of({1, 0.5}, {1, 0.5}, 0);
    CHECK(alike.mean == Approx(1 + 1 / std::sqrt(2 * 3.14159265358979)));  // spread 1, density at 0
    CHECK(larger_of({1, 1}, {1, 1}, 1).mean == Approx(1));                 // the same variable twice
    CHECK(larger_of({1, 1}, {1, 1}, -1).mean > alike.mean);
    CHECK(larger_of({5, 0}, {3, 0}, 0).mean == 5);
}

struct Fig6 {
    explicit Fig6(double margin)
        : model(read_model("testbenches/data/fig6.yaml")),
          profile(read_profile("testbenches/data/fig6_profile.json", model.graph)),
          chip(eight_tiles()),
          workload(model.graph, chip, expected_fractions(profile)),
          search(workload, chip),
          segmenter(search, find_design("m-tile"), chip.tiles(), 8, margins(margin)),
          plan(*segmenter.with_tiles(
              *segmenter.segment(model.graph.find_operator("b1"), model.graph.find_operator("b2b") + 1),
              {4, 2, 2})) {  // in proportion to expected loads, as in the figure
        segmenter.share(plan, &profile, 0, 0, partners);
    }
    static Margins margins(double sharing) {
        Margins result;
        result.sharing = sharing;
        return result;
    }
    Model model;
    Profile profile;
    HardwareDescription chip;
    Workload workload;
    StageSearch search;
    Segmenter segmenter;
    SegmentPlan plan;
    Partners partners;
};

TEST_CASE("The block of Fig. 6 gets the allocations that the figure shows", "[sharing]") {
    const Fig6 shared(kAlways);
    REQUIRE(shared.plan.pairs.size() == 1);
    CHECK(shared.plan.pairs[0].allocations == 3);
    CHECK(shared.partners.at({0, 0}) == 1);
    CHECK(shared.partners.at({0, 1}) == 0);
    REQUIRE(shared.plan.shared.size() == 3);
    const auto& b1 = shared.plan.shared[0];
    const auto sum = [&](std::size_t k) { return shared.plan.shared[1][k] + shared.plan.shared[2][k]; };
    CHECK(b1 == std::vector<unsigned>{4, 5, 2});
    CHECK(sum(0) == 4);
    CHECK(sum(1) == 3);
    CHECK(sum(2) == 6);
    const Fig6 never(0);
    CHECK(never.plan.pairs.empty());
    CHECK(never.partners.empty());
    CHECK(never.plan.tiles == shared.plan.tiles);
}

TEST_CASE("Those branches share that are least likely to be active together", "[sharing]") {
    const Model model = four_parts();
    // Parts 0 and 2 take turns, so do 1 and 3; 0 and 1 always come together.
    const Profile profile = profile_of_masks(model, {0b0011, 0b0011, 0b1100, 0b1100});
    const HardwareDescription chip = large_chip();
    const Workload workload(model.graph, chip, expected_fractions(profile));
    StageSearch search(workload, chip);
    Margins margins;
    margins.sharing = kAlways;
    Segmenter segmenter(search, find_design("m-tile"), chip.tiles(), 2, margins);
    const int first = model.graph.find_operator("part0");
    SegmentPlan plan = *segmenter.segment(first, first + 4);
    Partners partners;
    segmenter.share(plan, &profile, 0, 0, partners);
    REQUIRE(partners.size() == 4);
    CHECK(partners.at({0, 0}) == 2);
    CHECK(partners.at({0, 1}) == 3);
    // sample-index lists name one partner: in another segment no other one is chosen.
    Partners fixed{{{0, 0}, 1}, {{0, 1}, 0}};
    SegmentPlan again = *segmenter.segment(first, first + 4);
    segmenter.share(again, &profile, 0, 0, fixed);
    CHECK(fixed.at({0, 0}) == 1);
    CHECK(fixed.at({0, 2}) == 3);
}

struct Placed {
    std::map<std::uint16_t, const OperatorPlacement*> placements;
    explicit Placed(const Image& image) {
        for (const TileProgram& program : image.tiles)
            for (const OperatorPlacement& placement : program.placements)
                placements.emplace(placement.op_id, &placement);
    }
};

Image swing(const std::vector<std::string>& left_out, double margin = kAlways) {
    const Model model = read_model("testbenches/data/swing.yaml");
    const Profile profile = profile_of(model.graph, declared_routing(model, 40), model.graph.batch_samples());
    CompileOptions options;
    options.profile = &profile;
    options.without = left_out;
    options.margins.sharing = margin;
    return compile(model.graph, large_chip(), options);
}

/// The first tiles of an operator's list, as many as its kernels of an allocation use.
std::set<std::uint16_t> tiles_in(const OperatorPlacement& placement, unsigned allocation) {
    std::size_t max = 0;
    for (std::size_t i = placement.first_partition(allocation); i < placement.last_partition(allocation); ++i) {
        const Partition& part = placement.partitions[i];
        max = std::max<std::size_t>(max, std::size_t{part.n} * part.p * placement.k_factor);
    }
    return {placement.tiles.begin(), placement.tiles.begin() + static_cast<std::ptrdiff_t>(max)};
}

TEST_CASE("In no allocation two branches use the same tile", "[sharing]") {
    const Image image = swing({});
    const Placed placed(image);
    const OperatorPlacement &left = *placed.placements.at(2), &right = *placed.placements.at(3);
    REQUIRE(left.allocations.size() == 3);
    REQUIRE(right.allocations.size() == 3);
    std::set<std::uint16_t> common;
    for (unsigned k = 0; k < 3; ++k) {
        const std::set<std::uint16_t> a = tiles_in(left, k), b = tiles_in(right, k);
        for (const std::uint16_t tile : a) CHECK(b.count(tile) == 0);
        CHECK(left.last_partition(k) - left.first_partition(k) <= 32);
        CHECK(right.last_partition(k) - right.first_partition(k) <= 32);
    }
    const std::set<std::uint16_t> of_left(left.tiles.begin(), left.tiles.end());
    CHECK(std::any_of(right.tiles.begin(), right.tiles.end(), [&](auto tile) { return of_left.count(tile) > 0; }));
    CHECK(tiles_in(left, 1).size() > tiles_in(left, 0).size());
    CHECK(tiles_in(left, 2).size() < tiles_in(left, 0).size());
    CHECK(tiles_in(right, 2).size() > tiles_in(right, 0).size());
    CHECK_THAT(explain(image), Catch::Matchers::ContainsSubstring("tiles with right; uses "));
}

TEST_CASE("Both branches choose the same allocation for every unit", "[sharing]") {
    const Image image = swing({});
    const Placed placed(image);
    const OperatorPlacement &left = *placed.placements.at(2), &right = *placed.placements.at(3);
    std::set<unsigned> chosen;
    for (std::uint32_t a = 0; a <= left.unit_samples; ++a) {
        for (std::uint32_t b = 0; b <= left.unit_samples; ++b) {
            const unsigned k = left.allocation_for(a, b);
            REQUIRE(right.allocation_for(b, a) == k);
            CHECK(left.best_fit(k, a) >= 0);
            CHECK(right.best_fit(k, b) >= 0);
            if (a + b == left.unit_samples) chosen.insert(k);
        }
    }
    CHECK(chosen == std::set<unsigned>{0, 1, 2});
    CHECK(left.allocation_for(left.unit_samples, 0) == 1);
    CHECK(left.allocation_for(0, left.unit_samples) == 2);
}

TEST_CASE("On a tile two operators that share it lie side by side", "[sharing]") {
    const Image image = swing({});
    for (const TileProgram& program : image.tiles) {
        std::map<std::uint64_t, std::uint64_t> taken;  // first byte, one beyond the last
        for (const TileOperator& op : program.operators) {
            taken.emplace(op.out_offset, op.out_offset + std::uint64_t{op.out_slots} * op.out_slot_bytes);
            for (const std::uint16_t id : op.in_edges) {
                const Edge& edge = program.edge(id);
                if (edge.path == EdgePath::mask) continue;
                const std::uint64_t bytes =
                    edge.path == EdgePath::weights ? edge.weight_bytes : std::uint64_t{edge.slots} * edge.slot_bytes;
                CHECK(taken.emplace(edge.slot_offset, edge.slot_offset + bytes).second);
            }
        }
        std::uint64_t last = 0;
        for (const auto& [first, end] : taken) {
            CHECK(first >= last);
            last = end;
        }
    }
}

TEST_CASE("Designs share tiles or do not, and an image without is as if nobody could", "[sharing]") {
    for (const Design& design : designs()) {
        const std::string& name = design.name();
        CHECK(design.has(Mechanism::sharing) == (name == "adyna" || name == "full-kernel" || name == "real-time"));
    }
    const auto program = [](Image image) {  // whatever it says of its design
        image.meta.without.clear();
        return encode(image);
    };
    CHECK((program(swing({"sharing"})) == program(swing({}, 0))));
    CHECK((program(swing({})) != program(swing({"sharing"}))));
    const Model model = read_model("testbenches/data/moe16.yaml");
    CompileOptions options;
    const std::vector<std::uint8_t> with = program(compile(model.graph, large_chip(), options));
    options.without = {"sharing"};
    CHECK((program(compile(model.graph, large_chip(), options)) == with));
}

}  // namespace
}  // namespace switchyard::sched
