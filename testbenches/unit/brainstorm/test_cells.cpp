// SPDX-License-Identifier: Apache-2.0
// Cells, routers, profiles, and which operators keep, reorder or mix cells.
#include <algorithm>
#include <set>

#include <yaml-cpp/yaml.h>

#include "switchyard/sw_scheduler/base/random_source.h"
#include "switchyard/sw_scheduler/brainstorm/moe_routes.h"
#include "switchyard/sw_scheduler/workload/cell_dataflow.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::sched;

namespace {

CellRouter router_of(const std::string& text) {
    return read_cell_router(MappingReader(YAML::Load(text), "model.yaml", "router"));
}

CellAnnotation cell_of(const std::string& text) {
    return read_cell(MappingReader(YAML::Load(text), "model.yaml", "cell"));
}

std::vector<std::vector<double>> random_scores(std::size_t cells, std::size_t branches, std::uint64_t seed) {
    RandomSource random(seed, 0);
    std::vector<std::vector<double>> scores(cells, std::vector<double>(branches));
    for (auto& row : scores)
        for (double& score : row) score = random.uniform();
    return scores;
}

}  // namespace

TEST_CASE("cells of the paper's three examples are counted", "[cells]") {
    CHECK(cell_of("{dims: [0], shape: [1, 768]}").cells_of({3, 768}) == 3);
    const CellAnnotation patch = cell_of("{dims: [0, 1], shape: [32, 32]}");
    CHECK(patch.cells_of({192, 128}) == 24);
    CHECK(patch.cell_of({192, 128}, {33, 31}) == 4);
    CHECK(cell_of("{dims: [0, 1], shape: [1, 1]}").cells_of({5, 7}) == 35);
    CHECK_THROWS_AS(patch.cells_of({100, 128}), InputError);
    CHECK_THROWS_AS(cell_of("{dims: [0, 0], shape: [1, 1]}"), InputError);
    CHECK_THROWS_AS(cell_of("{dims: [0], shape: [0]}"), InputError);
}

TEST_CASE("a router without branches and a capacity of 0 are refused with their key", "[cells]") {
    CHECK_THROWS_WITH(router_of("{kind: top_k, branches: 0}"), Catch::Matchers::ContainsSubstring("router.branches"));
    CHECK_THROWS_WITH(router_of("{kind: top_k}"), Catch::Matchers::ContainsSubstring("router.branches"));
    CHECK_THROWS_WITH(router_of("{kind: switch, branches: 4, capacity: 0}"),
                      Catch::Matchers::ContainsSubstring("router.capacity"));
    CHECK_THROWS_WITH(router_of("{kind: top_k, branches: 4, k: 5}"), Catch::Matchers::ContainsSubstring("router.k"));
    CHECK_THROWS_AS(router_of("{kind: nearest, branches: 4}"), InputError);
}

TEST_CASE("routers choose as their kind says", "[cells]") {
    const std::vector<std::vector<double>> scores{{0.1, 0.7, 0.2}, {0.5, 0.1, 0.5}, {0.2, 0.3, 0.1}};
    CHECK(route_cells(router_of("{kind: switch, branches: 3}"), scores, {}) == CellRoutes{{1}, {0}, {1}});
    CHECK(route_cells(router_of("{kind: top_k, branches: 3, k: 2}"), scores, {}) == CellRoutes{{1, 2}, {0, 2}, {1, 0}});
    CHECK(route_cells(router_of("{kind: threshold, branches: 3, threshold: 0.5}"), scores, {}) ==
          CellRoutes{{1}, {0, 2}, {}});
    CHECK(route_cells(router_of("{kind: task, branches: 3}"), {}, {2, 0, 2}) == CellRoutes{{2}, {0}, {2}});
    CHECK_THROWS_AS(route_cells(router_of("{kind: task, branches: 3}"), {}, {3}), InputError);
    CHECK(route_cells(router_of("{kind: switch, branches: 3, capacity: 1}"), scores, {}) == CellRoutes{{1}, {0}, {}});
    CHECK(route_cells(router_of("{kind: switch, branches: 3, capacity: 1, drop: next_best}"), scores, {}) ==
          CellRoutes{{1}, {0}, {2}});
    const auto hashed = route_cells(router_of("{kind: hash, branches: 8}"), {}, {1, 2, 3, 1, 2, 3});
    CHECK(hashed[0] == hashed[3]);
    CHECK(hashed[1] == hashed[4]);
    // 8000 ids over 8 branches: six standard deviations of the binomial are 178.
    std::vector<std::uint64_t> ids(8000);
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = i;
    for (const std::uint64_t load : loads_of(route_cells(router_of("{kind: hash, branches: 8}"), {}, ids), 8))
        CHECK((load > 822 && load < 1178));
}

