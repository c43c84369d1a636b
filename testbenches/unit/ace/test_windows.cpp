// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "switchyard/hw/scheduling_window/window_model.h"
#include "switchyard/sw_scheduler/ace/scheduled_list.h"
#include "switchyard/sw_scheduler/ace/scheduling_window.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::sched;
using namespace switchyard::sched::ace;
using Catch::Matchers::ContainsSubstring;

namespace {

Footprint copies(std::uint64_t from, std::uint64_t to) {
    return {{{from, 8}}, {{to, 8}}};
}

}  // namespace

TEST_CASE("a kernel in the window waits for its upstream kernels, others overtake it", "[ace]") {
    SchedulingWindow window(4, DependenceRule::all_hazards);
    window.insert(0, copies(0, 100));
    window.insert(1, copies(100, 200));  // reads what kernel 0 writes
    window.insert(2, copies(300, 400));
    window.insert(3, copies(200, 100));  // reads what 1 writes, writes what 0 writes and 1 reads
    CHECK(window.full());
    CHECK(window.checks() == 6);
    CHECK(window.upstream(3) == std::vector<KernelNumber>{0, 1});
    CHECK(window.take_ready() == KernelNumber{0});
    CHECK(window.take_ready() == KernelNumber{2});
    CHECK_FALSE(window.take_ready());
    window.complete(2);
    CHECK_FALSE(window.full());
    CHECK_FALSE(window.take_ready());
    window.complete(0);
    CHECK(window.upstream(3) == std::vector<KernelNumber>{1});
    CHECK(window.take_ready() == KernelNumber{1});
    window.complete(1);
    CHECK(window.take_ready() == KernelNumber{3});
    window.complete(3);
    CHECK(window.empty());
}

TEST_CASE("the window refuses what cannot be", "[ace][bad]") {
    SchedulingWindow window(1, DependenceRule::all_hazards);
    window.insert(5, {});
    CHECK_THROWS_WITH(window.insert(6, {}), ContainsSubstring("full"));
    CHECK_THROWS_WITH(window.complete(5), ContainsSubstring("does not execute"));
    CHECK_THROWS_AS(window.upstream(6), std::logic_error);
    SchedulingWindow order(2, DependenceRule::all_hazards);
    order.insert(5, {});
    CHECK_THROWS_WITH(order.insert(5, {}), ContainsSubstring("order of issue"));
    CHECK_THROWS_AS(ScheduledList(0, DependenceRule::all_hazards), std::invalid_argument);
    CHECK_THROWS_AS(ScheduledList(256, DependenceRule::all_hazards), std::invalid_argument);
    CHECK_THROWS_AS(hw::WindowModel({1, 8}), std::invalid_argument);
    CHECK_THROWS_AS(hw::WindowModel({32, 16}), std::invalid_argument);
}

TEST_CASE("the host's list is stale, the upstream load module drops what has completed", "[ace]") {
    ScheduledList list(4, DependenceRule::all_hazards);
    hw::WindowModel window({2, 4});
    window.insert(list.send(copies(0, 100)));
    REQUIRE(window.dispatch() == KernelId{0});
    window.complete(0);
    const WindowEntry reader = list.send(copies(100, 200));
    CHECK(reader.upstream == std::vector<KernelId>{0});  // the host does not know that it has completed
    window.insert(reader);
    CHECK(window.dispatch() == KernelId{1});
    CHECK(window.insert_cycles() == 2);
    CHECK(window.complete_cycles() == 1);
}

TEST_CASE("no kernel enters while one executes that the host's list has lost", "[ace]") {
    ScheduledList list(4, DependenceRule::all_hazards);
    hw::WindowModel window({3, 4});
    window.insert(list.send(copies(0, 100)));  // kernel 0 runs for long
    REQUIRE(window.dispatch() == KernelId{0});
    for (KernelId id = 1; id <= 3; ++id) {  // independent of it
        window.insert(list.send(copies(1000 + 16u * id, 2000 + 16u * id)));
        REQUIRE(window.dispatch() == id);
        window.complete(id);
    }
    // The list has kernels 0 to 3: the next one may enter, and the list has lost kernel 0 then.
    REQUIRE(window.can_insert());
    const WindowEntry next = list.send(copies(100, 300));
    CHECK(next.upstream == std::vector<KernelId>{0});
    window.insert(next);
    const WindowEntry late = list.send(copies(100, 500));
    CHECK(late.upstream.empty());  // missed
    CHECK_FALSE(window.can_insert());
    CHECK_THROWS_WITH(window.insert(late), ContainsSubstring("takes no kernel now"));
    window.complete(0);
    REQUIRE(window.can_insert());
    window.insert(late);
    CHECK(window.dispatch() == KernelId{4});
    CHECK(window.dispatch() == KernelId{5});
}
