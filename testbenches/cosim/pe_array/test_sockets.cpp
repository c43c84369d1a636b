// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <memory>

#include "switchyard/hw/pe_array/stepped_pe_array.h"
#include "switchyard/rtl/pe_array/make_pe_array.h"
#include "switchyard/rtl/pe_array/verilated_core.h"
#include "switchyard/testbenches/cosim/seed.h"
#include "switchyard/testbenches/sim_test.h"
#include "switchyard/testbenches/unit/compute/random_layer.h"

using namespace switchyard;
using namespace switchyard::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

/// The three implementations that step, side by side in one process.
struct ModelAndRtl {
    static constexpr std::array<const char*, 3> kNames{"cycle", "rtl", "lockstep"};

    ModelAndRtl(unsigned size, bool fp16, const hw::Scratchpad::Config& store) {
        for (const char* name : kNames) {
            hw::PeArray::Config config;
            config.impl = name;
            config.rows = config.columns = size;
            config.acc = fp16 ? "fp16" : "fp32";
            benches.push_back(std::make_unique<ArrayBench>(name, config, store, &rtl::make_pe_array));
        }
    }
    void check_the_same() const {
        const ArrayBench& cycle = *benches.front();
        for (const auto& bench : benches) {
            INFO(bench->name());
            const auto &stats = bench->pe_array.stats(), &expected = cycle.pe_array.stats();
            CHECK(stats.commands == expected.commands);
            CHECK(stats.macs == expected.macs);
            CHECK(stats.vector_elements == expected.vector_elements);
            CHECK(stats.busy_cycles == expected.busy_cycles);
            CHECK(bench->scratchpad.stats().read_bytes == cycle.scratchpad.stats().read_bytes);
            CHECK(bench->scratchpad.stats().write_bytes == cycle.scratchpad.stats().write_bytes);
            CHECK(bench->delay == cycle.delay);
            CHECK(bench->registry.errors().empty());
        }
    }

    std::vector<std::unique_ptr<ArrayBench>> benches;
};

/// Sometimes so narrow that waves wait for operands and beats for the way out.
hw::Scratchpad::Config random_store(std::mt19937& random) {
    hw::Scratchpad::Config store;
    store.bytes_per_cycle = 1u << (2 + random() % 6);
    store.write_bytes_per_cycle = 1u << (1 + random() % 6);
    store.latency_cycles = random() % 4;
    return store;
}

void run_layers(unsigned size, bool fp16, unsigned seed, unsigned trials) {
    using Kind = RandomLayer::Kind;
    constexpr std::array<Kind, 5> kKinds{Kind::convolution, Kind::convolution, Kind::depthwise, Kind::pool_mean,
                                         Kind::merge};
    std::mt19937 random(seed);
    ModelAndRtl both(size, fp16, random_store(random));
    for (unsigned trial = 0; trial < trials; ++trial) {
        RandomLayer::Limits limits{size, size, fp16, trial % 3 == 0, false};
        const RandomLayer layer(kKinds[trial % kKinds.size()], limits, random, 0x8000);
        const std::vector<std::uint16_t> expected = layer.expected();
        std::vector<std::uint64_t> cycles;
        for (const auto& bench : both.benches) {
            INFO(bench->name() << ", layer " << trial);
            cycles.push_back(layer.run(*bench));
            CHECK(layer.results_of(*bench) == expected);
        }
        CHECK(cycles == std::vector<std::uint64_t>(cycles.size(), cycles.front()));
    }
    both.check_the_same();
}

}  // namespace

TEST_CASE("PE array RTL behind its sockets: cycles, counters and values of the model", "[pe_array]") {
    INFO("replay with SWITCHYARD_SEED=" << random_seed());
    for (unsigned store = 0; store < 4; ++store) {
        for (const unsigned size : {2u, 4u, 8u})
            for (const bool fp16 : {false, true})
                in_child([=] { run_layers(size, fp16, static_cast<unsigned>(random_seed()) + store, 15); });
    }
    in_child([] { run_layers(16, false, static_cast<unsigned>(random_seed()), 5); });
}

