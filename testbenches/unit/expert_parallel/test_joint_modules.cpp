// SPDX-License-Identifier: Apache-2.0
// A chip that parts share, and messages of several batches on the same links, against times by hand.
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <systemc>

#include "switchyard/hw/link/link_network.h"
#include "switchyard/platform/systems/expert_parallel/cell_links.h"
#include "switchyard/platform/systems/expert_parallel/shared_chip.h"
#include "switchyard/sw_scheduler/brainstorm/expert_exchange.h"
#include "switchyard/testbenches/sim_test.h"
#include "switchyard/testbenches/unit/expert_parallel/formula_chip.h"

using namespace switchyard;
using namespace switchyard::platform::expert_parallel;
using switchyard::testing::FormulaModel;

namespace {

double now_us() {
    return sc_core::sc_time_stamp() / sc_core::sc_time(1, sc_core::SC_US);
}

/// A part of 10 us and one of 20 us, whose weights take 4 us and 6 us, on one chip. The second part of a batch is ready
/// `between_us` behind the first one.
std::vector<std::string> order_on_chip(bool reloads, double between_us) {
    PlacedPart first(true, false), second(false, true);
    const FormulaModel one("one", {14, 10, 10, 10}, first), other("other", {26, 20, 20, 20}, second);
    SharedChip chip("chip", {&first, &second}, reloads);
    std::vector<std::string> order;
    double begin_us = 0;
    chip.set_ended([&](std::size_t batch, std::size_t step) {
        order.push_back(fmt::format("{}.{} {:g}", batch, step, now_us() - begin_us));
        if (step > 0) return;
        if (between_us == 0) return chip.ready(batch, 1);
        sc_core::sc_spawn([&chip, batch, between_us] {
            sc_core::wait(sc_core::sc_time(between_us, sc_core::SC_US));
            chip.ready(batch, 1);
        });
    });
    sc_core::sc_spawn([&] {
        chip.await_warm_up();
        begin_us = now_us();
        chip.ready(0, 0);
        chip.ready(1, 0);
    });
    sc_core::sc_start();
    return order;
}

}  // namespace

TEST_CASE("parts that share a chip run one at a time, the oldest batch first", "[expert_parallel]") {
    const auto order = [](bool reloads, double between_us, const std::vector<std::string>& wanted) {
        testing::in_child([&] { CHECK(order_on_chip(reloads, between_us) == wanted); });
    };
    order(false, 0, {"0.0 10", "0.1 30", "1.0 40", "1.1 60"});
    order(true, 0, {"0.0 14", "0.1 40", "1.0 54", "1.1 80"});
    // Another batch's part fills the time until the cells are there, and finds its weights.
    order(false, 5, {"0.0 10", "1.0 20", "0.1 40", "1.1 60"});
    order(true, 5, {"0.0 14", "1.0 24", "0.1 50", "1.1 70"});
    order(false, 15, {"0.0 10", "1.0 20", "0.1 45", "1.1 65"});
}

SIM_TEST("messages of several batches share a link", "[expert_parallel]") {
    // 10 GB/s, 100 ns.
    sched::LinkKind kind;
    kind.gb_per_s = 10;
    kind.latency_ns = 100;
    kind.overhead_bytes = 0;
    const auto topology =
        std::make_shared<const sched::LinkTopology>(sched::make_link_topology("fully_connected", 2, kind));
    hw::LinkNetwork::Config config;
    config.messages.chunk_bytes = 1000;
    SimulationRegistry registry;
    hw::LinkNetwork network("network", config, registry, topology);
    CellLinks links("links", 2);
    for (unsigned d = 0; d < 2; ++d) {
        links.to_links[d].bind(network.in[d]);
        network.out[d].bind(links.from_links[d]);
    }
    std::vector<double> come_us;
    const auto exchange = [&](std::uint64_t cells) {
        return links.begin(sched::brainstorm::known_all_to_all(*topology, {{0, cells}, {0, 0}}, 1000, {}),
                           [&](unsigned device) {
                               if (device == 1) come_us.push_back(now_us());
                           });
    };
    sc_core::sc_spawn([&] {
        const CellLinks::Exchange first = exchange(10), second = exchange(10), third = exchange(5);
        for (const CellLinks::Exchange& one : {first, second, third}) links.sender_ready(one, 1);
        links.sender_ready(first, 0);
        links.sender_ready(second, 0);
        sc_core::wait(sc_core::sc_time(5, sc_core::SC_US));
        links.sender_ready(third, 0);
    });
    sc_core::sc_start();
    // Chunk by chunk: the first one's last chunk is the last but one of 20 chunks of 100 ns.
    REQUIRE(come_us.size() == 3);
    CHECK(come_us[0] == Approx(1.9 + 0.1));
    CHECK(come_us[1] == Approx(2.0 + 0.1));
    CHECK(come_us[2] == Approx(5.0 + 0.5 + 0.1));
    CHECK(links.stats().sent_bytes == 25000);
    CHECK(links.stats().received_bytes == 25000);
}
