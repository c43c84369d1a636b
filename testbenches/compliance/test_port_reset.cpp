// SPDX-License-Identifier: Apache-2.0
// Reset: what is refused meanwhile, what is left afterwards, and that the next run gives the same results.

#include <algorithm>

#include "switchyard/platform/driver/switchyard_driver.h"
#include "switchyard/testbenches/compliance/accelerator_rig.h"
#include "switchyard/tlm/simulation_registry.h"

using namespace switchyard;
using namespace switchyard::compliance;
using namespace switchyard::testing;

namespace {

PlatformConfig with_values() {
    return mini({{"chip.functional", "yes"}});
}

/// Runs ahead, so that a reset can come between a write and its effect.
PortInitiator::Style decoupled() {
    PortInitiator::Style style;
    style.quantum = ns(100);
    return style;
}

::tlm::tlm_response_status try_access(AcceleratorRig& r, ::tlm::tlm_command command, std::uint64_t address) {
    unsigned char data[4] = {1, 0, 0, 0};
    return r.port.access({command, address, data, 4, nullptr, 0}).status;
}

/// Registers as after power-up.
void check_reset_values(AcceleratorRig& r) {
    CHECK(r.read(regs::kId) == regs::kIdValue);
    for (const std::uint64_t offset :
         {regs::kStatus, regs::kError, regs::kErrorInfo, regs::kIrqStatus, regs::kIrqEnable, regs::kImageBytes,
          regs::kBatchDone, regs::kDmaHostLow, regs::kDmaBytes, regs::kProfileTile, regs::kProfileRecords}) {
        INFO(offset);
        CHECK(r.read(offset) == 0);
    }
    CHECK_FALSE(r.irq.read());
    CHECK(r.accelerator.last_error_text().empty());
}

}  // namespace

TEST_CASE("in reset every access is refused, and nothing happens", "[accelerator][reset]") {
    for (const PortInitiator::Style& style : port_styles()) {
        if (style.dmi) continue;
        INFO(style.name);
        in_child([&] {
            AcceleratorRig rig(mini(), style);
            rig.run([](AcceleratorRig& r) {
                r.write(regs::kDmaHostLow, 7);
                r.port.sync();
                r.reset.write(true);
                wait(ns(1));
                for (const std::uint64_t address : {std::uint64_t{regs::kId}, std::uint64_t{regs::kDmaHostLow},
                                                    regs::kImageWindow, ~std::uint64_t{7}}) {
                    CHECK(try_access(r, kRead, address) == ::tlm::TLM_GENERIC_ERROR_RESPONSE);
                    CHECK(try_access(r, kWrite, address) == ::tlm::TLM_GENERIC_ERROR_RESPONSE);
                }
                r.port.sync();
                r.reset.write(false);
                wait(ns(1));
                check_reset_values(r);
                unsigned char word[4] = {9, 9, 9, 9};
                CHECK(r.port.debug(kRead, regs::kImageWindow, word, 4) == 4);
                CHECK(word[0] == 0);
            });
        });
    }
}

SIM_TEST("a reset that is there from the beginning is one", "[accelerator][reset]") {
    AcceleratorRig rig(mini());
    rig.reset.write(true);
    rig.run([](AcceleratorRig& r) {
        wait(ns(10));
        CHECK(try_access(r, kRead, regs::kId) == ::tlm::TLM_GENERIC_ERROR_RESPONSE);
        r.reset.write(false);
        wait(ns(1));
        check_reset_values(r);
    });
}

SIM_TEST("a reset takes direct access back, and leaves the window as it is", "[accelerator][reset]") {
    AcceleratorRig rig(mini());
    rig.run([](AcceleratorRig& r) {
        ::tlm::tlm_dmi region;
        REQUIRE(r.port.direct(regs::kImageWindow, region));
        region.get_dmi_ptr()[3] = 42;
        r.reset.write(true);
        wait(ns(1));
        CHECK(r.port.invalidations == 1);
        CHECK_FALSE(r.port.direct(regs::kImageWindow, region));
        r.reset.write(false);
        wait(ns(1));
        CHECK(r.port.invalidations == 2);
        REQUIRE(r.port.direct(regs::kImageWindow, region));
        CHECK(region.get_dmi_ptr()[3] == 42);
    });
}

