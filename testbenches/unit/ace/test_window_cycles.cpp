// SPDX-License-Identifier: Apache-2.0
// The scheduling window cycle by cycle: the latencies of section 4.4, the blocking rule of 4.3, order of dispatch.
#include <stdexcept>

#include "switchyard/hw/scheduling_window/cycle_window.h"
#include "switchyard/testbenches/catch.h"
#include "window_traffic.h"

using namespace switchyard;
using Catch::Matchers::ContainsSubstring;
using hw::CycleWindow;
using hw::WindowInputs;
using hw::WindowOutputs;

namespace {

/// Sends an entry and its list; the cycles until the window takes the next operation.
unsigned insertion(CycleWindow& window, std::uint8_t id, const std::vector<std::uint8_t>& upstream) {
    WindowInputs in;
    in.entry_valid = true;
    in.entry_id = id;
    in.entry_count = static_cast<std::uint8_t>(upstream.size());
    REQUIRE(window.settle(in).entry_ready);
    window.clock();
    unsigned cycles = 1;
    std::size_t sent = 0;
    for (;; ++cycles) {
        WindowInputs next;
        next.upstream_valid = sent < upstream.size();
        if (next.upstream_valid) next.upstream_id = upstream[sent];
        const WindowOutputs out = window.settle(next);
        if (out.complete_ready) return cycles;
        if (next.upstream_valid && out.upstream_ready) ++sent;
        window.clock();
    }
}

unsigned completion(CycleWindow& window, std::uint8_t id) {
    WindowInputs in;
    in.complete_valid = true;
    in.complete_id = id;
    REQUIRE(window.settle(in).complete_ready);
    window.clock();
    unsigned cycles = 1;
    for (; !window.settle({}).complete_ready; ++cycles) window.clock();
    return cycles;
}

/// The id of the kernel that is dispatched now, or -1.
int dispatched(CycleWindow& window) {
    WindowInputs in;
    in.dispatch_ready = true;
    const WindowOutputs out = window.settle(in);
    window.clock();
    return out.dispatch_valid ? out.dispatch_id : -1;
}

}  // namespace

TEST_CASE("an insertion takes N cycles, a completion N - 1 for the lists", "[ace]") {
    const unsigned slots = GENERATE(2u, 16u, 32u, 64u);
    CycleWindow window({slots, 128});
    CHECK(insertion(window, 0, {}) == slots);
    CHECK(insertion(window, 1, {0}) == slots);
    CHECK(dispatched(window) == 0);
    CHECK(dispatched(window) == -1);
    CHECK(completion(window, 0) == 1 + slots - 1);
    CHECK(dispatched(window) == 1);
    // A list with more ids than the window has units: all but one are stale.
    CHECK(completion(window, 1) == slots);
    std::vector<std::uint8_t> listed{0, 1};
    for (unsigned id = 0; id < 100; ++id) listed.push_back(static_cast<std::uint8_t>(150 + id));
    CHECK(insertion(window, 2, listed) == std::max<unsigned>(slots, 1 + 102));
    CHECK(dispatched(window) == 2);
}

TEST_CASE("the oldest ready kernel is dispatched first, also behind id 255", "[ace]") {
    CycleWindow window({4, 8});
    for (unsigned id = 0; id < 300; ++id) {
        insertion(window, static_cast<std::uint8_t>(id), {});
        if (id < 2) continue;
        CHECK(dispatched(window) == static_cast<std::uint8_t>(id - 2));
        completion(window, static_cast<std::uint8_t>(id - 2));
    }
}

TEST_CASE("no kernel comes in while the host's list has lost the oldest", "[ace]") {
    CycleWindow window({3, 4});
    insertion(window, 0, {});
    REQUIRE(dispatched(window) == 0);  // runs for long
    for (std::uint8_t id = 1; id <= 4; ++id) {
        insertion(window, id, {});
        REQUIRE(dispatched(window) == id);
        completion(window, id);
    }
    WindowInputs in;
    in.entry_valid = true;
    in.entry_id = 5;
    for (unsigned cycle = 0; cycle < 100; ++cycle) {
        CHECK_FALSE(window.settle(in).entry_ready);
        window.clock();
    }
    completion(window, 0);
    // The counter goes by the kernels that have left, an id a cycle.
    unsigned cycles = 0;
    for (; !window.settle(in).entry_ready; ++cycles) window.clock();
    CHECK(cycles <= 5);
}

TEST_CASE("random kernels, stale lists: rules at the ports of the model", "[ace]") {
    const hw::WindowShape shape =
        GENERATE(hw::WindowShape{2, 2}, hw::WindowShape{4, 6}, hw::WindowShape{16, 255}, hw::WindowShape{32, 64});
    CycleWindow window(shape);
    test::WindowTraffic traffic(shape, 3 + shape.slots);
    CHECK(test::run_traffic(window, traffic, 5000) == "");
    CHECK(traffic.dispatched() > 2000);
}

TEST_CASE("shapes that cannot be", "[ace][bad]") {
    CHECK_THROWS_WITH(CycleWindow({1, 8}), ContainsSubstring("2 to 128 slots"));
    CHECK_THROWS_WITH(CycleWindow({129, 200}), ContainsSubstring("2 to 128 slots"));
    CHECK_THROWS_WITH(CycleWindow({8, 7}), ContainsSubstring("of 8, the number of slots, to 255, found 7"));
    CHECK_THROWS_WITH(CycleWindow({8, 256}), ContainsSubstring("to 255, found 256"));
    CHECK_THROWS_AS(hw::make_window_core("rtl", {8, 8}, "w"), std::invalid_argument);
}
