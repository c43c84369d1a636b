// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/memory/bank_costs.h"
#include "switchyard/hw/memory/hbm.h"
#include "switchyard/platform/characterisation/memory_run.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::platform;
using hw::bank_costs;
using hw::BankCosts;
using hw::HbmConfig;
using hw::dram::Device;
using hw::dram::read_device;

namespace {

Device mapped(const char* name, const char* mapping) {
    return read_device(name, {{"controller.mapping", mapping}});
}

double gb_per_s(const Device& device, const char* impl, const char* pattern, std::uint64_t bytes, double read_share) {
    MemoryTraffic traffic;
    traffic.pattern = pattern;
    traffic.request_bytes = bytes;
    traffic.requests = 12800000 / bytes;
    traffic.read_share = read_share;
    MemoryRunOptions options;
    options.impl = impl;
    return run_memory(device, traffic, options).achieved_gb_per_s;
}

}  // namespace

TEST_CASE("the costs of banks are those of the device file", "[dram][costs]") {
    const BankCosts costs = bank_costs(read_device("hbm2_2400"));  // cycles of 1 / 1.2 ns
    CHECK(costs.banks == 16);
    CHECK(costs.row_cycle_ns == Approx(57 / 1.2));
    CHECK(costs.read_to_row_ns == Approx((6 + 17 + 17 - 2) / 1.2));
    CHECK(costs.write_to_row_ns == Approx((19 + 17 + 14 + 6) / 1.2));
    CHECK(costs.turnaround_ns == Approx((8 + 17 + 1) / 1.2));
    CHECK(costs.activate_ns == Approx(5 / 1.2));  // tRRD; tFAW / 4 is 4.75 cycles, two activates on the bus 4
    CHECK(costs.refresh_wait_ns == Approx(455.0 * 455 / 4682 / 2 / 1.2));
    CHECK(costs.queue_bytes == 256 * 32);
    CHECK(costs.drain_bytes == 64 * 32 / 2);
    CHECK_FALSE(costs.open_rows);
}

TEST_CASE("a pseudo-channel's layout is that of its mapping, channels left out", "[dram][costs]") {
    const auto is = [](const BankCosts& costs, unsigned interleaved, std::uint64_t piece, unsigned rows_shift) {
        CHECK(costs.interleaved_banks == interleaved);
        CHECK(costs.piece_bytes == piece);
        CHECK(costs.rows_shift == rows_shift);
        CHECK(costs.row_bytes == 1024);
    };
    const Device own = read_device("hbm2_2400");
    is(bank_costs(own), 4, 64, 0);
    CHECK(hw::interleave_bytes(own) == 256);
    const Device together = mapped("hbm2_2400", "row-bankgroup-bank-pseudochannel-column-channel");
    is(bank_costs(together), 1, 1024, 0);
    CHECK(hw::interleave_bytes(together) == 32);
    is(bank_costs(mapped("hbm2_2400", "row-column:3-bank-bankgroup-pseudochannel-column:2-channel")), 16, 128, 0);
    is(bank_costs(mapped("hbm2_2400", "pseudochannel-channel-bankgroup-bank-row-column")), 1, 1024, 16);
}

TEST_CASE("the memory's defaults are those of its default device", "[dram][costs]") {
    const HbmConfig config;
    const Device device = hw::interface_device(config);
    CHECK(config.pseudo_channel_gb_per_s == Approx(device.pseudo_channel_gb_per_s()));
    CHECK(config.refresh_share == Approx(device.refresh_loss()));
    CHECK(config.read_latency_ns ==
          Approx(device.timing.ns(device.timing.trcd_read_cycles + device.timing.tcl_cycles)));
    CHECK(config.write_latency_ns ==
          Approx(device.timing.ns(device.timing.trcd_write_cycles + device.timing.tcwl_cycles)));
    CHECK(config.burst_bytes == device.geometry.burst_bytes);
    CHECK(config.interleave_bytes == hw::interleave_bytes(device));
}

namespace {

void check_streams(const char* name) {
    const Device device = read_device(name);
    const auto check = [&](const char* pattern, std::uint64_t bytes, double read_share) {
        CAPTURE(name, pattern, bytes, read_share);
        CHECK(gb_per_s(device, "bandwidth", pattern, bytes, read_share) ==
              Approx(gb_per_s(device, "bank", pattern, bytes, read_share)).epsilon(0.06));
    };
    for (const double read_share : {0.0, 0.25, 0.5, 0.75, 1.0})
        for (const std::uint64_t bytes : {64u, 4096u}) check("sequential", bytes, read_share);
    for (const std::uint64_t bytes : {64u, 4096u}) check("random", bytes, 1);
}

}  // namespace

TEST_CASE("the bandwidth model gives streams what the banks give them, within 6 %", "[dram][costs]") {
    check_streams("hbm2");
}

TEST_CASE("the bandwidth model gives streams what the banks of other devices give them, within 6 %",
          "[.ci-long][dram][costs]") {
    for (const char* name : {"hbm2_2400", "ddr4", "lpddr4"}) check_streams(name);
}

TEST_CASE("an interface is not faster than its device", "[dram][costs]") {
    HbmConfig config;
    config.device = "lpddr4";
    config.pseudo_channels_per_interface = 1;
    CHECK_THAT(validation_error(config), Catch::Matchers::ContainsSubstring(
                                             "pseudo_channel_gb_per_s: expected at most 6.4, as device lpddr4 has"));
    config.pseudo_channel_gb_per_s = 6.4;
    CHECK(validation_error(config) == "");
}
