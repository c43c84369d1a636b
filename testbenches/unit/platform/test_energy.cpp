// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/system/energy.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard::platform;

TEST_CASE("each part of the energy is its count times its parameter", "[energy]") {
    const EnergyConfig config;
    Activity activity;
    activity.pe_operations = 1000;
    activity.scratchpad_read_bytes = 100;
    activity.scratchpad_write_bytes = 10;
    activity.link_bytes = 50;
    activity.hbm_bytes = 20;
    activity.tile_nanoseconds = 3;
    activity.leaking_kib_nanoseconds = 1024;
    const Energy energy = energy_of(config, activity);
    CHECK(energy.pe == Approx(1129));
    CHECK(energy.scratchpad_access == Approx(100 * 1.79 + 10 * 1.90));
    CHECK(energy.scratchpad_leakage == Approx(2 * 119));
    CHECK(energy.network_links == Approx(50 * 8 * 0.7));
    CHECK(energy.network_static == Approx(3 * 1.646));
    CHECK(energy.hbm == Approx(20 * 8 * 3.9));
    CHECK(energy.dispatcher_controller == Approx(3 * 10.409));

    const auto parts = energy.parts();
    CHECK(parts.size() == 7);
    CHECK(energy.sum() == Approx(1129 + 198 + 238 + 280 + 4.938 + 624 + 31.227));
}

TEST_CASE("a tile at full rate draws what Adyna's Table IV says, within the scratchpad's 6 %", "[energy]") {
    // One nanosecond at 1 GHz: 1024 multiply-accumulates and a 64-byte read; 512 KiB leak.
    Activity activity;
    activity.pe_operations = 1024;
    activity.scratchpad_read_bytes = 64;
    activity.tile_nanoseconds = 1;
    activity.leaking_kib_nanoseconds = 512;
    const Energy energy = energy_of(EnergyConfig{}, activity);
    CHECK(energy.pe == Approx(1156.355).epsilon(0.001));
    CHECK(energy.scratchpad_access + energy.scratchpad_leakage == Approx(247.927).epsilon(0.06));
    CHECK(energy.dispatcher_controller + energy.network_static == Approx(10.409 + 1.646));
}

TEST_CASE("nothing happens, nothing is used", "[energy]") {
    CHECK(energy_of(EnergyConfig{}, Activity{}).sum() == 0);
}
