// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/unit/host/host_rig.h"

using namespace switchyard;
using namespace switchyard::testing;
using Catch::Matchers::ContainsSubstring;
using regs::ErrorCode;

SIM_TEST("a batch runs segment by segment and tells its cycles", "[host]") {
    HostRig rig;
    rig.chip.tile_delay = {{0, ns(300)}, {1, ns(100)}};
    rig.run([](HostRig& r) {
        r.load(host_image());
        r.write(regs::kDoorbell, 7);
        CHECK((r.read(regs::kStatus) & regs::kBusy) != 0);
        CHECK(r.wait_for_interrupt() == regs::kIrqBatchDone);
        CHECK(r.read(regs::kStatus) == (regs::kLoaded | regs::kLastBatchDone));
        CHECK(r.read(regs::kBatchDone) == 1);
        // Two segments, each there and back through the network; the first waits for its slower tile.
        CHECK(r.read(regs::kLastCyclesLow) == 300 + 100 + 4 * FakeChip::kNetworkNs);
        CHECK(r.read(regs::kLastCyclesHigh) == 0);
    });
    REQUIRE(rig.chip.starts.size() == 2);
    CHECK(rig.chip.starts[0].batch == 7);
    CHECK(rig.chip.starts[0].segment == 0);
    CHECK(rig.chip.starts[0].tiles == std::vector<Endpoint>{0, 1});
    CHECK(rig.chip.starts[1].segment == 1);
    CHECK(rig.chip.starts[1].tiles == std::vector<Endpoint>{1});
    CHECK(rig.chip.starts[1].time - rig.chip.starts[0].time == ns(300 + 2 * FakeChip::kNetworkNs));
    CHECK(rig.registry.sum("rig.host", "segments") == 2);
    CHECK(rig.registry.sum("rig.host", "busy_cycles") == 480);
}

SIM_TEST("batches follow one another", "[host]") {
    HostRig rig;
    rig.run([](HostRig& r) {
        r.load(host_image());
        for (std::uint32_t batch = 0; batch < 5; ++batch) {
            r.write(regs::kDoorbell, batch);
            CHECK(r.wait_for_interrupt() == regs::kIrqBatchDone);
            CHECK(r.read(regs::kBatchDone) == batch + 1);
        }
    });
    REQUIRE(rig.chip.starts.size() == 10);
    for (std::uint32_t i = 0; i < 10; ++i) CHECK(rig.chip.starts[i].batch == i / 2);
}

SIM_TEST("the doorbell is refused before an image is loaded, and while a batch runs", "[host]") {
    HostRig rig;
    rig.chip.tile_delay = {{0, ns(1000)}};
    rig.run([](HostRig& r) {
        r.write(regs::kDoorbell, 0);
        CHECK(r.wait_for_interrupt() == regs::kIrqError);
        CHECK(r.read(regs::kError) == static_cast<std::uint32_t>(ErrorCode::not_loaded));
        r.load(host_image());
        r.write(regs::kDoorbell, 0);
        r.write(regs::kDoorbell, 1);
        CHECK(r.wait_for_interrupt() == regs::kIrqError);
        CHECK(r.read(regs::kError) == static_cast<std::uint32_t>(ErrorCode::busy));
        CHECK_THAT(r.error_text(), ContainsSubstring("batch 1"));
        CHECK(r.wait_for_interrupt() == regs::kIrqBatchDone);  // the first one goes on
        CHECK(r.read(regs::kBatchDone) == 1);
    });
    for (const FakeChip::Started& start : rig.chip.starts) CHECK(start.batch == 0);
}

SIM_TEST("a tile that never finishes its segment is named", "[host]") {
    HostRig rig;
    rig.run([](HostRig& r) {
        r.load(host_image());
        r.chip.silent = {1};
        r.write(regs::kDoorbell, 7);
    });
    CHECK(rig.registry.waits() ==
          std::vector<std::string>{"rig.host waits for segment 0 of batch 7: segment_done from tiles 1"});
}

TEST_CASE("answers that nobody waits for are model errors", "[host]") {
    struct Case {
        Endpoint tile;
        ControlCode code;
        std::uint32_t batch;
        std::uint16_t segment;
    };
    // While batch 7 waits for tile 1 in segment 0.
    for (const Case& c : {Case{0, ControlCode::segment_done, 7, 0}, Case{1, ControlCode::segment_done, 6, 0},
                          Case{1, ControlCode::segment_done, 7, 1}, Case{1, ControlCode::program_ready, 7, 0}}) {
        in_child([&] {
            HostRig rig;
            std::string error;
            try {
                ExpectReport uncaught("uncaught exception");
                rig.run([&](HostRig& r) {
                    r.load(host_image());
                    r.chip.silent = {1};
                    r.write(regs::kDoorbell, 7);
                    sc_core::wait(ns(1000));
                    r.chip.send_control(c.tile, c.code, c.batch, c.segment, ns(1));
                });
            } catch (const std::exception& thrown) {
                error = thrown.what();
            }
            CHECK_THAT(error, ContainsSubstring("rig.host") && ContainsSubstring("found control packet") &&
                                  ContainsSubstring("from endpoint " + std::to_string(c.tile)));
        });
    }
}

SIM_TEST("the profile of a tile is fetched over the network", "[host]") {
    HostRig rig;
    rig.chip.profile = {{1, 4, 10}, {1, 2, 3}, {2, 0, 65537}};
    rig.run([](HostRig& r) {
        r.write(regs::kProfileTile, 2);
        CHECK((r.read(regs::kStatus) & regs::kProfileBusy) != 0);
        CHECK(r.wait_for_interrupt() == regs::kIrqProfileReady);
        CHECK(r.read(regs::kStatus) == 0);
        REQUIRE(r.read(regs::kProfileRecords) == 3);
        unsigned char last[8];
        REQUIRE(r.access(::tlm::TLM_READ_COMMAND, regs::kProfileWindow + 16, last, 8) == ::tlm::TLM_OK_RESPONSE);
        CHECK(std::vector<int>(last, last + 8) == std::vector<int>{2, 0, 0, 0, 1, 0, 1, 0});
        CHECK(r.access(::tlm::TLM_READ_COMMAND, regs::kProfileWindow + 17, last, 8) ==
              ::tlm::TLM_ADDRESS_ERROR_RESPONSE);
        CHECK(r.debug(::tlm::TLM_READ_COMMAND, regs::kProfileWindow + 20, last, 8) == 4);

        r.write(regs::kProfileTile, FakeChip::kTiles);
        CHECK(r.read(regs::kError) == static_cast<std::uint32_t>(ErrorCode::profile_request));
        CHECK(r.read(regs::kErrorInfo) == FakeChip::kTiles);
        r.chip.silent = {0};
        r.write(regs::kProfileTile, 0);
        r.write(regs::kProfileTile, 1);
        CHECK(r.read(regs::kErrorInfo) == 1);
    });
    CHECK(rig.registry.waits() == std::vector<std::string>{"rig.host waits for the profile of tile 0"});
}
