// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/adyna/compiler/segmentation.h"
#include "switchyard/sw_scheduler/adyna/compiler/tile_groups.h"
#include "switchyard/sw_scheduler/workload/profile.h"
#include "switchyard/sw_scheduler/workload/route_provider.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/unit/compiler/chips.h"
#include "switchyard/testbenches/unit/workload/model_text.h"

namespace switchyard::sched {
namespace {

constexpr std::size_t kAny = 100;  ///< branches a group may have

Workload with_shares(const DynGraph& graph, const std::vector<std::pair<std::string, double>>& shares) {
    std::vector<double> all(graph.operators.size(), 1.0);
    for (std::size_t op = 0; op < all.size(); ++op) {
        for (const auto& [prefix, share] : shares) {
            if (graph.operators[op].name.rfind(prefix, 0) == 0) all[op] = share;
        }
    }
    return Workload(graph, large_chip(), all);
}

/// Tile groups of more than one operator, by name.
std::vector<std::vector<std::string>> groups(const Workload& work, int first, int last, std::uint32_t unit_samples,
                                             std::size_t max_branches = kAny) {
    std::vector<std::vector<std::string>> found;
    for (const TileGroup& tile_group : shared_tile_groups(work, first, last, unit_samples, max_branches)) {
        if (tile_group.size() < 2) continue;
        found.emplace_back();
        for (const std::size_t i : tile_group)
            found.back().push_back(work.graph.operators[static_cast<std::size_t>(first) + i].name);
    }
    return found;
}

using Groups = std::vector<std::vector<std::string>>;

TEST_CASE("Rare branches are gathered until they expect a sample a unit", "[tile_groups]") {
    const Model model = read_model("testbenches/data/moe.yaml");
    const Workload work = with_shares(model.graph, {{"expert", 0.4}});
    const int all = static_cast<int>(model.graph.operators.size());
    // 0.4 samples each: three make 1.2, one is left over.
    CHECK(groups(work, 0, all, 1) == Groups{{"expert0", "expert1", "expert2"}});
    CHECK(groups(work, 0, all, 1, 2) == Groups{{"expert0", "expert1"}, {"expert2", "expert3"}});
    CHECK(groups(work, 0, all, 2) == Groups{{"expert0", "expert1"}, {"expert2", "expert3"}});  // 0.8 each
    CHECK(groups(work, 0, all, 3).empty());                                                    // 1.2 each
    const int second = model.graph.find_operator("expert1");
    CHECK(groups(work, second, all, 1) == Groups{{"expert1", "expert2", "expert3"}});
    CHECK(groups(work, second, second + 1, 1).empty());
    CHECK(shared_tile_groups(work, 0, all, 3, kAny) == separate_tile_groups(static_cast<std::size_t>(all)));
}

TEST_CASE("The operators at one position of eight rare branches form a tile group", "[tile_groups]") {
    std::string layers, merged;
    for (unsigned b = 0; b < 8; ++b) {
        layers += fmt::format(
            "  - {{name: b{0}x, kind: convolution, from: s.{0}, out_channels: 16, filter: 3, pad: 1}}\n", b);
        if (b % 2 == 0)
            layers += fmt::format("  - {{name: b{}y, kind: convolution, out_channels: 16, filter: 1}}\n", b);
        if (b == 4) {  // a switch within: its branches are not those of `s`
            layers +=
                "  - {name: mean4, kind: global_pool}\n"
                "  - {name: gate4, kind: matmul, out_channels: 1, fused: [sigmoid]}\n"
                "  - {name: t, kind: switch, from: b4y, gate: gate4, branches: 2, choose: one}\n"
                "  - {name: deep, kind: convolution, from: t.1, out_channels: 16, filter: 1}\n"
                "  - {name: b4z, kind: merge, from: [t.0, deep], mode: exclusive}\n";
        }
        const char last = b == 4 ? 'z' : b % 2 == 0 ? 'y' : 'x';
        merged += fmt::format("{}b{}{}", b > 0 ? ", " : "", b, last);
    }
    Model model =
        model_of(with_layers("  - {name: stem, kind: elementwise, from: input}\n"
                             "  - {name: mean, kind: global_pool, from: stem}\n"
                             "  - {name: gate, kind: matmul, from: mean, out_channels: 8}\n"
                             "  - {name: s, kind: switch, from: stem, gate: gate, branches: 8, choose: one}\n" +
                             layers + "  - {name: out, kind: merge, from: [" + merged + "]}\n"));
    const int all = static_cast<int>(model.graph.operators.size());
    // Of 8 samples: branch 0 gets 3, 1 to 5 get 0.24 each (all of b4's operators), 6 gets 0.8, 7 gets 1.
    const Workload work = with_shares(
        model.graph, {{"b", 0.03}, {"b0", 0.375}, {"b6", 0.1}, {"b7", 0.125}, {"gate4", 0.03}, {"deep", 0.01}});
    CHECK(groups(work, 0, all, 8) == Groups{{"b1x", "b2x", "b3x", "b4x", "b5x"}, {"b2y", "b4y"}});
    // 0.75 of b0, 0.06 each, 0.2 of b6: 0.75 + 5 * 0.06 = 1.05 closes the first group, the rest does not reach 1.
    CHECK(groups(work, 0, all, 2) ==
          Groups{{"b0x", "b1x", "b2x", "b3x", "b4x", "b5x"}, {"b0y", "b2y", "b4y"}, {"b6x", "b7x"}});
    // Every operator is in one tile group, tile groups and members in order.
    for (const std::uint32_t unit : {1u, 2u, 4u, 8u}) {
        for (const std::size_t max : {2u, 3u, 100u}) {
            const std::vector<TileGroup> tile_groups = shared_tile_groups(work, 0, all, unit, max);
            TileGroup members;
            for (const TileGroup& tile_group : tile_groups) {
                CHECK(std::is_sorted(tile_group.begin(), tile_group.end()));
                CHECK(tile_group.size() <= max);
                members.insert(members.end(), tile_group.begin(), tile_group.end());
            }
            CHECK(std::is_sorted(tile_groups.begin(), tile_groups.end()));
            std::sort(members.begin(), members.end());
            TileGroup every(static_cast<std::size_t>(all));
            std::iota(every.begin(), every.end(), std::size_t{0});
            CHECK(members == every);
        }
    }
}

TEST_CASE("Samples of a tile group vary less than those of its members", "[tile_groups]") {
    const Model any = read_model("testbenches/data/moe.yaml"), one = read_model("testbenches/data/moe16.yaml");
    const Workload work = with_shares(any.graph, {{"expert", 0.1}});
    const int first = any.graph.find_operator("expert0");
    const TileGroupSamples alone = tile_group_samples(work, first, {1}, 4),
                           four = tile_group_samples(work, first, {0, 1, 2, 3}, 4);
    CHECK(alone.mean == Approx(0.4));
    CHECK(alone.relative_variance == Approx(0.36 / 0.16));  // n p (1 - p) / (n p)^2
    CHECK(alone.usual == Approx((0.4 + 0.4 + 0.6) / 2));
    CHECK(four.mean == Approx(1.6));
    CHECK(four.relative_variance == Approx(4 * 0.36 / 2.56));
    CHECK(four.usual == Approx((1.6 + 1.6 + 1.2) / 2));

    // Of a switch that chooses one branch, all members together have the binomial distribution of their sum.
    const Workload exclusive = with_shares(one.graph, {{"expert", 0.1}});
    const TileGroupSamples together =
        tile_group_samples(exclusive, one.graph.find_operator("expert0.a"), {0, 2, 4, 6}, 4);
    CHECK(together.mean == Approx(1.6));
    CHECK(together.relative_variance == Approx(4 * 0.4 * 0.6 / 2.56));
    const Workload never = with_shares(one.graph, {{"expert", 0.0}});
    CHECK(tile_group_samples(never, one.graph.find_operator("expert0.a"), {0, 2}, 4).usual == 0);

    // In a compacted segment whole units come, to one member after another.
    const TileGroupSamples in_turn =
        tile_group_samples(exclusive, one.graph.find_operator("expert0.a"), {0, 2, 4, 6}, 4, 1);
    CHECK(in_turn.active == Approx(0.4));
    CHECK(in_turn.mean == 4);
    CHECK(in_turn.usual == 4);
    CHECK(in_turn.relative_variance == 0);
}

TEST_CASE("All branches of an exclusive switch count as rare where the segment is compacted by it", "[tile_groups]") {
    const Model model = read_model("testbenches/data/moe16.yaml");
    const Workload even = with_shares(model.graph, {{"expert", 0.5}});
    const int first = model.graph.find_operator("expert0.a"), all = static_cast<int>(model.graph.operators.size());
    CHECK(longest(shared_tile_groups(even, first, all, 4, 100)) == 1);
    CHECK(longest(shared_tile_groups(even, first, all, 4, 100, {0})) == 16);
    CHECK(longest(shared_tile_groups(even, first, all, 4, 3, {0})) == 3);
}

struct Grouped {
    explicit Grouped(HardwareDescription with, std::uint32_t unit_samples = 0)
        : model(read_model("testbenches/data/moe16.yaml")),
          chip(std::move(with)),
          workload(
              model.graph, chip,
              expected_fractions(profile_of(model.graph, declared_routing(model, 40), model.graph.batch_samples()))),
          search(workload, chip),
          grouping(search, find_design("adyna").without({"compaction"}), chip.tiles(), unit_samples, always()),
          separate(search, find_design("m-tile"), chip.tiles(), unit_samples, always()) {}
    /// Any gain counts.
    static Margins always() {
        Margins margins;
        margins.smaller_units = 1;
        return margins;
    }
    Model model;
    HardwareDescription chip;
    Workload workload;
    StageSearch search;
    Segmenter grouping, separate;
};

TEST_CASE("Tile groups are used where they make a segment faster, and only there", "[tile_groups]") {
    Grouped planned(large_chip());
    const int count = static_cast<int>(planned.model.graph.operators.size());
    unsigned grouped = 0, kept = 0;
    for (int first = 2; first < count; first += 8) {
        for (int last = first + 1; last <= count; last += 5) {
            const auto with = planned.grouping.segment(first, last), without = planned.separate.segment(first, last);
            CAPTURE(first, last);
            if (!without) continue;
            REQUIRE(with);
            if (longest(with->tile_groups) > 1) {
                CHECK(with->cycles < without->cycles);
                ++grouped;
            } else {
                CHECK(with->cycles == without->cycles);
                CHECK(with->tiles == without->tiles);
                ++kept;
            }
        }
    }
    CHECK(grouped > 0);
    CHECK(kept > 0);
}

TEST_CASE("The members of a tile group fit their tiles together, and get what the tile group's tiles can do",
          "[tile_groups]") {
    struct Case {
        HardwareDescription chip;
        std::uint32_t unit_samples;
    };
    HardwareDescription tight = large_chip();
    tight.scratchpad_bytes = 96 * 1024;
    unsigned tile_groups = 0;
    for (const Case& c : {Case{large_chip(), 0}, Case{large_chip(), 4}, Case{tight, 2}, Case{mini_chip(), 1}}) {
        Grouped planned(c.chip, c.unit_samples);
        for (SegmentPlan& plan : planned.grouping.best()) {
            const auto check = [&](const char* step) {
                CAPTURE(step, plan.first, plan.unit_samples, c.chip.name, c.chip.scratchpad_bytes);
                unsigned tiles = 0;
                for (const TileGroup& tile_group : plan.tile_groups) {
                    CHECK(plan.tile_group_bytes(tile_group) <= c.chip.data_bytes());
                    tiles += plan.tiles[tile_group.front()];
                    for (const std::size_t i : tile_group) {
                        const Stage& stage = plan.stages[i];
                        CHECK(stage.fits);
                        CHECK(plan.tiles[i] == plan.tiles[tile_group.front()]);
                        CHECK(unsigned{stage.largest.n} * stage.largest.p * stage.k_factor <= plan.tiles[i]);
                    }
                }
                CHECK(tiles <= c.chip.tiles());
            };
            check("planned");
            const std::vector<TileGroup> before = plan.tile_groups;
            planned.grouping.align(plan);
            check("aligned");
            planned.grouping.deepen(plan, 0);
            check("deepened");
            CHECK(plan.tile_groups == before);
            tile_groups += longest(plan.tile_groups) > 1 ? 1 : 0;
        }
    }
    CHECK(tile_groups >= 3);
}

TEST_CASE("What an operator gets beside sharers is the best that fits its part", "[tile_groups]") {
    HardwareDescription chip = large_chip();
    chip.scratchpad_bytes = 64 * 1024;
    Grouped planned(chip);
    const int op = planned.model.graph.find_operator("expert3.a");
    const BufferSlots slots{{2}, 2};
    unsigned smaller = 0;
    for (const unsigned tiles : {1u, 4u, 7u, 12u}) {
        for (const std::uint32_t unit : {1u, 4u, 16u}) {
            double before = 0;
            bool fitted = true;
            for (unsigned sharers = 1; sharers <= 6; ++sharers) {
                const Stage& stage = planned.search.best({op, unit, slots, 1, sharers}, tiles);
                CAPTURE(tiles, unit, sharers);
                CHECK((fitted || !stage.fits));
                fitted = stage.fits;
                const unsigned min = planned.search.min_tiles({op, unit, slots, 1, sharers});
                CHECK(stage.fits == (min > 0 && min <= tiles));
                if (!stage.fits) continue;
                CHECK(stage.footprint.total() * sharers <= planned.chip.data_bytes());
                CHECK(stage.cycles() >= before);
                smaller += stage.cycles() > before && sharers > 1 ? 1 : 0;
                before = stage.cycles();
            }
        }
    }
    CHECK(smaller > 0);
}

}  // namespace
}  // namespace switchyard::sched
