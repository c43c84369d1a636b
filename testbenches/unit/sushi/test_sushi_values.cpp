// SPDX-License-Identifier: Apache-2.0
// The simulated chip with values: a trained supernet end to end, whatever is cached and however SubNets alternate, and
// commands that it refuses.
#include <cstring>
#include <filesystem>

#include "switchyard/platform/system/npy.h"
#include "switchyard/platform/systems/sushi/sushi_run.h"
#include "switchyard/sw_scheduler/base/random_source.h"
#include "switchyard/testbenches/unit/sushi/sushi_bench.h"

using namespace switchyard;
using namespace switchyard::platform;
using namespace switchyard::sched::sushi;
using Catch::Matchers::ContainsSubstring;
using nlohmann::ordered_json;
using platform::sushi::SupernetMemory;
using platform::sushi::SushiChip;
using platform::sushi::SushiConfig;
using test::ChipDriver;
using test::kConfigs;
using test::kDigits;
using test::sushi_point;
using test::sushi_report;

namespace {

/// SubNets of the digits supernet on a small chip, in a random order, with SubGraphs that change at random, in part
/// while a query runs: results must be those of the golden reference.
void random_switches(const std::map<std::string, std::string>& overrides, std::size_t queries, std::uint64_t seed) {
    testing::in_child([&] {
        const SushiConfig config =
            platform::sushi::read_sushi_config(kConfigs + "platforms/sushi_small.yaml", overrides);
        const Supernet supernet = read_supernet(kDigits);
        const std::vector<SubGraph> subgraphs = candidate_subgraphs(supernet, config.buffers.bytes().persistent, 24);
        const SupernetMemory memory = platform::sushi::lay_out(supernet, subgraphs);
        SushiChip chip("chip", config, config.buffers, memory);
        for (auto& [address, bytes] : supernet_values(supernet, memory)) chip.write_dram(address, bytes);
        const std::vector<std::int32_t> images = read_int8_npy(supernet.inputs).values;
        std::vector<std::vector<std::int32_t>> logits;
        for (const SubNet& subnet : supernet.subnets) {
            std::string file = supernet.logits;
            logits.push_back(read_int32_npy(file.replace(file.find("{}"), 2, subnet.name)).values);
        }
        RandomSource random(seed, 0);
        std::size_t equal = 0, fills = 0;
        ChipDriver driver("driver", [&](ChipDriver& self) {
            for (std::size_t q = 0; q < queries; ++q) {
                const std::size_t image = random.integer(0, 127), subnet = random.integer(0, 4);
                std::vector<std::uint8_t> bytes;
                for (std::size_t i = 0; i < 64; ++i) bytes.push_back(static_cast<std::uint8_t>(images[image * 64 + i]));
                chip.write_dram(memory.input_address, bytes);
                const auto cache = [&](double probability) {
                    if (!random.chance(probability)) return;
                    self.command(hw::LayerController::kCache,
                                 random.integer(0, static_cast<unsigned>(subgraphs.size()) - 1));
                    ++fills;
                };
                cache(0.4);
                self.command(hw::LayerController::kServe, subnet);
                cache(0.4);  // while it runs
                if (self.wait_idle() != 0) break;
                const std::vector<std::uint8_t> out = chip.read_dram(memory.output_address(subnet), 40);
                equal += std::memcmp(out.data(), &logits[subnet][image * 10], 40) == 0 ? 1 : 0;
            }
        });
        driver.socket.bind(chip.registers());
        sc_core::sc_signal<bool> irq("irq");
        chip.irq.bind(irq);
        driver.irq.bind(irq);
        sc_core::sc_start();
        CHECK(chip.registry.errors().empty());
        CHECK(equal == queries);
        CHECK(fills > queries / 2);
        CHECK(chip.persistent.stats().read_bytes > 0);
    });
}

/// Of the five SubNets those that the scheduler takes for 128 queries.
void check_logits(const char* design, const char* constraint) {
    INFO(design << ", " << constraint);
    Point point = sushi_point(design, kDigits, "sushi_small", {{"scheduler.constraint", constraint}});
    point.work.batches = 128;
    const ordered_json report = sushi_report(point);
    CHECK(report.at("ok") == true);
    CHECK(report.at("conservation").dump().find("golden reference") != std::string::npos);
}

/// One SubNet; fetching, computing and writing side by side, the array register by register.
void check_subnet(unsigned subnet) {
    INFO("SubNet " << subnet);
    Point point = sushi_point(
        "sushi", kDigits, "sushi_small",
        {{"scheduler.only_subnet", std::to_string(subnet)}, {"accelerator.impl", "cycle"}, {"array.impl", "cycle"}});
    point.work.batches = 2;
    CHECK(sushi_report(point).at("ok") == true);
}

}  // namespace

