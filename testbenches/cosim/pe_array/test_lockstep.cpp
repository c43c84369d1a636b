// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "switchyard/hw/pe_array/cycle_core.h"
#include "switchyard/hw/pe_array/stepped_pe_array.h"
#include "switchyard/rtl/pe_array/lockstep_core.h"
#include "switchyard/rtl/pe_array/make_pe_array.h"
#include "switchyard/testbenches/cosim/dispatcher/fst_changes.h"
#include "switchyard/testbenches/cosim/seed.h"
#include "switchyard/testbenches/sim_test.h"
#include "switchyard/testbenches/unit/compute/random_layer.h"

using namespace switchyard;
using namespace switchyard::testing;
using Catch::Matchers::ContainsSubstring;

namespace switchyard::testing {
std::unique_ptr<rtl::VerilatedCore> make_array_stale_sum();  // 2 x 2, fp32
}

namespace {

hw::PeArray::Config small() {
    hw::PeArray::Config config;
    config.rows = config.columns = 2;
    config.impl = "lockstep";
    return config;
}

std::unique_ptr<hw::PeArray> with_mutant(const char* name, const hw::PeArray::Config& config,
                                         SimulationRegistry& registry) {
    return std::make_unique<hw::SteppedPeArray>(name, config, registry, [](const std::string& full_name) {
        return std::make_unique<rtl::LockstepCore>(full_name, std::make_unique<hw::CycleCore>(2, 2, 8, false),
                                                   make_array_stale_sum(), make_array_stale_sum(), 2);
    });
}

/// A block of 2 x 2 PEs with two accumulators each and `reduction` products of sizes only.
PeWorkExtension two_accumulators(unsigned reduction, std::uint64_t repeats) {
    PeWorkExtension work;
    work.rows = work.columns = work.row_outputs = 2;
    work.reduction = reduction;
    work.repeats = repeats;
    return work;
}

std::string contents(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

SIM_TEST("PE array lockstep: stops at the first difference with both states and a waveform", "[pe_array]") {
    const std::string states = "difference.pe_array.lockstep.txt", waves = "difference.pe_array.lockstep.fst";
    ArrayBench bench("difference", small(), {}, &with_mutant);
    PeWorkExtension zeros = two_accumulators(40, 30);
    REQUIRE(bench.run(zeros) == ::tlm::TLM_OK_RESPONSE);  // sums of zeros: nothing to see yet
    std::mt19937 random(static_cast<unsigned>(random_seed()));
    bool differed = false;
    for (unsigned trial = 0; trial < 20 && !differed; ++trial) {
        const RandomLayer layer(RandomLayer::Kind::convolution, {2, 2}, random, 0x8000);
        differed = layer.run_until_refused(bench);
    }
    REQUIRE(differed);
    const std::string message = bench.registry.errors().front();
    CHECK_THAT(message, ContainsSubstring("difference.pe_array: model and RTL differ in cycle "));
    CHECK_THAT(message, ContainsSubstring("of the array, lane["));
    CHECK_THAT(message, ContainsSubstring("states in " + states + ", the last 512 cycles in " + waves));
    CHECK_THAT(contents(states), ContainsSubstring("\nmodel\nnext wave: set ") &&
                                     ContainsSubstring("\nRTL\nnext wave: set ") &&
                                     ContainsSubstring("\nPE (1, 1): set 0 "));
    const auto changes = fst_changes(waves);
    CHECK(changes.at("clk_i") >= 2 * 512 - 1);  // of all modules
    CHECK(changes.at("out_valid_o") > 2);
    CHECK(changes.at("row_i [31:0]") > 20);
    CHECK(changes.at("lane_o [63:0]") > 2);
    CHECK(std::remove(states.c_str()) == 0);
    CHECK(std::remove(waves.c_str()) == 0);
}

SIM_TEST("PE array lockstep: leaves no files when there is no difference", "[pe_array]") {
    ArrayBench bench("same", small(), {}, &rtl::make_pe_array);
    std::mt19937 random(static_cast<unsigned>(random_seed()));
    for (unsigned trial = 0; trial < 20; ++trial) {
        const RandomLayer layer(RandomLayer::Kind::convolution, {2, 2}, random, 0x8000);
        layer.run(bench);
        CHECK(layer.results_of(bench) == layer.expected());
    }
    CHECK(bench.registry.errors().empty());
    CHECK(!std::filesystem::exists("same.pe_array.lockstep.txt"));
    CHECK(!std::filesystem::exists("same.pe_array.lockstep.fst"));
}

TEST_CASE("PE array RTL: the same with a trace and without", "[pe_array]") {
    const std::string waves = "pe_array_traced.fst";
    std::vector<std::vector<std::uint32_t>> results;
    for (const bool traced : {false, true}) {
        const auto core = rtl::make_verilated_core(4, 4, false);
        if (traced) core->trace(waves);
        hw::ArrayInput in(4, 4);
        hw::ArrayOutput out(4);
        std::mt19937 random(1);
        results.emplace_back();
        in.rows = in.column_end = 4;
        for (unsigned cycle = 0; cycle < 300; ++cycle) {
            in.valid = in.out_ready = true;
            in.first = in.last = cycle % 7 == 0;
            for (std::uint16_t& value : in.row_operands) value = static_cast<std::uint16_t>(random() & 0x3FFFu);
            for (std::uint16_t& value : in.column_operands) value = static_cast<std::uint16_t>(random() & 0x3FFFu);
            core->step(in, out);
            for (unsigned j = 0; j < 4; ++j)
                if (out.lane_valid[j] != 0) results.back().push_back(out.lanes[j]);
        }
    }
    CHECK(results[0].size() > 100);
    CHECK(results[0] == results[1]);
    const auto changes = fst_changes(waves);
    CHECK(changes.at("clk_i") >= 2 * 300 - 1);  // of all modules
    CHECK(changes.at("column_i [63:0]") > 250);
    CHECK(changes.at("lane_o [127:0]") > 50);
    CHECK(std::remove(waves.c_str()) == 0);
}
