// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/sim_test.h"
#include "switchyard/tlm/simulation_registry.h"
#include "switchyard/tlm/stat_counters.h"

using namespace switchyard;

namespace {

struct Part : sc_core::sc_module {
    explicit Part(const sc_core::sc_module_name& name, SimulationRegistry& registry) : sc_module(name) {
        registry.add(*this, "macs", "1", macs);
        registry.add(*this, "utilisation", "1", [this] { return double(macs) / 10; });
        registry.add_waiter(*this, [this] { return reason; });
    }
    std::uint64_t macs = 0;
    std::string reason;
};

struct Stats {
    std::uint64_t requests = 0, refused = 0;
    double busy_cycles = 0;
};
constexpr StatCounter<Stats> kCounters[] = {{"requests", "1", &Stats::requests},
                                            {"refused", "1", &Stats::refused},
                                            {"busy_cycles", "cycles", &Stats::busy_cycles}};

}  // namespace

SIM_TEST("counters are read when asked and summed by prefix and name", "[tlm][registry]") {
    SimulationRegistry registry;
    Part left("tile_1", registry), right("tile_2", registry);
    left.macs = 5;
    right.macs = 7;
    CHECK(registry.counters().size() == 4);
    CHECK(registry.counters().front().module == "tile_1");
    CHECK(registry.counters().front().unit == "1");
    CHECK(registry.sum("", "macs") == 12);
    CHECK(registry.sum("tile_2", "macs") == 7);
    CHECK(registry.sum("tile_", "utilisation") == Approx(1.2));
    CHECK(registry.sum("tile_1", "bytes") == 0);
}

SIM_TEST("a component's counters are those of its list, but for what is not counted", "[tlm][registry]") {
    SimulationRegistry registry;
    Stats stats;
    register_counters(registry, "chip.memory", kCounters, [&]() -> const Stats& { return stats; });
    register_counters(registry, "chip.stand_in", kCounters, [&] { return stats; }, {&Stats::refused});
    stats = {3, 1, 2.5};
    REQUIRE(registry.counters().size() == 5);
    CHECK(registry.counters()[2].name == "busy_cycles");
    CHECK(registry.counters()[2].unit == "cycles");
    CHECK(registry.sum("chip.memory", "requests") == 3);
    CHECK(registry.sum("chip.memory", "refused") == 1);
    CHECK(registry.sum("chip.memory", "busy_cycles") == 2.5);
    CHECK(registry.sum("chip.stand_in", "refused") == 0);
    CHECK(registry.sum("", "requests") == 6);
    CHECK(registry.sum("", "busy_cycles") == 5);
}

SIM_TEST("those who wait are listed in order of registration", "[tlm][registry]") {
    SimulationRegistry registry;
    Part left("tile_1", registry), right("tile_2", registry);
    CHECK(registry.waits().empty());
    right.reason = "weights of edge 4";
    left.reason = "unit 2";
    CHECK(registry.waits() ==
          std::vector<std::string>{"tile_1 waits for unit 2", "tile_2 waits for weights of edge 4"});
}

SIM_TEST("a model error names time and module", "[tlm][registry]") {
    SimulationRegistry registry;
    Part part("tile_1", registry);
    sc_core::sc_start(3, sc_core::SC_NS);
    CHECK(std::string(ModelError(part, "no kernel fits").what()) == "3 ns: tile_1: no kernel fits");
}
