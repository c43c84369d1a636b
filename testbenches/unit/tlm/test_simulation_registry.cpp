// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/sim_test.h"
#include "switchyard/tlm/simulation_registry.h"

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