// Blocks of random sizes without values, with pauses between the commands of an invocation.
SIM_TEST("PE array RTL behind its sockets: sizes only, and pauses", "[pe_array]") {
    INFO("replay with SWITCHYARD_SEED=" << random_seed());
    std::mt19937 random(static_cast<unsigned>(random_seed()));
    ModelAndRtl both(4, false, random_store(random));
    for (unsigned invocation = 0; invocation < 60; ++invocation) {
        const unsigned commands = 1 + random() % 5, reduction = 1 + random() % 30;
        for (unsigned n = 0; n < commands; ++n) {
            PeWorkExtension work;
            work.rows = 1 + random() % 4;
            work.columns = 1 + random() % 4;
            work.row_outputs = 1 + random() % 2;
            work.column_outputs = 1 + random() % 3;
            work.reduction = reduction;
            work.repeats = 1 + random() % 3;
            work.channelwise = random() % 8 == 0;
            work.first = n == 0;
            work.last = n + 1 == commands;
            const double pause_ns = random() % 3 == 0 ? static_cast<double>(random() % 40) : 0;
            std::vector<std::uint64_t> cycles;
            for (const auto& bench : both.benches) {
                bench->delay += sc_core::sc_time(pause_ns, sc_core::SC_NS);
                PeWorkExtension copy = work;
                REQUIRE(bench->run(copy) == ::tlm::TLM_OK_RESPONSE);
                cycles.push_back(copy.cycles);
            }
            CAPTURE(invocation, n);
            CHECK(cycles == std::vector<std::uint64_t>(cycles.size(), cycles.front()));
        }
    }
    both.check_the_same();
}

SIM_TEST("PE array RTL: not evaluated while it has nothing to do", "[pe_array]") {
    hw::PeArray::Config config;
    config.rows = config.columns = 4;
    static rtl::VerilatedCore* core = nullptr;
    ArrayBench bench("bench", config, {},
                     [](const char* name, const hw::PeArray::Config& array, SimulationRegistry& registry) {
                         return std::unique_ptr<hw::PeArray>(
                             std::make_unique<hw::SteppedPeArray>(name, array, registry, [](const std::string&) {
                                 auto made = rtl::make_verilated_core(4, 4, false);
                                 core = made.get();
                                 return made;
                             }));
                     });
    CHECK(core->cycles() == 0);
    sc_core::sc_start(1, sc_core::SC_MS);
    CHECK(core->cycles() == 0);
    PeWorkExtension work;
    work.rows = work.columns = 4;
    work.reduction = 10;
    REQUIRE(bench.run(work) == ::tlm::TLM_OK_RESPONSE);
    CHECK(core->cycles() == work.cycles);
    sc_core::sc_start(1, sc_core::SC_MS);
    CHECK(core->cycles() == work.cycles);
    bench.delay = sc_core::SC_ZERO_TIME;
    const std::uint64_t before = core->cycles();
    REQUIRE(bench.run(work) == ::tlm::TLM_OK_RESPONSE);  // after a millisecond: that is not stepped through
    CHECK(core->cycles() == before + work.cycles);
}

TEST_CASE("PE array RTL: what there is none of", "[pe_array]") {
    in_child([] {
        SimulationRegistry registry;
        hw::PeArray::Config config;
        config.impl = "rtl";
        CHECK_THROWS_WITH(rtl::make_pe_array("a", config, registry),
                          ContainsSubstring("no RTL of an array of 32 x 32 PEs, only of 2 x 2, 4 x 4, 8 x 8, 16 x 16"));
        config.rows = config.columns = 8;
        config.register_bytes = 128;
        CHECK_THROWS_WITH(rtl::make_pe_array("b", config, registry),
                          ContainsSubstring("pe_array.register_bytes: no RTL of a PE with 128, only with 64"));
        config.impl = "quantum";
        CHECK_THROWS_WITH(rtl::make_pe_array("c", config, registry), ContainsSubstring("found quantum"));
    });
}
