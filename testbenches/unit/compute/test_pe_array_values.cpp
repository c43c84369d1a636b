// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <tlm_utils/simple_target_socket.h>

#include "switchyard/hw/pe_array/operand_memory.h"
#include "switchyard/testbenches/cosim/seed.h"
#include "switchyard/testbenches/sim_test.h"
#include "switchyard/testbenches/unit/compute/random_layer.h"

using namespace switchyard;
using namespace switchyard::testing;

namespace {

using Kind = RandomLayer::Kind;
constexpr std::array<Kind, 5> kKinds{Kind::convolution, Kind::depthwise, Kind::pool_maximum, Kind::pool_mean,
                                     Kind::merge};

hw::PeArray::Config array_of(const std::string& impl, const RandomLayer::Limits& limits) {
    hw::PeArray::Config config;
    config.impl = impl;
    config.rows = limits.rows;
    config.columns = limits.columns;
    config.acc = limits.acc_fp16 ? "fp16" : "fp32";
    return config;
}

/// Random layers on both implementations against the plain loop: the vector code of `analytic`, the PEs of `cycle`.
void check_layers(RandomLayer::Limits limits, unsigned trials) {
    ArrayBench analytic("analytic", array_of("analytic", limits)), cycle("cycle", array_of("cycle", limits));
    const std::uint64_t seed = random_seed();
    INFO("replay with SWITCHYARD_SEED=" << seed);
    std::mt19937 random(static_cast<unsigned>(seed));
    for (unsigned trial = 0; trial < trials; ++trial) {
        const Kind kind = kKinds[trial % kKinds.size()];
        limits.large = trial % 7 == 0;
        CAPTURE(trial, static_cast<int>(kind));
        const RandomLayer layer(kind, limits, random, 0x8000);
        const std::vector<std::uint16_t> expected = layer.expected();
        layer.run(analytic);
        CHECK(layer.results_of(analytic) == expected);
        layer.run(cycle);
        CHECK(layer.results_of(cycle) == expected);
    }
    CHECK(analytic.scratchpad.stats().read_bytes == cycle.scratchpad.stats().read_bytes);
    CHECK(analytic.scratchpad.stats().write_bytes == cycle.scratchpad.stats().write_bytes);
    CHECK(analytic.pe_array.stats().macs == cycle.pe_array.stats().macs);
    CHECK(analytic.pe_array.stats().vector_elements == cycle.pe_array.stats().vector_elements);
    CHECK(analytic.registry.errors().empty());
    CHECK(cycle.registry.errors().empty());
}

/// 64 bytes that are reached by DMI or by debug transport only.
struct SmallMemory : sc_core::sc_module {
    SmallMemory(const sc_core::sc_module_name& module_name, bool dmi) : sc_module(module_name), dmi_(dmi) {
        out.bind(in);
        in.register_transport_dbg(this, &SmallMemory::transport_dbg);
        in.register_get_direct_mem_ptr(this, &SmallMemory::get_direct_mem_ptr);
    }
    unsigned transport_dbg(::tlm::tlm_generic_payload& payload) {
        ++debug_accesses;
        const std::uint64_t first = std::min<std::uint64_t>(payload.get_address(), bytes.size());
        const auto length =
            static_cast<unsigned>(std::min<std::uint64_t>(payload.get_data_length(), bytes.size() - first));
        payload.is_read() ? std::memcpy(payload.get_data_ptr(), bytes.data() + first, length)
                          : std::memcpy(bytes.data() + first, payload.get_data_ptr(), length);
        return length;
    }
    bool get_direct_mem_ptr(::tlm::tlm_generic_payload&, ::tlm::tlm_dmi& dmi) {
        dmi.set_start_address(0);
        dmi.set_end_address(bytes.size() - 1);
        dmi.set_dmi_ptr(bytes.data());
        if (dmi_) dmi.allow_read_write();
        return dmi_;
    }

    tlm_utils::simple_initiator_socket<SmallMemory> out{"out"};
    tlm_utils::simple_target_socket<SmallMemory> in{"in"};
    std::array<unsigned char, 64> bytes{};
    unsigned debug_accesses = 0;

private:
    bool dmi_;
};

constexpr unsigned kArrayRows = 5, kArrayColumns = 7;

}  // namespace

