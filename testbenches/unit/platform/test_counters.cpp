// SPDX-License-Identifier: Apache-2.0
#include <systemc>

#include "switchyard/platform/system/counters.h"
#include "switchyard/testbenches/sim_test.h"

using switchyard::SimulationRegistry;
using switchyard::platform::Counters;

namespace {

struct Leaf : sc_core::sc_module {
    std::uint64_t bytes = 0;
    Leaf(const sc_core::sc_module_name& name, SimulationRegistry& registry) : sc_core::sc_module(name) {
        registry.add(*this, "bytes", "bytes", bytes);
    }
};

struct Place : sc_core::sc_module {
    Leaf scratchpad, pe_array;
    Place(const sc_core::sc_module_name& name, SimulationRegistry& registry)
        : sc_core::sc_module(name), scratchpad("scratchpad", registry), pe_array("pe_array", registry) {}
};

struct Top : sc_core::sc_module {
    Place tile_0, tile_12;
    Top(const sc_core::sc_module_name& name, SimulationRegistry& registry)
        : sc_core::sc_module(name), tile_0("tile_0", registry), tile_12("tile_12", registry) {}
};

}  // namespace

SIM_TEST("counters are summed by component and by place, and differ between snapshots", "[counters]") {
    SimulationRegistry registry;
    Top chip("chip", registry);
    chip.tile_0.scratchpad.bytes = 5;
    chip.tile_12.scratchpad.bytes = 7;
    chip.tile_12.pe_array.bytes = 100;
    const Counters before(registry);
    CHECK(before.sum("bytes") == 112);
    CHECK(before.of("scratchpad").sum("bytes") == 12);
    CHECK(before.of("scratchpad").max("bytes") == 7);
    CHECK(before.of("tile").sum("bytes") == 112);
    CHECK(before.of("tile_12").sum("bytes") == 107);
    CHECK(before.of("tile_1").sum("bytes") == 0);
    CHECK(before.of("scratch").sum("bytes") == 0);
    CHECK(before.sum("packets") == 0);
    CHECK(before.max("packets") == 0);

    chip.tile_0.scratchpad.bytes += 3;
    registry.add(chip, "batches", "1", [] { return 4.0; });  // counters may be registered while the simulation runs
    const Counters since = Counters(registry).since(before);
    CHECK(since.sum("bytes") == 3);
    CHECK(since.sum("batches") == 4);

    const auto places = before.by_place();
    REQUIRE(places.size() == 2);
    CHECK(places[0].first == "tile_0");
    CHECK(places[0].second.sum("bytes") == 5);
    CHECK(places[1].first == "tile_12");
    CHECK(places[1].second.sum("bytes") == 107);
}
