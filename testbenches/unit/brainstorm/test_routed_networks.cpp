// SPDX-License-Identifier: Apache-2.0
// The networks at their published sizes, the routes that they declare, and descriptions that are refused.
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/brainstorm/network_profile.h"
#include "switchyard/sw_scheduler/brainstorm/routed_network.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::sched;
using namespace switchyard::sched::brainstorm;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;

namespace {

RoutedNetwork network_of(const std::string& name, std::map<std::string, std::string> overrides = {}) {
    return read_routed_network(std::string(SOURCE_FOLDER) + "/configs/workloads/brainstorm/" + name + ".yaml",
                               overrides);
}

std::string refusal(const std::string& text) {
    const std::filesystem::path file = std::filesystem::temp_directory_path() / "switchyard_routed_network.yaml";
    std::ofstream(file) << text;
    std::map<std::string, std::string> none;
    try {
        read_routed_network(file.string(), none);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("networks have their published sizes", "[routed_network]") {
    const RoutedNetwork swtch = network_of("switch_transformer", {{"network.router.branches", "256"}});
    CHECK(swtch.routed_stages().size() == 12);
    CHECK(swtch.cells == 1024);
    CHECK(swtch.branch_weight_bytes() == 12ull * 256 * 2 * 768 * 3072 * 4);
    // Tokens of a sentence meet in self-attention, sentences do not.
    CHECK_FALSE(swtch.cells_stay);
    CHECK(network_of("task_moe").cells_stay);
    CHECK(network_of("task_moe").routed_stages().size() == 3);
    const RoutedNetwork swin = network_of("swin_moe");
    CHECK(swin.routed_stages().size() == 10);
    CHECK(swin.cells == 128 * 144);
    CHECK(swin.stages[swin.routed_stages().front()].router.capacity == 1440);
    const RoutedNetwork layer = network_of("swin_moe", {{"network.only_layer", "2"}});
    CHECK(layer.stages.size() == 1);
    CHECK(layer.routed_stages().size() == 1);
    CHECK(layer.branch_weight_bytes() == 16ull * 2 * 384 * 1536 * 4);
    CHECK(layer.fixed_weight_bytes() < swin.fixed_weight_bytes() / 100);
    const RoutedNetwork msdnet = network_of("msdnet");
    CHECK(msdnet.routed_stages().size() == 4);
    // 62 cells; the paper counts three routers a cell, also where a path does not exist.
    const RoutedNetwork routing = network_of("dynamic_routing");
    CHECK(routing.routed_stages().size() == 62);
    CHECK(routing.decisions() <= 186);
    CHECK(network_of("live_sr").stages[0].branches[0].waves.size() == 1 + 2 * 8 + 3);
}

TEST_CASE("routes follow what is declared, and the seed", "[routed_network]") {
    RouteDeclaration exits;
    exits.kind = RouteDeclaration::Kind::exits;
    exits.weights = {0.1, 0.1, 0.2, 0.6};
    const std::vector<RouterShape> routers(3, RouterShape{2, 1, 0});
    std::vector<double> ended(4);
    for (std::uint64_t batch = 0; batch < 4000; ++batch) {
        const auto routes = routes_of_batch(exits, routers, 1, 1, 7, batch);
        std::size_t exit = 0;
        while (exit < 3 && routes[exit][0][0] == 0) ++exit;
        ended[exit] += 1.0 / 4000;
    }
    for (std::size_t e = 0; e < 4; ++e) CHECK(ended[e] == Approx(exits.weights[e]).margin(0.025));

    RouteDeclaration task;
    task.kind = RouteDeclaration::Kind::task;
    task.tasks = 4;
    const auto routes = routes_of_batch(task, {{16, 2, 0}, {16, 2, 0}}, 64, 1, 1, 0);
    std::map<std::vector<std::size_t>, std::vector<std::size_t>> next;
    for (std::size_t cell = 0; cell < 64; ++cell) {
        CHECK(routes[0][cell].size() == 2);
        const auto found = next.emplace(routes[0][cell], routes[1][cell]).first;
        CHECK(found->second == routes[1][cell]);  // sentences of a task stay together
    }
    CHECK(next.size() == 4);
    CHECK(routes_of_batch(task, {{16, 2, 0}}, 64, 1, 1, 0) == routes_of_batch(task, {{16, 2, 0}}, 64, 1, 1, 0));
    CHECK(routes_of_batch(task, {{16, 2, 0}}, 64, 1, 1, 0) != routes_of_batch(task, {{16, 2, 0}}, 64, 1, 2, 0));
    task.grouped = true;
    task.tasks = 16;
    const auto grouped = routes_of_batch(task, {{16, 2, 0}, {16, 2, 0}}, 256, 1, 1, 0);
    std::map<std::size_t, std::vector<std::size_t>> of_branch, following;
    for (std::size_t cell = 0; cell < 256; ++cell)
        for (const std::size_t branch : grouped[0][cell]) {
            const auto found = of_branch.emplace(branch, grouped[0][cell]).first;
            CHECK(found->second == grouped[0][cell]);  // groups have no branch in common
            CHECK(following.emplace(branch, grouped[1][cell]).first->second == grouped[1][cell]);
        }
    CHECK(of_branch.size() == 16);
    CHECK_THROWS_AS(routes_of_batch(exits, {{2, 1, 0}}, 1, 1, 1, 0), InputError);

    RouteDeclaration shifted;
    shifted.kind = RouteDeclaration::Kind::shifted;
    shifted.weights = {5, 2};
    const auto moved = routes_of_batch(shifted, {{4, 1, 0}}, 2 * 14, 2, 1, 0);
    CHECK(loads_of({moved[0].begin(), moved[0].begin() + 14}, 4) == std::vector<std::uint64_t>{2, 2, 5, 5});
    CHECK(loads_of({moved[0].begin() + 14, moved[0].end()}, 4) == std::vector<std::uint64_t>{5, 5, 2, 2});
}

TEST_CASE("with all routers those that no path leads to decide, and close their paths", "[routed_network]") {
    const RoutedNetwork some = network_of("dynamic_routing");
    const RoutedNetwork all = network_of("dynamic_routing", {{"network.routers", "all"}});
    std::size_t closed = 0;
    for (std::uint64_t batch = 0; batch < 5; ++batch) {
        const StageRoutes of_some = stage_routes(some, some.routes, 1, 5, batch);
        const StageRoutes of_all = stage_routes(all, all.routes, 1, 5, batch);
        const std::vector<bool> led_to = reached_stages(some, of_some), reached = reached_stages(all, of_all);
        for (const std::size_t stage : all.routed_stages()) {
            CHECK(reached[stage]);
            if (led_to[stage]) {
                CHECK(of_all[stage] == of_some[stage]);
            } else {
                CHECK(of_all[stage][0].empty());
                ++closed;
            }
        }
    }
    CHECK(closed > 0);
    // Each decides in each batch.
    CHECK(NetworkProfile(all, 1, 99, 0, 4, CellProfile::Level::loads).reached(all.routed_stages().back()) == 1);
}

TEST_CASE("a profile predicts the more frequent decision, and knows where cells come from", "[routed_network]") {
    const RoutedNetwork routing = network_of("dynamic_routing");
    const NetworkProfile profile(routing, 1, 99, 0, 60, CellProfile::Level::loads);
    std::size_t right = 0, all = 0;
    for (std::uint64_t batch = 0; batch < 20; ++batch) {
        const StageRoutes routes = stage_routes(routing, routing.routes, 1, 5, batch);
        const std::vector<bool> reached = reached_stages(routing, routes);
        for (const std::size_t stage : routing.routed_stages()) {
            if (!reached[stage]) continue;
            const std::vector<std::size_t> predicted = profile.predicted(stage);
            for (std::size_t b = 0; b < routing.stages[stage].router.branches; ++b) {
                const auto has = [b](const std::vector<std::size_t>& list) {
                    return std::find(list.begin(), list.end(), b) != list.end();
                };
                right += has(predicted) == has(routes[stage][0]);
                ++all;
            }
        }
    }
    // The declared certainty; the profile misjudges hardly any path.
    CHECK(static_cast<double>(right) / static_cast<double>(all) == Approx(0.93).margin(0.02));

    const RoutedNetwork exchange =
        network_of("shifted_exchange", {{"network.cells", "8280"}, {"network.router.branches", "32"}});
    const NetworkProfile flows(exchange, 8, 99, 0, 1, CellProfile::Level::correlation);
    const PlacementProblem problem = flows.placement_problem();
    const auto block = flows.block_placement();
    const auto placed = flows.by_stage(annealed_placement(problem));
    // The branches to which a device sends most come to it: those of the next device in blocks.
    for (std::size_t b = 0; b < 32; ++b) {
        CHECK(block[0][b] == b / 4);
        CHECK(placed[0][b] == (b / 4 + 7) % 8);
    }
}

TEST_CASE("descriptions that make no sense are refused with file, line and key", "[routed_network]") {
    const std::string begin = "name: a\ngenerator: live_sr\npatches: 10\n";
    const std::string end = "routes: {kind: weights, weights: [1, 1]}\n";
    CHECK(refusal(begin + "router: {kind: switch, branches: 2}\n" + end).empty());
    CHECK_THAT(refusal(begin + "router: {kind: switch, branches: 0}\n" + end),
               ContainsSubstring(".yaml:4: router.branches"));
    CHECK_THAT(refusal(begin + "router: {kind: switch}\n" + end), ContainsSubstring("router.branches"));
    CHECK_THAT(refusal(begin + "router: {kind: switch, branches: 2, capacity: 0}\n" + end),
               ContainsSubstring(".yaml:4: router.capacity"));
    CHECK_THAT(refusal(begin + "router: {kind: hash, branches: 2}\n" + end), ContainsSubstring("router: expected "));
    CHECK_THAT(refusal(begin + end), ContainsSubstring("router"));
    CHECK_THAT(refusal("name: a\ngenerator: live_sx\n"), ContainsSubstring("generator"));
    CHECK_THAT(refusal(begin + "router: {kind: switch, branches: 2}\nroutes: {kind: weights, weights: [0, 0]}\n"),
               ContainsSubstring(".yaml:5: routes.weights: expected a weight above zero, found none"));
    CHECK_THAT(refusal(begin + "ptches: 4\nrouter: {kind: switch, branches: 2}\n" + end), ContainsSubstring("ptches"));
    const std::string moe =
        "name: a\ngenerator: switch_transformer\nrouter: {kind: top_k, branches: 4}\nroutes: {kind: zipf}\n";
    CHECK_THAT(refusal(moe + "cell: {dims: [0, 1], shape: [1, 3, 768]}\n"), ContainsSubstring(".yaml:5: cell"));
    CHECK_THAT(refusal(moe + "cell: {dims: [0], shape: [1, 1, 768]}\n"), ContainsSubstring("cell"));
}