TEST_CASE("no branch gets more than its capacity, and next_best drops nothing while there is room", "[cells]") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        CellRouter router = router_of("{kind: top_k, branches: 5, k: 2, capacity: 9}");
        const auto scores = random_scores(20, 5, seed);
        for (const std::uint64_t load : loads_of(route_cells(router, scores, {}), 5)) CHECK(load <= 9);
        router.drop = CellRouter::Drop::next_best;
        const CellRoutes routes = route_cells(router, scores, {});
        for (const auto& taken : routes)
            CHECK(std::set<std::size_t>(taken.begin(), taken.end()).size() == taken.size());
        std::uint64_t sum = 0;
        for (const std::uint64_t load : loads_of(routes, 5)) {
            CHECK(load <= 9);
            sum += load;
        }
        CHECK(sum >= 2 * 20 - 2);  // the last cell may find one branch with room only
    }
}

TEST_CASE("a profile's levels agree with the decisions, and each costs more than the one below", "[cells]") {
    brainstorm::MoeRouteConfig config;
    config.routers = 3;
    config.branches = 8;
    config.cells = 100;
    CellProfile loads(CellProfile::Level::loads, {8, 8, 8}), pairs(CellProfile::Level::correlation, {8, 8, 8}),
        all(CellProfile::Level::decisions, {8, 8, 8});
    for (std::uint64_t batch = 0; batch < 20; ++batch)
        for (CellProfile* profile : {&loads, &pairs, &all}) profile->add(moe_routes(config, 5, batch));
    std::uint64_t moved[8][8] = {};
    for (const auto& batch : all.decisions())
        for (std::size_t cell = 0; cell < 100; ++cell) ++moved[batch[1][cell][0]][batch[2][cell][0]];
    for (std::size_t a = 0; a < 8; ++a)
        for (std::size_t b = 0; b < 8; ++b) CHECK(pairs.moved(1, a, b) == moved[a][b]);
    CHECK(loads.load_percentile(0, 1.0) >= loads.load_percentile(0, 0.5));
    CHECK(loads.counter_updates() == 3 * 20 * 100);
    CHECK(pairs.counter_updates() == 3 * 20 * 100 + 2 * 20 * 100);
    CHECK(loads.bytes() == 4 * 3 * 8 * 20);
    CHECK(pairs.bytes() == loads.bytes() + 4 * 2 * 64);
    CHECK(all.bytes() == pairs.bytes() + 4 * 3 * 20 * 100);
    CHECK_THROWS_AS(loads.moved(0, 0, 0), InputError);
    CHECK_THROWS_AS(CellProfile(CellProfile::Level::loads, {4, 0}), InputError);
}

