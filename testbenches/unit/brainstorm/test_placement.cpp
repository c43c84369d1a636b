// SPDX-License-Identifier: Apache-2.0
// Placement of branches: the exact solver against enumeration, annealing against the exact solver, a large problem.
#include <ctime>
#include <functional>
#include <limits>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/random_source.h"
#include "switchyard/sw_scheduler/brainstorm/moe_routes.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/unit/brainstorm/exact_placement.h"

using namespace switchyard;
using namespace switchyard::sched::brainstorm;

namespace {

/// Two or three layers of 3 or 4 branches on 2 devices, or of 3 on 3; about half of the pairs have cells.
PlacementProblem small_problem(std::uint64_t seed) {
    RandomSource random(seed, 0);
    PlacementProblem problem;
    const unsigned layers = random.integer(2, 3), branches = random.integer(3, 4);
    problem.devices = branches == 3 ? random.integer(2, 3) : 2;
    for (unsigned l = 0; l < layers; ++l) {
        problem.per_device.push_back((branches + problem.devices - 1) / problem.devices);
        for (unsigned b = 0; b < branches; ++b) problem.layer.push_back(l);
    }
    for (std::size_t l = 0; l + 1 < layers; ++l)
        for (std::size_t a = 0; a < branches; ++a)
            for (std::size_t b = 0; b < branches; ++b)
                if (random.chance(0.5))
                    problem.flows.push_back(
                        {l * branches + a, (l + 1) * branches + b, static_cast<double>(random.integer(1, 100))});
    if (random.chance(0.25)) problem.together.push_back({0, branches});
    return problem;
}

double enumerated_optimum(const PlacementProblem& problem) {
    double best = std::numeric_limits<double>::infinity();
    Placement placement(problem.layer.size());
    const std::function<void(std::size_t)> place = [&](std::size_t b) {
        if (b == placement.size()) {
            if (validation_error(problem, placement).empty()) best = std::min(best, crossing_cells(problem, placement));
            return;
        }
        for (placement[b] = 0; placement[b] < problem.devices; ++placement[b]) place(b + 1);
        placement[b] = 0;
    };
    place(0);
    return best;
}

}  // namespace

TEST_CASE("the exact placement is the best of all", "[placement]") {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        const PlacementProblem problem = small_problem(seed);
        if (problem.layer.size() > 9) continue;
        const Placement placement = exact_placement(problem);
        CHECK(validation_error(problem, placement).empty());
        CHECK(crossing_cells(problem, placement) == Approx(enumerated_optimum(problem)));
    }
}

TEST_CASE("annealing finds the optimum of 1,000 small problems", "[placement]") {
    AnnealingConfig config;
    config.moves_per_branch = 500;
    config.restarts = 3;
    double exact = 0, annealed = 0, worst = 0;
    unsigned optimal = 0;
    for (std::uint64_t seed = 1001; seed <= 2000; ++seed) {
        const PlacementProblem problem = small_problem(seed);
        const double best = crossing_cells(problem, exact_placement(problem));
        const Placement placement = annealed_placement(problem, config);
        REQUIRE(validation_error(problem, placement).empty());
        const double cells = crossing_cells(problem, placement);
        REQUIRE(cells >= best - 1e-6);
        exact += best;
        annealed += cells;
        optimal += cells <= best + 1e-6 ? 1 : 0;
        worst = std::max(worst, best > 0 ? cells / best - 1 : 0);
    }
    INFO("optimal " << optimal << " of 1000, all cells " << annealed / exact - 1 << " above, worst " << worst);
    CHECK(annealed <= 1.001 * exact);
    CHECK(optimal >= 990);
}

TEST_CASE("a placement of a profile moves less than blocks do, on routes of another seed", "[placement]") {
    MoeRouteConfig config;
    config.routers = 4;
    config.branches = 16;
    config.cells = 256;
    const auto profile_of = [&](std::uint64_t seed) {
        sched::CellProfile profile(sched::CellProfile::Level::correlation, std::vector<std::size_t>(4, 16));
        for (std::uint64_t batch = 0; batch < 40; ++batch) profile.add(moe_routes(config, seed, batch));
        return placement_problem(profile, 4);
    };
    const PlacementProblem profiled = profile_of(1), evaluated = profile_of(2);
    const Placement placement = annealed_placement(profiled);
    REQUIRE(validation_error(evaluated, placement).empty());
    CHECK(crossing_cells(evaluated, placement) < 0.9 * crossing_cells(evaluated, block_placement(evaluated)));
    // Same seed, same placement.
    CHECK(annealed_placement(profiled) == placement);
}

TEST_CASE("bad problems and placements are named", "[placement]") {
    PlacementProblem problem;
    problem.devices = 2;
    problem.layer = {0, 0, 1, 1};
    problem.per_device = {1, 1};
    problem.flows = {{0, 2, 5}};
    CHECK(validation_error(problem).empty());
    CHECK(validation_error(problem, {0, 1, 0, 1}).empty());
    CHECK(validation_error(problem, {0, 0, 0, 1}) == "branch 1: device 0 takes 1 branches of layer 0");
    CHECK(validation_error(problem, {0, 2, 0, 1}) == "branch 1: device 2 of 2");
    CHECK(validation_error(problem, {0}) == "1 branches placed of 4");
    problem.together = {{0, 2}};
    CHECK(validation_error(problem, {0, 1, 1, 0}) == "branches 0 and 2 must share a device");
    problem.together = {{0, 1}};
    CHECK_THROWS_AS(exact_placement(problem), InputError);
    CHECK_THROWS_AS(annealed_placement(problem), InputError);
    problem.together.clear();
    problem.per_device = {0, 1};
    CHECK_THROWS_WITH(annealed_placement(problem), "layer 0: 2 branches, 2 devices take 0 each");
    problem.per_device = {1, 1};
    problem.flows.push_back({0, 1, 1});
    CHECK_THROWS_WITH(exact_placement(problem), "flow from 0 to 1: both in layer 0");
}

TEST_CASE("256 experts x 12 layers on 64 devices in less than a minute of one core", "[.placement-large]") {
    MoeRouteConfig config;
    config.routers = 12;
    config.branches = 256;
    config.cells = 4096;
    sched::CellProfile profile(sched::CellProfile::Level::correlation, std::vector<std::size_t>(12, 256));
    for (std::uint64_t batch = 0; batch < 50; ++batch) profile.add(moe_routes(config, 1, batch));
    const PlacementProblem problem = placement_problem(profile, 64);
    // Of the processor, on which other programs may run as well; annealing has one thread.
    const std::clock_t begin = std::clock();
    const Placement placement = annealed_placement(problem);
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    WARN(seconds << " s of the processor, "
                 << crossing_cells(problem, placement) / crossing_cells(problem, block_placement(problem))
                 << " of the cells that cross with blocks");
    CHECK(validation_error(problem, placement).empty());
    CHECK(crossing_cells(problem, placement) < 0.8 * crossing_cells(problem, block_placement(problem)));
    CHECK(seconds < 60);
}
