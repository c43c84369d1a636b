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
using Catch::Matchers::EndsWith;

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
                                                   make_array_stale_sum(), 2);
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
    std::string message;
    for (unsigned trial = 0; trial < 20 && message.empty(); ++trial) {
        const RandomLayer layer(RandomLayer::Kind::convolution, {2, 2}, random, 0x8000);
        try {
            layer.run_until_refused(bench);
        } catch (const ModelError& error) {
            message = error.what();
        }
    }
    CHECK_THAT(message, ContainsSubstring("s: difference.pe_array: lockstep: cycle "));
    CHECK_THAT(message, ContainsSubstring("of the array: lane["));
    CHECK_THAT(message, EndsWith("; states: " + states + "; waveform: " + waves));
    CHECK_THAT(contents(states), ContainsSubstring("\nmodel\nnext wave: set ") &&
                                     ContainsSubstring("\nRTL\nnext wave: set ") &&
                                     ContainsSubstring("\nPE (1, 1): set 0 "));
    const auto changes = fst_changes(waves);
    CHECK(changes.at("clk_i") >= 2 * 1024 - 1);  // of all modules
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

TEST_CASE("PE array RTL: a waveform shows the last cycles as they were", "[pe_array]") {
    const std::string waves = "pe_array_recorded.fst";
    for (const unsigned cycles : {1U, 300U, 1500U, 5000U}) {
        const auto core = rtl::make_verilated_core(4, 4, false);
        core->keep_waveform(waves);
        hw::ArrayInput in(4, 4);
        hw::ArrayOutput out(4);
        std::mt19937 random(cycles);
        std::vector<std::string> lanes;  // of each cycle
        in.rows = in.column_end = 4;
        for (unsigned cycle = 0; cycle < cycles; ++cycle) {
            in.valid = in.out_ready = true;
            in.first = in.last = cycle % 7 == 0;
            for (std::uint16_t& value : in.row_operands) value = static_cast<std::uint16_t>(random() & 0x3FFFu);
            for (std::uint16_t& value : in.column_operands) value = static_cast<std::uint16_t>(random() & 0x3FFFu);
            core->step(in, out);
            std::string bits;
            for (unsigned j = 4; j-- > 0;) bits += out.lane_valid[j] != 0 ? '1' : '0';
            lanes.push_back(bits);
        }
        CHECK(!std::filesystem::exists(waves));
        CHECK(core->evidence() == "; waveform: " + waves);
        CHECK(core->evidence() == "; waveform: " + waves);  // it has been written
        // The clock rises once a cycle; what it samples is what the wrapper has seen.
        const std::vector<std::string> shown = fst_samples(waves, "lane_valid_o [3:0]", "clk_i");
        REQUIRE(shown.size() >= std::min(cycles, 1024U));
        REQUIRE(shown.size() <= cycles + 1);
        const std::size_t common = std::min(shown.size(), lanes.size());
        CHECK(std::equal(lanes.end() - static_cast<std::ptrdiff_t>(common), lanes.end(),
                         shown.end() - static_cast<std::ptrdiff_t>(common)));
        CHECK(std::remove(waves.c_str()) == 0);
    }
}

TEST_CASE("PE array RTL: a run removes the waveform of an earlier one, and says so if none can be written",
          "[pe_array]") {
    std::ofstream("earlier.fst") << "old";
    const auto core = rtl::make_verilated_core(2, 2, false);
    core->keep_waveform("earlier.fst");
    CHECK(!std::filesystem::exists("earlier.fst"));
    core->keep_waveform("no_such_folder/waves.fst");
    CHECK_THAT(core->evidence(), ContainsSubstring("; no waveform, no_such_folder/waves.fst cannot be written: "));
}

TEST_CASE("PE array RTL: an assertion is that of the instance which evaluates", "[pe_array]") {
    hw::ArrayInput good(4, 4), bad(4, 4);
    hw::ArrayOutput out(4);
    bad.valid = bad.first = true;
    bad.rows = 0;  // breaks the assertion array_rows
    std::vector<std::unique_ptr<rtl::VerilatedCore>> cores;
    for (unsigned i = 0; i < 6; ++i)
        cores.push_back(rtl::make_verilated_core(i % 2 == 0 ? 4 : 2, i % 2 == 0 ? 4 : 2, i % 3 == 0));
    cores.erase(cores.begin() + 4);  // of any order of construction and destruction
    hw::ArrayInput small(2, 2);
    const auto step = [&](std::size_t i, const hw::ArrayInput& in) -> std::string {
        try {
            cores[i]->step(in, out);
        } catch (const RtlFault& fault) {
            return fault.what();
        }
        return "";
    };
    CHECK(step(1, small) == "");
    CHECK_THAT(step(0, bad), ContainsSubstring("pe_array.sv:") && ContainsSubstring("array_rows"));
    for (const std::size_t i : {std::size_t{1}, std::size_t{3}}) CHECK(step(i, small) == "");
    CHECK(step(2, good) == "");
    cores.erase(cores.begin());
    CHECK(step(1, good) == "");
    CHECK_THAT(step(1, bad), ContainsSubstring("array_rows"));
}
