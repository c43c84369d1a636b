// SPDX-License-Identifier: Apache-2.0
// The samples that ProgramMap says reach each operator, against those that the report's checks expect.

#include <numeric>
#include <set>

#include "switchyard/platform/chip/platform_config.h"
#include "switchyard/platform/systems/adyna/expectation.h"
#include "switchyard/platform/systems/adyna/stages/program_map.h"
#include "switchyard/sw_scheduler/adyna/compiler/compile.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/workload/model_reader.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::platform;

namespace {

Image compiled(const std::string& model) {
    const sched::Model read = sched::read_model(model);
    return sched::compile(read.graph, make_hardware_description(read_platform("configs/platforms/mini.yaml")),
                          sched::CompileOptions{});
}

std::vector<const TileProgram*> programs_of(const Image& image) {
    std::vector<const TileProgram*> programs;
    for (const TileProgram& tile : image.tiles)
        if (!tile.operators.empty()) programs.push_back(&tile);
    return programs;
}

/// Masks with every combination of bits, one branch a sample where a switch is exclusive.
BatchRouting all_kinds(const Image& image) {
    BatchRouting routing{image.meta.batch_samples, {}};
    for (std::size_t s = 0; s < image.meta.switches.size(); ++s) {
        const ImageMeta::Switch& of = image.meta.switches[s];
        std::vector<std::uint64_t> masks;
        for (std::uint32_t id = 0; id < image.meta.batch_samples; ++id) {
            const std::uint64_t number = id * 7 / (s + 1) + s;
            masks.push_back(of.exclusive ? std::uint64_t{1} << number % of.branches
                                         : number % (std::uint64_t{1} << of.branches));
        }
        routing.masks.push_back(std::move(masks));
    }
    return routing;
}

}  // namespace

TEST_CASE("each stage is reached by the samples that the routing sends there", "[program_map]") {
    const std::string model = GENERATE("testbenches/data/fig6.yaml", "testbenches/data/early_exit.yaml",
                                       "testbenches/data/moe.yaml", "configs/workloads/digits_skipnet.yaml");
    CAPTURE(model);
    const Image image = compiled(model);
    const ProgramMap map(programs_of(image));
    BatchRouting routing = all_kinds(image);
    // A sample that does not reach a switch has no mask there.
    SampleCounts counts(map, image.meta.batch_samples);
    counts.begin_batch();
    for (std::size_t s = 0; s < routing.masks.size(); ++s) {
        const ImageMeta::Switch& of = image.meta.switches[s];
        for (std::size_t outer = 0; outer < s; ++outer) {
            if (image.meta.switches[outer].name != of.parent) continue;
            for (std::uint32_t id = 0; id < image.meta.batch_samples; ++id)
                if ((routing.masks[outer][id] >> of.parent_branch & 1U) == 0) routing.masks[s][id] = 0;
        }
        counts.set_masks(static_cast<std::uint16_t>(s), routing.masks[s]);
    }
    const Expectation expected = expect(image, routing);
    std::size_t dynamic = 0;
    for (const Stage& stage : map.stages()) {
        CAPTURE(image.meta.operators[stage.placement->op_id].name);
        CHECK(counts.count(stage.samples, 0, image.meta.batch_samples) ==
              expected.operator_samples[stage.placement->op_id]);
        dynamic += stage.samples != 0 ? 1 : 0;
    }
    CHECK(dynamic > 0);
    CHECK(counts.count(0, 3, 5) == 2);
    CHECK(counts.count(0, image.meta.batch_samples - 1, image.meta.batch_samples + 8) == 1);

    // In another order there are as many, at other positions.
    std::vector<std::uint32_t> backwards(image.meta.batch_samples);
    std::iota(backwards.rbegin(), backwards.rend(), 0);
    SampleCounts turned = counts;
    turned.begin_segment(backwards);
    for (SetId set = 0; set < map.sets().size(); ++set) {
        const std::uint32_t half = image.meta.batch_samples / 2, last = image.meta.batch_samples;
        CHECK(turned.count(set, 0, half) == counts.count(set, last - half, last));
    }

    // The ids of a unit: those of the set's samples at its positions, without the blocks that have none.
    const auto block = GENERATE(1U, 2U, 5U, 1000U);
    for (SetId set = 0; set < map.sets().size(); ++set) {
        for (std::uint32_t at = 0; at + 7 <= image.meta.batch_samples; at += 7) {
            std::vector<std::uint32_t> members;
            for (std::uint32_t id = image.meta.batch_samples - at - 7; id < image.meta.batch_samples - at; ++id)
                if (counts.count(set, id, id + 1) == 1) members.push_back(id);
            const Positions ids = turned.ids(set, {at, at + 7}, block);
            if (members.empty()) {
                CHECK(ids.last == ids.first);
                continue;
            }
            std::set<std::uint32_t> blocks;
            for (const std::uint32_t id : members) blocks.insert(id / block);
            CHECK(ids.first == members.front());
            CHECK((ids.last - 1) / block - ids.first / block + 1 == blocks.size());
            CHECK((ids.last - 1) % block == members.back() % block);
        }
    }
}