SIM_TEST("PE array: values with binary32 accumulation", "[pe_array]") {
    check_layers({kArrayRows, kArrayColumns, false, false}, 100);
}

SIM_TEST("PE array: values with binary16 accumulation", "[pe_array]") {
    check_layers({kArrayRows, kArrayColumns, true, false}, 100);
}

SIM_TEST("PE array: channels of the input that lie apart", "[pe_array]") {
    check_layers({kArrayRows, kArrayColumns, false, false, false, true}, 1000);
}

SIM_TEST("PE array: operands that have changed, or lie elsewhere, are read again", "[pe_array]") {
    const RandomLayer::Limits limits{kArrayRows, kArrayColumns};
    ArrayBench bench("bench", array_of("analytic", limits));
    const std::uint64_t seed = random_seed();
    INFO("replay with SWITCHYARD_SEED=" << seed);
    std::mt19937 random(static_cast<unsigned>(seed));
    for (unsigned trial = 0; trial < 600; ++trial) {
        std::mt19937 same = random;
        RandomLayer layer(Kind::convolution, limits, random, 0x8000);
        for (unsigned run = 0; run < 4; ++run) {
            CAPTURE(trial, run);
            layer.run(bench);
            CHECK(layer.results_of(bench) == layer.expected());
            layer.renew(random() % 2 == 0 ? RandomLayer::Operand::inputs : RandomLayer::Operand::weights,
                        random() % 2 == 0);
        }
        // The same operands elsewhere.
        for (const std::uint32_t base : {0x8000u, 0xC000u}) {
            std::mt19937 here = same;
            const RandomLayer moved(Kind::convolution, limits, here, base);
            CAPTURE(trial, base);
            moved.run(bench);
            CHECK(moved.results_of(bench) == moved.expected());
        }
    }
}

SIM_TEST("PE array: infinities, NaNs and subnormals", "[pe_array]") {
    check_layers({kArrayRows, kArrayColumns, false, true}, 60);
}

SIM_TEST("PE array: infinities, NaNs and subnormals with binary16 accumulation", "[pe_array]") {
    check_layers({kArrayRows, kArrayColumns, true, true}, 60);
}

TEST_CASE("PE array: inputs that change while no window meets the padding", "[pe_array]") {
    for (const std::string impl : {"analytic", "cycle"})
        in_child([&] {
            ArrayBench bench(impl.c_str(), array_of(impl, {kArrayRows, kArrayColumns}));
            // A filter of three rows on a column of six inputs, the last ones of the memory.
            constexpr std::uint32_t kWeights = 0x8000, kResults = 0x8040;
            const auto inputs = static_cast<std::uint32_t>(hw::Scratchpad::Config{}.capacity_bytes) - 12;
            const std::uint16_t one = 0x3C00, two = 0x4000, three = 0x4200, six = 0x4600;
            KernelAddresses kernel;
            kernel.rows = 6;
            kernel.columns = 1;
            for (int r = 0; r < 3; ++r) kernel.steps.push_back({2 * r, 2 * r, r, 0});
            kernel.output = kResults;
            BlockAddresses block;
            block.kernel = &kernel;
            block.columns.resize(1);
            block.columns[0].weights = kWeights;
            bench.poke(kWeights, {one, one, one});
            const auto results = [&](std::int32_t second_row) {
                block.rows.assign(2, {});
                for (const std::size_t i : {0U, 1U}) {
                    BlockAddresses::Row& row = block.rows[i];
                    row.y = i == 0 ? 0 : second_row;
                    row.input = static_cast<std::int32_t>(inputs) + 2 * row.y;
                    row.output = static_cast<std::uint32_t>(2 * i);
                }
                PeWorkExtension work;
                work.rows = 2;
                work.reduction = 3;
                work.addresses = &block;
                CHECK(bench.run(work) == ::tlm::TLM_OK_RESPONSE);
                return bench.peek(kResults, 2);
            };
            bench.poke(inputs, std::vector<std::uint16_t>(6, one));
            CHECK(results(4) == std::vector<std::uint16_t>{three, two});
            bench.poke(inputs, std::vector<std::uint16_t>(6, two));
            CHECK(results(3) == std::vector<std::uint16_t>{six, six});
            CHECK(results(4) == std::vector<std::uint16_t>{six, 0x4400});
        });
}