TEST_CASE("SubNets of a trained supernet give the golden reference's logits", "[sushi]") {
    for (const char* design : {"sushi-no-pb", "sushi"})
        for (const char* constraint : {"accuracy", "latency"}) check_logits(design, constraint);
    for (const unsigned subnet : {1, 5}) check_subnet(subnet);
}

TEST_CASE("SubNets of a trained supernet give the golden reference's logits, further SubNets and designs",
          "[.ci-long][sushi]") {
    for (const char* design : {"sushi-state-unaware", "sushi-oracle"})
        for (const char* constraint : {"accuracy", "latency"}) check_logits(design, constraint);
    for (const unsigned subnet : {2, 3, 4}) check_subnet(subnet);
}

TEST_CASE("SubNets and SubGraphs that change at random change no result", "[sushi]") {
    random_switches({}, 400, 1);
    random_switches({{"accelerator.impl", "cycle"}, {"dram.check_timing", "yes"}}, 60, 2);
    random_switches({{"accelerator.impl", "cycle"}, {"array.impl", "cycle"}}, 4, 3);
}

TEST_CASE("ten thousand random switches change no result", "[.sushi-switches]") {
    random_switches({}, 7000, 11);
    random_switches({{"accelerator.impl", "cycle"}}, 3000, 12);
}

SIM_TEST("a failure within the layer controller has its time and module once", "[sushi]") {
    const SushiConfig config = platform::sushi::read_sushi_config(kConfigs + "platforms/sushi_small.yaml", {});
    SupernetMemory memory = platform::sushi::lay_out(read_supernet(kDigits), {});
    memory.program.subnets.front().front().output_address = std::uint64_t{1} << 40;
    SushiChip chip("chip", config, config.buffers, memory);
    ChipDriver driver("driver", [&](ChipDriver& self) {
        self.command(hw::LayerController::kServe, 0);
        self.wait_idle();
    });
    sc_core::sc_signal<bool> irq("irq");
    chip.irq.bind(irq);
    driver.socket.bind(chip.registers());
    driver.irq.bind(irq);
    std::string error;
    try {
        const testing::ExpectReport uncaught("uncaught exception");
        sc_core::sc_start();
    } catch (const sc_core::sc_report& report) {
        error = report.get_msg();
    }
    CHECK_THAT(error, ContainsSubstring("s: chip.controller: expected ") &&
                          ContainsSubstring(" bytes of DRAM at 0x10000000000, found 0"));
    CHECK(error.find("chip.controller") == error.rfind("chip.controller"));
    CHECK(chip.registry.errors().empty());
}

SIM_TEST("the accelerator refuses commands that make no sense, and goes on", "[sushi]") {
    const SushiConfig config = platform::sushi::read_sushi_config(kConfigs + "platforms/sushi_small.yaml", {});
    const Supernet supernet = read_supernet(kDigits);
    // All weights, 74 KB, for a buffer of 24.
    const SupernetMemory memory =
        platform::sushi::lay_out(supernet, {{"all", slices_of(supernet, supernet.subnets.back())}});
    SushiChip chip("chip", config, config.buffers, memory);
    for (auto& [address, bytes] : supernet_values(supernet, memory)) chip.write_dram(address, bytes);
    std::uint32_t failed = 0, good = 0;
    ChipDriver driver("driver", [&](ChipDriver& self) {
        self.command(hw::LayerController::kServe, 0);
        good = self.wait_idle();
        self.command(hw::LayerController::kCache, 0);
        failed = self.wait_idle();
        self.command(hw::LayerController::kCache, 1);
        self.command(hw::LayerController::kServe, 9);
        self.command(7, 0);
        self.wait_idle();
        for (int i = 0; i < 8; ++i) self.command(hw::LayerController::kServe, 0);  // more than the queue holds
        self.wait_idle();
    });
    driver.socket.bind(chip.registers());
    sc_core::sc_signal<bool> irq("irq");
    chip.irq.bind(irq);
    driver.irq.bind(irq);
    sc_core::sc_start();
    CHECK(good == 0);
    CHECK(failed == hw::CommandPort::kFailed);
    const std::vector<std::string>& errors = chip.registry.errors();
    REQUIRE(errors.size() == 4);
    CHECK_THAT(errors[0],
               ContainsSubstring("SubGraph 0: expected at most the 24576 bytes of the persistent buffer, found 74336"));
    CHECK_THAT(errors[1], ContainsSubstring("expected a SubGraph below 1, found 1"));
    CHECK_THAT(errors[2], ContainsSubstring(", found 9"));
    CHECK_THAT(errors[3], ContainsSubstring("(cache), found 7"));
    CHECK(chip.port.stats().failed == 4);
    CHECK(chip.port.stats().refused == 4);
    CHECK(chip.port.stats().commands == 1 + 4 + 4);
    CHECK(chip.controller.stats().queries == 1 + 4);
}