TEST_CASE("operators that pack take their own samples one unit after another, batch by batch", "[program_map]") {
    const Image image = compiled("testbenches/data/fig6.yaml");
    const ProgramMap map(programs_of(image));
    const BatchRouting routing = all_kinds(image);
    SampleCounts counts(map, image.meta.batch_samples);
    counts.begin_batch();
    for (std::size_t s = 0; s < routing.masks.size(); ++s)
        counts.set_masks(static_cast<std::uint16_t>(s), routing.masks[s]);
    counts.begin_segment({});
    counts.pack();
    REQUIRE(counts.packs());
    const std::uint32_t batches = GENERATE(1U, 2U), unit_samples = GENERATE(1U, 2U, 4U),
                        samples = image.meta.batch_samples / batches;
    CAPTURE(batches, unit_samples);
    std::size_t dynamic = 0;
    for (const Stage& stage : map.stages()) {
        OperatorPlacement placement = *stage.placement;
        placement.unit_samples = unit_samples;
        placement.units =
            static_cast<std::uint16_t>(batches * ((samples + placement.unit_samples - 1) / placement.unit_samples));
        const unsigned units = placement.units / batches;
        placement.partitions.resize(1);
        placement.partitions.front().dyn_dim = static_cast<std::uint16_t>(units * placement.unit_samples);
        REQUIRE(units * placement.unit_samples == samples);
        dynamic += stage.samples != 0 ? 1 : 0;
        for (unsigned unit = 0; unit < placement.units; ++unit) {
            const std::uint32_t batch = unit / units * samples, number = unit % units * placement.unit_samples;
            // The batch's members with these numbers, counted one by one.
            std::vector<std::uint32_t> members;
            for (std::uint32_t id = batch; id < batch + samples; ++id)
                if (counts.count(stage.samples, id, id + 1) == 1) members.push_back(id);
            const std::size_t first = std::min<std::size_t>(number, members.size()),
                              last = std::min<std::size_t>(number + placement.unit_samples, members.size());
            const Positions at = counts.positions(stage.samples, placement, unit);
            CHECK(counts.count(stage.samples, placement, unit) == last - first);
            if (first == last) continue;
            CHECK(at.first == members[first]);
            CHECK(at.last > members[last - 1]);
            const Positions ends = counts.ends(stage.samples, at);
            CHECK(ends.first == members[first]);
            CHECK(ends.last == members[last - 1]);
        }
    }
    CHECK(dynamic > 0);
    counts.begin_segment({});
    CHECK_FALSE(counts.packs());
}

TEST_CASE("programs that do not fit together are refused", "[program_map][bad]") {
    Image image = compiled("testbenches/data/fig6.yaml");
    std::vector<const TileProgram*> programs = programs_of(image);
    programs.pop_back();  // with some operator's rank 0, or a neighbour that nobody else knows
    programs.erase(programs.begin());
    CHECK_THROWS_AS(ProgramMap(programs), InputError);
}

TEST_CASE("sets inside a switch cannot be counted before its masks are there", "[program_map][bad]") {
    const Image image = compiled("testbenches/data/fig6.yaml");
    const ProgramMap map(programs_of(image));
    const SampleCounts counts(map, image.meta.batch_samples);
    REQUIRE(map.sets().size() > 1);
    CHECK_THROWS_AS(counts.count(1, 0, 1), std::logic_error);
}
