// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/adyna/expectation.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::platform;

namespace {

enum Op : std::uint16_t { kStem, kConv, kInner, kInnerMerge, kOuterMerge, kInput };

Edge edge(std::uint16_t id, std::uint16_t src, std::uint16_t dst) {
    Edge e;
    e.id = id;
    e.src_op = src;
    e.dst_op = dst;
    return e;
}

Edge through(Edge e, std::uint16_t switch_id, std::uint16_t branch) {
    e.switch_id = switch_id;
    e.branch = branch;
    return e;
}

Edge popping(Edge e) {
    e.pops = 1;
    return e;
}

/// input -> stem -> switch "outer" -+-(0)---------------------------------------------+-> outer_merge
///                                  +-(1) conv -> switch "inner" -+-(0)-------------+-> inner_merge
///                                                                +-(1) inner ------+
Image nested_skip() {
    Image image;
    image.meta.model = "nested";
    image.meta.batch_samples = 4;
    image.meta.operators.resize(6);
    for (const Op op : {kStem, kConv, kInner}) image.meta.operators[op].macs_per_sample = 10;
    image.meta.switches.resize(2);
    image.meta.switches[0].name = "outer";
    image.meta.switches[0].exclusive = true;
    image.meta.switches[1].name = "inner";
    image.meta.switches[1].parent = "outer";
    image.meta.switches[1].parent_branch = 1;
    TileProgram tile;
    tile.edges = {edge(0, kInput, kStem),
                  through(edge(1, kStem, kConv), 0, 1),
                  through(edge(2, kConv, kInner), 1, 1),
                  popping(through(edge(3, kConv, kInnerMerge), 1, 0)),
                  popping(edge(4, kInner, kInnerMerge)),
                  popping(through(edge(5, kStem, kOuterMerge), 0, 0)),
                  popping(edge(6, kInnerMerge, kOuterMerge))};
    Edge weights = edge(7, kNone, kConv);
    weights.path = EdgePath::weights;
    Edge mask = through(edge(8, kStem, kConv), 0, 1);
    mask.path = EdgePath::mask;
    tile.edges.push_back(weights);
    tile.edges.push_back(mask);
    image.tiles.push_back(tile);
    return image;
}

}  // namespace

TEST_CASE("samples and multiply-accumulates follow from masks and edges alone", "[expectation]") {
    BatchRouting routing;
    routing.samples = 4;
    routing.masks = {{1, 2, 2, 2}, {0, 1, 2, 2}};
    const Expectation expected = expect(nested_skip(), routing);
    CHECK(expected.operator_samples == std::vector<std::uint64_t>{4, 3, 2, 3, 4, 4});
    CHECK(expected.branch_samples == std::vector<std::vector<std::uint64_t>>{{1, 3}, {1, 2}});
    CHECK(expected.macs == 10 * (4 + 3 + 2));
}

TEST_CASE("a branch that gets no sample expects nothing, a sample may take every branch", "[expectation]") {
    BatchRouting routing;
    routing.samples = 4;
    routing.masks = {{1, 1, 1, 1}, {0, 0, 0, 0}};
    CHECK(expect(nested_skip(), routing).operator_samples == std::vector<std::uint64_t>{4, 0, 0, 0, 4, 4});
    routing.masks = {{3, 3, 3, 3}, {3, 3, 3, 3}};
    const Expectation every = expect(nested_skip(), routing);
    CHECK(every.operator_samples == std::vector<std::uint64_t>{4, 4, 4, 4, 4, 4});
    CHECK(every.branch_samples == std::vector<std::vector<std::uint64_t>>{{4, 4}, {4, 4}});
}

TEST_CASE("routing of another size is refused", "[expectation]") {
    BatchRouting routing;
    routing.samples = 3;
    routing.masks = {{1, 1, 1}, {0, 0, 0}};
    CHECK_THROWS_WITH(expect(nested_skip(), routing),
                      "nested: routing: expected 4 samples and 2 switches, found 3 and 2");
}

TEST_CASE("an image's switches look to a trace as the model's did", "[expectation]") {
    const std::vector<SwitchSignature> signatures = signatures_of(nested_skip().meta);
    REQUIRE(signatures.size() == 2);
    CHECK(signatures[0].name == "outer");
    CHECK(signatures[0].parent == -1);
    CHECK(signatures[0].exclusive);
    CHECK(signatures[1].parent == 0);
    CHECK(signatures[1].parent_branch == 1);
    CHECK_FALSE(signatures[1].exclusive);
}