TEST_CASE("after a reset in the middle of a batch the next run gives the same results", "[accelerator][reset]") {
    const double when = GENERATE(0.0, 1.0, 777.0, 400'000.0);
    digits_image();
    in_child([&] {
        AcceleratorRig rig(with_values(), decoupled());
        rig.run([&](AcceleratorRig& r) {
            const platform::NpyArray before = run_digits(r);
            CHECK(wrong_digits(before) == 0);
            r.port.sync();
            r.write(regs::kDoorbell, 1);  // takes effect in a nanosecond
            if (when > 0) wait(ns(when));
            r.reset.write(true);
            wait(ns(5));
            r.reset.write(false);
            wait(ns(1));
            CHECK_FALSE(r.irq.read());
            const sc_core::sc_time begin = sc_core::sc_time_stamp();
            check_reset_values(r);
            r.port.sync();
            CHECK(sc_core::sc_time_stamp() - begin < ns(100));              // a batch takes some 770,000 cycles
            CHECK(r.accelerator.registry().waits().empty() == (when < 1));  // or the doorbell had not been taken
            r.write(regs::kDoorbell, 0);
            CHECK(r.read(regs::kError) == 9);  // the image is forgotten
            r.pulse_reset(ns(5));
            const platform::NpyArray after = run_digits(r);
            CHECK(after.values == before.values);
            CHECK(r.accelerator.registry().sum("rig", "batches") == 2);
        });
    });
}

namespace {

/// Resets `after_ns` after the begin of a load, a transfer or a read-back.
void check_reset(double after_ns) {
    const std::string what = GENERATE("load", "to chip", "from chip", "list", "profile");
    digits_image();
    in_child([&] {
        AcceleratorRig rig(with_values(), decoupled());
        rig.run([&](AcceleratorRig& r) {
            r.write(regs::kIrqEnable, regs::kIrqAll);
            const std::vector<std::uint8_t> mark(1 << 18, 0x77);
            r.memory.write(0x4000'0000, mark.data(), mark.size());
            if (what == "load") {
                r.put_image(digits_image());
                r.write(regs::kControl, regs::kCommitImage);
            } else if (what == "profile") {
                r.write(regs::kProfileTile, 1);
            } else if (what == "list") {
                constexpr std::uint32_t kCount = 1024, kPart = (1 << 18) / kCount;
                std::vector<std::uint8_t> list(kCount * SWITCHYARD_DESCRIPTOR_BYTES);
                for (std::uint32_t i = 0; i < kCount; ++i)
                    switchyard_put_descriptor(&list[i * SWITCHYARD_DESCRIPTOR_BYTES], 0x4000'0000 + i * kPart, 0, kPart,
                                              regs::kDmaFromChip);
                r.memory.write(0x3000'0000, list.data(), list.size());
                r.write(regs::kDmaHostLow, 0x3000'0000);
                r.write(regs::kDmaBytes, static_cast<std::uint32_t>(list.size()));
                r.write(regs::kDmaControl, regs::kDmaList);
            } else {
                r.write(regs::kDmaHostLow, 0x4000'0000);
                r.write(regs::kDmaBytes, 1 << 18);
                r.write(regs::kDmaControl, what == "to chip" ? regs::kDmaToChip : regs::kDmaFromChip);
            }
            if (after_ns > 0) {
                r.port.sync();
                wait(ns(after_ns));
            }
            r.reset.write(true);
            wait(ns(1));
            const std::vector<std::uint8_t> in_reset = r.memory.read(0x4000'0000, mark.size());
            const std::uint64_t accesses = r.memory_checker.monitor().transactions();
            wait(ns(3));
            r.reset.write(false);
            wait(ns(1));
            check_reset_values(r);
            CHECK(r.memory_checker.monitor().transactions() <= accesses + 1);  // one that was on its way
            CHECK((r.memory.read(0x4000'0000, mark.size()) == in_reset));
            CHECK(wrong_digits(run_digits(r)) == 0);
        });
    });
}

}  // namespace

TEST_CASE("after a reset in the middle of a load, a transfer or a read-back the next run is right",
          "[accelerator][reset]") {
    check_reset(600);
}

TEST_CASE("a reset right at the begin leaves the next run right too", "[.ci-long][accelerator][reset]") {
    check_reset(GENERATE(0.0, 1.0));
}

TEST_CASE("chips of every detail run a batch as before after a reset in the middle of one", "[accelerator][reset]") {
    const std::map<std::string, std::string> overrides =
        GENERATE(std::map<std::string, std::string>{{"chip.impl", "tiles"}},
                 std::map<std::string, std::string>{{"chip.impl", "stages"}},
                 std::map<std::string, std::string>{{"noc.impl", "flit"}});
    digits_image();
    in_child([&] {
        AcceleratorRig rig(mini(overrides));
        rig.run([&](AcceleratorRig& r) {
            const auto cycles_of_a_batch = [&] {
                r.load(digits_image());
                r.write(regs::kDoorbell, 0);
                r.await(regs::kIrqBatchDone);
                return r.read(regs::kLastCyclesLow);
            };
            const std::uint32_t before = cycles_of_a_batch();
            CHECK(before > 1000);
            r.write(regs::kDoorbell, 1);
            wait(ns(before / 3.0));
            r.pulse_reset(ns(10));
            check_reset_values(r);
            // When a batch begins, and what ran before it, changes a few cycles of it, with or without a reset.
            CHECK(cycles_of_a_batch() == Approx(double(before)).epsilon(0.002));
        });
    });
}

TEST_CASE("accesses are answered at once while the chip finishes what a reset has left", "[accelerator][reset]") {
    const std::map<std::string, std::string> overrides =
        GENERATE(std::map<std::string, std::string>{{"chip.impl", "tiles"}},
                 std::map<std::string, std::string>{{"chip.impl", "stages"}},
                 std::map<std::string, std::string>{{"host.port_completes_early", "on"}});
    digits_image();
    PortInitiator::Style style;
    style.at = overrides.count("host.port_completes_early") != 0;
    in_child([&] {
        AcceleratorRig rig(mini(overrides), style);
        rig.run([&](AcceleratorRig& r) {
            r.load(digits_image());
            r.write(regs::kDoorbell, 0);
            wait(ns(5000));
            r.pulse_reset(ns(10));
            REQUIRE_FALSE(r.accelerator.registry().waits().empty());
            unsigned accesses = 0;
            // A word takes one cycle of the link, and nothing else.
            const auto takes_a_cycle = [&](::tlm::tlm_command command, std::uint64_t address) {
                const sc_core::sc_time begin = sc_core::sc_time_stamp();
                CHECK(try_access(r, command, address) == ::tlm::TLM_OK_RESPONSE);
                r.port.sync();
                CHECK(sc_core::sc_time_stamp() - begin == ns(1));
                ++accesses;
            };
            for (const std::uint64_t offset :
                 {regs::kId, regs::kStatus, regs::kError, regs::kErrorInfo, regs::kIrqStatus, regs::kIrqEnable,
                  regs::kImageBytes, regs::kBatchDone, regs::kLastCyclesLow, regs::kDmaHostLow, regs::kDmaBytes,
                  regs::kProfileTile, regs::kProfileRecords})
                takes_a_cycle(kRead, offset);
            takes_a_cycle(kRead, regs::kImageWindow);
            for (const std::uint64_t address : {std::uint64_t{regs::kIrqEnable}, std::uint64_t{regs::kDmaBytes},
                                                std::uint64_t{regs::kImageBytes}, regs::kImageWindow + 64})
                takes_a_cycle(kWrite, address);
            CHECK(accesses == 18);
            REQUIRE_FALSE(r.accelerator.registry().waits().empty());
            // What is started begins when the rest is over, and a further reset forgets it.
            const auto started = [&] { return r.accelerator.registry().sum("rig", "images_loaded"); };
            const auto commit = [&] {
                r.put_image(digits_image());
                r.write(regs::kIrqEnable, regs::kIrqAll);
                r.write(regs::kControl, regs::kCommitImage);
                CHECK(r.read(regs::kStatus) == regs::kLoading);
                r.write(regs::kControl, regs::kCommitImage);
                CHECK(r.read(regs::kError) == 10);  // busy
            };
            commit();
            r.pulse_reset(ns(10));
            check_reset_values(r);
            commit();
            r.write(regs::kIrqStatus, regs::kIrqError);
            REQUIRE_FALSE(r.accelerator.registry().waits().empty());
            CHECK(started() == 1);
            r.await(regs::kIrqLoaded);
            CHECK(started() == 2);
            r.write(regs::kDoorbell, 0);
            r.await(regs::kIrqBatchDone);
            CHECK(r.read(regs::kBatchDone) == 1);
            CHECK(r.accelerator.registry().sum("rig", "batches") == 1);
        });
    });
}

SIM_TEST("a reset while others wait for the port answers them", "[accelerator][reset]") {
    PortInitiator::Style at;
    at.at = true;
    at.response = PortInitiator::Response::accepted;
    AcceleratorRig rig(mini({{"host.port_requests", "1"}}), at);
    std::vector<::tlm::tlm_response_status> answers;
    for (unsigned i = 0; i < 3; ++i) {
        rig.drive([&](AcceleratorRig& r) {
            std::vector<unsigned char> data(320);  // ten cycles each
            answers.push_back(r.port.access({kRead, regs::kImageWindow, data.data(), 320, nullptr, 0}).status);
        });
    }
    rig.run([](AcceleratorRig& r) {
        wait(ns(15));
        r.reset.write(true);
    });
    CHECK(answers == std::vector<::tlm::tlm_response_status>{::tlm::TLM_OK_RESPONSE, ::tlm::TLM_OK_RESPONSE,
                                                             ::tlm::TLM_GENERIC_ERROR_RESPONSE});
}
