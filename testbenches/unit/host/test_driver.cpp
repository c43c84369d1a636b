// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/driver/switchyard_driver.h"
#include "switchyard/platform/driver/switchyard_registers.h"
#include "switchyard/testbenches/unit/host/host_rig.h"

using namespace switchyard;
using namespace switchyard::testing;

namespace {

/// The driver on the model's configuration port, waiting by interrupt or by polling every 10 ns.
switchyard_device driver_of(HostRig& rig, bool interrupts, std::uint32_t poll_limit = 100000) {
    switchyard_io io{};
    io.context = &rig;
    io.read32 = [](void* r, std::uint32_t offset) {
        sc_core::wait(ns(10));
        return static_cast<HostRig*>(r)->read(offset);
    };
    io.write32 = [](void* r, std::uint32_t offset, std::uint32_t value) {
        static_cast<HostRig*>(r)->write(offset, value);
    };
    if (interrupts) {
        io.wait_for_interrupt = [](void* r) {
            HostRig& host = *static_cast<HostRig*>(r);
            if (!host.irq.read()) sc_core::wait(ns(100000), host.irq.posedge_event());
            return host.irq.read();
        };
    }
    switchyard_device device;
    switchyard_init(&device, &io, poll_limit);
    if (interrupts) switchyard_enable_interrupts(&device, regs::kIrqAll);
    return device;
}

void load_run_move_and_profile(HostRig& r, bool interrupts) {
    switchyard_device device = driver_of(r, interrupts);
    REQUIRE(switchyard_probe(&device) == SWITCHYARD_OK);
    CHECK(switchyard_platform(&device) == 0x0123456789ABCDEF);
    const std::vector<std::uint8_t> image = encode(host_image());
    REQUIRE(switchyard_load_image(&device, image.data(), image.size()) == SWITCHYARD_OK);
    CHECK(r.chip.programs.size() == 2);

    for (std::uint32_t batch = 0; batch < 3; ++batch)
        CHECK(switchyard_queue_batch(&device, 7 + batch) == SWITCHYARD_OK);
    for (std::size_t i = 0; i < 1000; ++i) r.memory[0x100 + i] = static_cast<std::uint8_t>(i * 7);
    CHECK(switchyard_dma(&device, 0x100, 0x200, 1000, SWITCHYARD_DMA_CONTROL_TO_CHIP) == SWITCHYARD_OK);
    CHECK(switchyard_dma(&device, 0x8000, 0x200, 1000, SWITCHYARD_DMA_CONTROL_FROM_CHIP) == SWITCHYARD_OK);
    CHECK(std::equal(r.memory.begin() + 0x100, r.memory.begin() + 0x100 + 1000, r.memory.begin() + 0x8000));
    for (std::uint32_t batch = 0; batch < 3; ++batch) {
        switchyard_batch done{};
        REQUIRE(switchyard_wait_batch(&device, &done) == SWITCHYARD_OK);
        CHECK(done.batch == 7 + batch);
        CHECK(done.cycles > 0);
    }
    CHECK(r.read(regs::kBatchDone) == 3);
    CHECK(r.chip.starts.back().batch == 9);

    std::uint32_t records = 0;
    r.chip.profile = {{4, 16, 99}, {5, 8, 1}};
    REQUIRE(switchyard_fetch_profile(&device, 1, &records) == SWITCHYARD_OK);
    REQUIRE(records == 2);
    switchyard_profile_record record[2];
    switchyard_read_profile(&device, 0, record, 2);
    CHECK(record[0].op == 4);
    CHECK(record[0].dyn_dim == 16);
    CHECK(record[1].op == 5);

    CHECK(switchyard_forget_image(&device) == SWITCHYARD_OK);
    CHECK(switchyard_queue_batch(&device, 0) == SWITCHYARD_OK);
    CHECK(switchyard_wait_batch(&device, nullptr) == SWITCHYARD_CHIP_ERROR);
    CHECK(device.error == SWITCHYARD_ERROR_NOT_LOADED);
}

}  // namespace

SIM_TEST("the driver loads, runs, moves and profiles by interrupt", "[host][driver]") {
    HostRig rig;
    rig.run([](HostRig& r) { load_run_move_and_profile(r, true); });
}

SIM_TEST("the driver does the same by polling", "[host][driver]") {
    HostRig rig;
    rig.run([](HostRig& r) { load_run_move_and_profile(r, false); });
}

SIM_TEST("what the model refuses reaches the driver's caller with code and info", "[host][driver]") {
    HostRig rig;
    rig.run([](HostRig& r) {
        switchyard_device device = driver_of(r, true);
        Image other = host_image();
        other.platform_fingerprint ^= 1;
        std::vector<std::uint8_t> image = encode(other);
        CHECK(switchyard_load_image(&device, image.data(), image.size()) == SWITCHYARD_CHIP_ERROR);
        CHECK(device.error == SWITCHYARD_ERROR_IMAGE_PLATFORM);
        CHECK(device.error_info == static_cast<std::uint32_t>(other.platform_fingerprint));

        r.chip.rejecting = {1};
        image = encode(host_image());
        CHECK(switchyard_load_image(&device, image.data(), image.size()) == SWITCHYARD_CHIP_ERROR);
        CHECK(device.error == SWITCHYARD_ERROR_TILE_REJECTED);
        CHECK(device.error_info == 1);
        r.chip.rejecting.clear();
        CHECK(switchyard_load_image(&device, image.data(), image.size()) == SWITCHYARD_OK);

        CHECK(switchyard_dma(&device, 0, ~std::uint64_t{0}, 16, SWITCHYARD_DMA_CONTROL_TO_CHIP) ==
              SWITCHYARD_CHIP_ERROR);
        CHECK(device.error == SWITCHYARD_ERROR_DMA_REQUEST);
        std::uint32_t records = 0;
        CHECK(switchyard_fetch_profile(&device, 77, &records) == SWITCHYARD_CHIP_ERROR);
        CHECK(device.error == SWITCHYARD_ERROR_PROFILE_REQUEST);
        CHECK(device.error_info == 77);
    });
}

SIM_TEST("a tile that does not answer is a time-out, by interrupt and by polling", "[host][driver]") {
    HostRig rig;
    rig.run([](HostRig& r) {
        switchyard_device device = driver_of(r, true);
        const std::vector<std::uint8_t> image = encode(host_image());
        REQUIRE(switchyard_load_image(&device, image.data(), image.size()) == SWITCHYARD_OK);
        r.chip.silent = {0};
        CHECK(switchyard_queue_batch(&device, 0) == SWITCHYARD_OK);
        const sc_core::sc_time begin = sc_core::sc_time_stamp();
        CHECK(switchyard_wait_batch(&device, nullptr) == SWITCHYARD_TIMED_OUT);
        CHECK(sc_core::sc_time_stamp() - begin == ns(100000));
        CHECK(switchyard_forget_image(&device) == SWITCHYARD_CHIP_ERROR);  // busy
        CHECK(device.error == SWITCHYARD_ERROR_BUSY);

        switchyard_device polling = driver_of(r, false, 50);
        CHECK(switchyard_wait_dma(&polling) == SWITCHYARD_TIMED_OUT);
    });
}