TEST_CASE("PE array: an input that does not exist is refused where the window of another row meets the padding",
          "[pe_array]") {
    for (const std::string impl : {"analytic", "cycle"})
        in_child([&] {
            ArrayBench bench(impl.c_str(), array_of(impl, {kArrayRows, kArrayColumns}));
            const auto end = static_cast<int>(hw::Scratchpad::Config{}.capacity_bytes);
            KernelAddresses kernel;  // a filter of three rows on a column of four inputs, two of them beyond the end
            kernel.rows = 4;
            kernel.columns = 1;
            for (int r = 0; r < 3; ++r) kernel.steps.push_back({2 * r, 2 * r, r, 0});
            kernel.output = 0x8000;
            BlockAddresses block;
            block.kernel = &kernel;
            block.rows.resize(2);
            block.columns.resize(1);
            block.rows[0].y = -1;
            block.rows[0].input = end - 6;
            block.rows[1].y = 1;
            block.rows[1].input = end - 2;
            block.rows[1].output = 2;
            PeWorkExtension work;
            work.rows = 2;
            work.reduction = 3;
            work.addresses = &block;
            CHECK(bench.run(work) == ::tlm::TLM_GENERIC_ERROR_RESPONSE);
            CHECK_THAT(bench.registry.errors().back(),
                       Catch::Contains(fmt::format("expected an operand at {:#x}", end)));
        });
}

TEST_CASE("PE array: addresses that contradict the sizes or do not exist are refused", "[pe_array]") {
    const RandomLayer::Limits limits{kArrayRows, kArrayColumns, false, false};
    for (const std::string impl : {"analytic", "cycle"})
        in_child([&] {
            ArrayBench bench(impl.c_str(), array_of(impl, limits));
            KernelAddresses kernel;
            kernel.steps.resize(3);
            kernel.rows = kernel.columns = 1;
            kernel.output = 0x8000;
            BlockAddresses block;
            block.kernel = &kernel;
            block.rows.resize(2);
            block.columns.resize(1);
            PeWorkExtension work;
            work.rows = 2;
            work.reduction = 3;
            work.addresses = &block;
            block.rows[1].output = 2;
            CHECK(bench.run(work) == ::tlm::TLM_OK_RESPONSE);
            const auto error_of = [&] {
                PeWorkExtension copy = work;
                CHECK(bench.run(copy) == ::tlm::TLM_GENERIC_ERROR_RESPONSE);
                return bench.registry.errors().back();
            };
            work.reduction = 4;
            CHECK_THAT(error_of(), Catch::Contains("expected addresses of 4 steps, found 3"));
            work.reduction = 3;
            work.rows = 3;
            CHECK_THAT(error_of(), Catch::Contains("expected addresses of 3 x 1 results, found 2 x 1"));
            work.rows = 2;
            block.rows[1].input = 0x7FFFFFF0;
            CHECK_THAT(error_of(), Catch::Contains("expected an operand at 0x7ffffff0"));
            block.rows[1].input = -8;
            CHECK_THAT(error_of(), Catch::Contains("expected an operand at "));
            block.rows[1].input = 0;
            block.rows[1].output = 0x7FFFFFF0;
            CHECK_THAT(error_of(), Catch::Contains("expected memory for a result at 0x80007ff0, found none"));
        });
}

SIM_TEST("PE array: operands through DMI or debug transport", "[pe_array]") {
    for (const bool dmi : {true, false}) {
        SmallMemory target(dmi ? "with_dmi" : "without_dmi", dmi);
        hw::OperandMemory memory(target.out);
        memory.store(62, 0xABCD);
        CHECK(memory.load(62) == 0xABCD);
        CHECK(target.bytes[62] == 0xCD);
        std::vector<std::uint16_t> values(4);
        CHECK(memory.load(56, values.data(), 4) == 4);
        CHECK(values.back() == 0xABCD);
        CHECK(target.debug_accesses == (dmi ? 0 : 3));
        CHECK(memory.load(60, values.data(), 4) == 2);
        CHECK_THROWS_WITH(memory.load(64), Catch::Contains("expected an operand at 0x40, found no memory"));
        CHECK_THROWS_WITH(memory.store(64, 1), Catch::Contains("expected memory for a result at 0x40, found none"));
        memory.forget();
        CHECK(memory.load(62) == 0xABCD);
    }
}
