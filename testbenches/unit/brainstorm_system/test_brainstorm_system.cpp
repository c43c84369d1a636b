// SPDX-License-Identifier: Apache-2.0
// Whole runs of small networks on modelled GPUs and links.
#include <sys/mman.h>

#include <functional>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "small_runs.h"
#include "switchyard/hw/link/collective_run.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/base/scratch_folder.h"
#include "switchyard/sw_scheduler/collectives/collectives.h"
#include "switchyard/testbenches/sim_test.h"

using namespace switchyard;
using namespace switchyard::platform;
using namespace switchyard::testing;
using nlohmann::ordered_json;

namespace {

double mean_us(const ordered_json& report) {
    return report.at("summary").at("latency_us").at("mean").get<double>();
}

/// In a process of its own, whose result comes back as a file would: the test's assertions are in the child.
template <class Body>
void in_children(const Body& body) {
    testing::in_child(body);
}

/// What `body` returns in a process of its own.
double from_child(const std::function<double()>& body) {
    void* const memory = ::mmap(nullptr, sizeof(double), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    auto* const value = static_cast<double*>(memory);
    testing::in_child([&] { *value = body(); });
    const double result = *value;
    ::munmap(memory, sizeof(double));
    return result;
}

}  // namespace

TEST_CASE("a hit hides the router, each miss rolls back once", "[brainstorm_system]") {
    in_children([] {
        const std::map<std::string, std::string> hit{{"network.routes.weights", "[1, 0, 0, 0, 0, 0, 0, 0]"},
                                                     {"brainstorm.speculative_routing", "yes"}};
        const ordered_json report = run(point_of("brt-vertical", "matrix_branches", hit));
        CHECK(report.at("summary").at("prediction_accuracy") == 1);
        CHECK(report.at("counters").at("rollbacks") == 0);
        // 20 multiplications before and 20 behind a router of 200 us: hidden but for what the branch is shorter.
        CHECK(mean_us(report) > 200);
    });
    in_children([] {
        Point point = point_of(
            "brt-vertical", "matrix_branches",
            {{"network.routes.weights", "[3, 1, 1, 1, 1, 1, 1, 1]"}, {"brainstorm.speculative_routing", "yes"}});
        point.work.batches = 16;
        const ordered_json report = run(point);
        CHECK(report.at("counters").at("rollbacks").get<int>() > 0);
        // Each miss rolls back once.
        CHECK(report.at("counters").at("rollbacks").get<double>() ==
              Approx(16 * (1 - report.at("summary").at("prediction_accuracy").get<double>())));
    });
}

TEST_CASE("a router's time counts whole without speculation, and not at all with a hit", "[brainstorm_system]") {
    // The branch's 20 multiplications take longer than the router.
    const auto us = [](const char* speculative, const char* router_us) {
        return from_child([=] {
            return mean_us(
                run(point_of("brt-vertical", "matrix_branches",
                             {{"brainstorm.speculative_routing", speculative}, {"network.router_us", router_us}})));
        });
    };
    CHECK(us("no", "300") - us("no", "0") == Approx(300).margin(1));
    CHECK(us("yes", "300") - us("yes", "0") == Approx(0).margin(1));
}

TEST_CASE("a miss without a missing path rolls back and launches what followed again", "[brainstorm_system]") {
    // The profile has all paths open; the run closes some of them.
    const auto counter = [](const char* speculative, const char* name) {
        return from_child([=] {
            return run(point_of("brt-vertical", "dynamic_routing",
                                {{"network.rows", "256"},
                                 {"network.columns", "256"},
                                 {"network.layers", "3"},
                                 {"network.routes.certainty", "1"},
                                 {"network.routes.open", "0.6"},
                                 {"network.profile_routes.kind", "gates"},
                                 {"network.profile_routes.certainty", "1"},
                                 {"network.profile_routes.open", "1"},
                                 {"brainstorm.speculative_routing", speculative}}))
                .at("counters")
                .at(name)
                .get<double>();
        });
    };
    CHECK(counter("yes", "rollbacks") > 0);
    CHECK(counter("yes", "abandoned_steps") > 0);
    // What is launched in vain comes on top of all that a run without speculation launches.
    CHECK(counter("yes", "kernels") > counter("no", "kernels"));
    CHECK(counter("no", "rollbacks") == 0);
}

TEST_CASE("several open checks hide more than one if all are right, and end if some are wrong", "[brainstorm_system]") {
    const auto us = [](const char* depth, const char* certainty, bool misses) {
        return from_child([=] {
            const ordered_json report = run(point_of("brt-vertical", "dynamic_routing",
                                                     {{"network.rows", "512"},
                                                      {"network.columns", "512"},
                                                      {"network.layers", "4"},
                                                      {"network.routes.certainty", certainty},
                                                      {"host.decision_us", "30"},
                                                      {"brainstorm.speculative_routing", "yes"},
                                                      {"brainstorm.speculation_depth", depth}}));
            CHECK((report.at("counters").at("rollbacks").get<int>() > 0) == misses);
            return mean_us(report);
        });
    };
    const double one = us("1", "1", false), two = us("2", "1", false), all = us("1000", "1", false);
    CHECK(two < one);
    CHECK(all <= two);
    for (const char* const depth : {"1", "2", "1000"}) CHECK(us(depth, "0.7", true) > all);
}

TEST_CASE("an all-to-all on the devices' queues takes what run_collective says, and the launches",
          "[brainstorm_system]") {
    in_children([] {
        const std::map<std::string, std::string> set{
            {"links.devices", "4"},      {"links.family", "switch"},  {"network.router.branches", "16"},
            {"links.step_us", "0"},      {"links.pcie_step_us", "0"}, {"network.cells", "8192"},
            {"network.elements", "2048"}};
        const ordered_json report = run(point_of("brt-horizontal", "exchange", set, "v100"));
        // 8192 cells of 8 KB a device, a quarter of which stays, there and back: 2 * 50 MB over a link of 141 GB/s.
        sched::LinkKind kind;
        kind.gb_per_s = 150;
        kind.kernel_gb_per_s = 120;
        const auto topology = std::make_shared<const sched::LinkTopology>(sched::make_link_topology("switch", 4, kind));
        sched::CellCounts counts(4, std::vector<std::uint64_t>(4, 2048));
        const double ns = hw::run_collective(topology, {}, sched::sparse_all_to_all(*topology, counts, 8192)).ns;
        const double extra_us = mean_us(report) - 2 * ns * 1e-3;
        CHECK(extra_us > 0);
        CHECK(extra_us < 0.2 * mean_us(report));
        CHECK(report.at("counters").at("messages") == 2 * 2 * 2 * 12);
    });
}

namespace {

/// With every kind of all-to-all and of placement: cells arrive once and unchanged.
void check_moved_cells(const char* network, std::map<std::string, std::string> set) {
    set["brainstorm.functional"] = "yes";
    set["brainstorm.profile_batches"] = "2";
    for (const char* const how : {"sparse", "padded"})
        for (const char* const placement : {"block", "profile"})
            in_children([&] {
                set["brainstorm.all_to_all"] = how;
                set["brainstorm.placement"] = placement;
                const ordered_json report = run(point_of("brt-horizontal", network, set, "v100"));
                REQUIRE(report.at("conservation").size() == 8);  // two of them of contents; run() checks all
                CHECK(report.at("counters").at("moved_content_bytes") > 0);
                if (*how != 's') return;
                const double mb = report.at("summary").at("crossing_mb_of_a_batch").get<double>() * 2;
                CHECK(report.at("counters").at("moved_content_bytes").get<double>() == Approx(mb * 1e6));
            });
}

}  // namespace

TEST_CASE("collectives move the cells: each lies once where its routes end, unchanged", "[brainstorm_system]") {
    check_moved_cells("skewed_exchange", {{"network.elements", "8"}});
}

TEST_CASE("collectives move sentences and tokens of networks: each lies once where its routes end, unchanged",
          "[.ci-long][brainstorm_system]") {
    // Sentences of two experts, which stay on the device of the first one.
    check_moved_cells("task_moe",
                      {{"network.batch", "16"}, {"network.tokens", "4"}, {"network.cell.shape", "[1, 1, 2048]"}});
    // Tokens that return, of two widths, some of which are dropped.
    check_moved_cells("swin_moe", {{"network.batch", "2"}});
}

TEST_CASE("collectives that stay on multiprocessors move the same cells and end", "[brainstorm_system]") {
    const auto us = [](const char* ctas, const char* network) {
        return from_child([=] {
            const ordered_json report = run(point_of("brt-horizontal", network,
                                                     {{"brainstorm.collective_ctas", ctas},
                                                      {"brainstorm.functional", "yes"},
                                                      {"network.elements", "512"},
                                                      {"links.devices", "4"},
                                                      {"network.router.branches", "16"}},
                                                     "v100"));
            return mean_us(report);
        });
    };
    const double none = us("0", "exchange");
    CHECK(us("1", "exchange") > 0);
    // Nothing runs beside a collective: what its kernel adds is launches and the bytes of device memory.
    for (const char* const ctas : {"8", "32"}) CHECK(us(ctas, "exchange") == Approx(none).epsilon(0.1));
}

TEST_CASE("fusion launches fewer kernels, padding computes more cells", "[brainstorm_system]") {
    for (const char* const design : {"brt-serial", "brt-vertical", "brt-horizontal", "brt-batched", "brt-einsum"})
        in_children([design] {
            const ordered_json report = run(point_of(design, "parallel_convolutions", {}));
            const ordered_json& summary = report.at("summary");
            const std::string name = design;
            CHECK(summary.at("padding").get<double>() >= 1);
            if (name == "brt-serial") CHECK(summary.at("kernels_of_a_batch") == 1 + 6 * 5);
            if (name == "brt-vertical") CHECK(summary.at("kernels_of_a_batch") == 1 + 6);
            if (name == "brt-horizontal") {
                CHECK(summary.at("kernels_of_a_batch") == 1 + 2);
                CHECK(summary.at("read_backs_of_a_batch") == 0);
            }
            if (name == "brt-batched") CHECK(summary.at("padding").get<double>() == Approx(6 * 9 / 39.0));
        });
}

TEST_CASE("weights on demand take longer than weights that are there, preloading less", "[brainstorm_system]") {
    const auto us = [](const char* weights) {
        const std::map<std::string, std::string> set{{"network.rows", "256"},
                                                     {"network.columns", "256"},
                                                     {"network.layers", "4"},
                                                     {"brainstorm.weights", weights}};
        return run(point_of("brt-vertical", "dynamic_routing", set));
    };
    in_children([&] {
        const ordered_json report = us("resident");
        CHECK(report.at("counters").at("loads") == 0);
    });
    in_children([&] {
        const ordered_json report = us("on_demand");
        CHECK(report.at("counters").at("loads") == report.at("counters").at("loads_on_demand"));
    });
    in_children([&] {
        const ordered_json report = us("preloaded");
        CHECK(report.at("counters").at("loads_on_demand").get<int>() < report.at("counters").at("loads").get<int>());
        CHECK(report.at("summary").at("peak_weight_mb").get<double>() <
              report.at("summary").at("weight_mb").get<double>());
    });
}

TEST_CASE("what cannot be is refused with a sentence", "[brainstorm_system]") {
    const std::unique_ptr<System> system = make_brainstorm_system();
    const auto prepare = [&](const std::string& design, const std::string& network,
                             std::map<std::string, std::string> set, const std::string& platform = "a100") {
        system->prepare(point_of(design, network, std::move(set), platform));
    };
    CHECK_THROWS_AS(prepare("brt-serial", "live_sr", {{"brainstorm.placment", "block"}}), InputError);
    CHECK_THROWS_AS(prepare("brt-serial", "live_sr", {{"brainstorm.tuned_loads", "4 x"}}), InputError);
    CHECK_THROWS_AS(prepare("brt-serial", "live_sr", {{"brainstorm.percentiles", "2"}}), InputError);
    CHECK_THROWS_AS(prepare("brt-serial", "live_sr", {{"brainstorm.profile_seed", "1"}}), InputError);
    CHECK_THROWS_AS(prepare("brt-serial", "live_sr", {{"network.router.capacity", "0"}}), InputError);
    CHECK_THROWS_AS(prepare("brt-serial", "task_moe", {{"links.devices", "9"}}, "v100"), InputError);
    CHECK_THROWS_AS(prepare("brt-serial", "task_moe", {{"links.devices", "2"}}), InputError);
    CHECK_THROWS_AS(prepare("brt-batched", "dynamic_routing", {}), InputError);
    CHECK_THROWS_AS(prepare("brt-horizontal", "switch_transformer", {{"device_memory.bytes", "1048576"}}), Infeasible);
}

TEST_CASE("branches are where a placement file says", "[brainstorm_system]") {
    const ScratchFolder folder("switchyard-test");
    const std::string file = folder.file("placement.yaml");
    const auto cells_between = [](std::map<std::string, std::string> overrides) {
        overrides["network.router.branches"] = "16";
        return from_child([=] {
            return run(point_of("brt-vertical", "exchange", overrides, "v100"))
                .at("summary")
                .at("crossing_cells_of_a_batch")
                .get<double>();
        });
    };
    const auto placed = [&](const std::string& devices) {
        write_file("devices: 8\nrouters:\n  exchange: [" + devices + "]\n", file);
        return std::map<std::string, std::string>{{"brainstorm.placement_file", file}};
    };
    // Two branches a device, in blocks.
    const double in_blocks = cells_between({{"brainstorm.placement", "block"}});
    CHECK(cells_between(placed("0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7")) == in_blocks);
    CHECK(cells_between(placed("7, 0, 3, 1, 2, 6, 5, 4, 0, 1, 2, 3, 4, 5, 6, 7")) != in_blocks);

    Point bad = point_of("brt-vertical", "exchange", placed("0, 0, 0"), "v100");
    bad.overrides["network.router.branches"] = "16";
    CHECK_THROWS_WITH(
        make_brainstorm_system()->prepare(bad),
        file + ":3: routers.exchange: branch 2: expected at most 2 of 16 branches on device 0, found more");
}