TEST_CASE("declared correlation is found in the routes, none without it", "[cells]") {
    brainstorm::MoeRouteConfig config;
    config.routers = 2;
    config.branches = 16;
    config.cells = 2000;
    config.skew = 0;
    const auto share_of_two = [&](double correlation) {
        config.correlation = correlation;
        CellProfile profile(CellProfile::Level::correlation, {16, 16});
        for (std::uint64_t batch = 0; batch < 10; ++batch) profile.add(moe_routes(config, 3, batch));
        std::uint64_t best = 0, all = 0;
        for (std::size_t a = 0; a < 16; ++a) {
            std::vector<std::uint64_t> row;
            for (std::size_t b = 0; b < 16; ++b) row.push_back(profile.moved(0, a, b));
            std::sort(row.rbegin(), row.rend());
            best += row[0] + row[1];
            for (const std::uint64_t cells : row) all += cells;
        }
        return static_cast<double>(best) / static_cast<double>(all);
    };
    // Two partners of 16 get their declared share, and 2/16 of the rest; the larger two of noise a little more.
    CHECK(share_of_two(0.8) == Approx(0.8 + 0.2 * 2 / 16).margin(0.02));
    CHECK(share_of_two(0) == Approx(2.0 / 16).margin(0.03));
}

TEST_CASE("matrix multiplications of Fig. 8a keep, reorder and mix cells", "[cells]") {
    const CellAnnotation row{{0}, {1}};
    const auto relation = [&](std::vector<std::vector<bool>> nonzero) {
        return trace_cells(constant_times_map(std::move(nonzero)), {2, 3}, row, row).relation;
    };
    CHECK(relation({{true, false}, {false, true}}) == CellRelation::keeps);
    CHECK(relation({{false, true}, {true, false}}) == CellRelation::reorders);
    CHECK(relation({{true, true}, {true, true}}) == CellRelation::mixes);
    CHECK(trace_cells(linear_map(5), {2, 3}, row, row).relation == CellRelation::keeps);
    CHECK(trace_cells(elementwise_map(), {2, 3}, row, row).relation == CellRelation::keeps);
    CHECK(trace_cells(reduce_along_map(1), {2, 3}, row, row).relation == CellRelation::keeps);
    CHECK(trace_cells(reduce_along_map(0), {2, 3}, row, row).relation == CellRelation::mixes);
    // A transposed image keeps its pixels at other places; rows of cells become columns.
    const CellAnnotation pixel{{0, 1}, {1, 1}};
    CHECK(trace_cells(transpose_map(0, 1), {2, 3}, pixel, pixel).relation == CellRelation::reorders);
    CHECK(trace_cells(transpose_map(0, 1), {2, 3}, row, CellAnnotation{{1}, {1}}).relation == CellRelation::keeps);
    // A 3x3 window mixes patches, a 1x1 window does not.
    const CellAnnotation patch{{0, 1}, {2, 2}};
    CHECK(trace_cells(window_map(3), {4, 4}, patch, patch).relation == CellRelation::mixes);
    CHECK(trace_cells(window_map(1), {4, 4}, patch, patch).relation == CellRelation::keeps);
}

TEST_CASE("self-attention needs whole sentences on one device, linear layers do not", "[cells]") {
    const std::uint64_t sentences = 3, tokens = 4;
    const Shape shape{sentences, tokens, 2};
    const CellAnnotation token{{0, 1}, {1, 1, 2}}, token_of_three{{0, 1}, {1, 1, 3}};
    const CellDataflow layer =
        trace_cells({linear_map(2), self_attention_map(), linear_map(3)}, shape, {token, token, token, token_of_three});
    CHECK(layer.relation == CellRelation::mixes);
    const auto groups = cells_of_one_device(layer, sentences * tokens);
    REQUIRE(groups.size() == sentences);
    for (std::uint64_t s = 0; s < sentences; ++s) {
        std::vector<std::uint64_t> sentence;
        for (std::uint64_t t = 0; t < tokens; ++t) sentence.push_back(s * tokens + t);
        CHECK(groups[s] == sentence);
    }
    const CellDataflow alone = trace_cells(linear_map(3), shape, token, token_of_three);
    CHECK(cells_of_one_device(alone, sentences * tokens).size() == sentences * tokens);
}
