// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/unit/host/host_rig.h"

using namespace switchyard;
using namespace switchyard::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::uint64_t kWindowBytes = hw::HostInterface::Config{}.image_window_bytes;

}  // namespace

SIM_TEST("the identity, version and platform can be read, and not written", "[host]") {
    HostRig rig;
    rig.run([](HostRig& r) {
        for (const std::uint64_t offset : {regs::kId, regs::kVersion, regs::kPlatformLow, regs::kPlatformHigh})
            r.write(offset, 0xFFFFFFFF);
        CHECK(r.read(regs::kId) == regs::kIdValue);
        CHECK(r.read(regs::kVersion) == regs::kVersionValue);
        CHECK(r.read(regs::kPlatformLow) == 0x89ABCDEF);
        CHECK(r.read(regs::kPlatformHigh) == 0x01234567);
        CHECK(r.read(regs::kImageCapacity) == kWindowBytes);
        CHECK(r.read(regs::kStatus) == 0);
        CHECK(r.read(regs::kError) == 0);
    });
}

SIM_TEST("every register resets, reads and ignores writes as its contract says", "[host]") {
    HostRig rig;
    rig.run([](HostRig& r) {
        const std::string map = r.host.register_map();
        for (const char* row : {"| `0x010` | CONTROL | wo | `0x00000000` | `0x00000003` |",
                                "| `0x020` | IRQ_STATUS | w1c | `0x00000000` | `0x0000001f` |",
                                "| `0x050` | DMA_BYTES | rw | `0x00000000` | `0xffffffff` |"})
            CHECK_THAT(map, ContainsSubstring(row));
        for (const std::uint64_t offset : {regs::kImageBytes, regs::kDmaHostLow, regs::kDmaHostHigh, regs::kDmaChipLow,
                                           regs::kDmaChipHigh, regs::kDmaBytes}) {
            r.write(offset, 0xDEADBEEF);
            CHECK(r.read(offset) == 0xDEADBEEF);
        }
        r.write(regs::kIrqEnable, 0xFFFFFFFF);
        CHECK(r.read(regs::kIrqEnable) == regs::kIrqAll);
        for (const std::uint64_t offset : {regs::kControl, regs::kDmaControl}) {
            r.write(offset, 0);  // no bit, no action
            CHECK(r.read(offset) == 0);
        }
        CHECK(r.read(regs::kStatus) == 0);
    });
}

SIM_TEST("addresses outside registers and windows are address errors", "[host]") {
    HostRig rig;
    rig.run([](HostRig& r) {
        unsigned char data[8];
        for (const std::uint64_t address :
             {std::uint64_t{0x06c}, regs::kRegisterBytes, regs::kImageWindow - 4, regs::kProfileWindow,
              regs::kImageWindow + kWindowBytes - 4, regs::kErrorTextWindow}) {
            INFO(address);
            CHECK(r.access(::tlm::TLM_READ_COMMAND, address, data, 8) == ::tlm::TLM_ADDRESS_ERROR_RESPONSE);
        }
        CHECK(r.access(::tlm::TLM_WRITE_COMMAND, regs::kProfileWindow, data, 8) == ::tlm::TLM_COMMAND_ERROR_RESPONSE);
    });
}

SIM_TEST("the image window is plain memory: bytes, bursts, debug and direct access", "[host]") {
    HostRig rig;
    rig.run([](HostRig& r) {
        unsigned char data[5] = {1, 2, 3, 4, 5}, back[7];
        const std::uint64_t end = regs::kImageWindow + kWindowBytes;
        CHECK(r.access(::tlm::TLM_WRITE_COMMAND, regs::kImageWindow + 3, data, 5) == ::tlm::TLM_OK_RESPONSE);
        CHECK(r.access(::tlm::TLM_WRITE_COMMAND, end - 1, data, 1) == ::tlm::TLM_OK_RESPONSE);
        CHECK(r.access(::tlm::TLM_READ_COMMAND, regs::kImageWindow + 2, back, 7) == ::tlm::TLM_OK_RESPONSE);
        CHECK(std::vector<int>(back, back + 7) == std::vector<int>{0, 1, 2, 3, 4, 5, 0});
        CHECK(r.debug(::tlm::TLM_READ_COMMAND, end - 1, back, 7) == 1);
        CHECK(back[0] == 1);
        CHECK(r.debug(::tlm::TLM_WRITE_COMMAND, regs::kImageWindow + 4, data, 1) == 1);
        CHECK(r.debug(::tlm::TLM_READ_COMMAND, regs::kImageWindow + 4, back, 1) == 1);
        CHECK(back[0] == 1);
    });
}

SIM_TEST("debug reads of registers work and change nothing", "[host]") {
    HostRig rig;
    rig.run([](HostRig& r) {
        r.write(regs::kDoorbell, 0);  // error: nothing loaded
        unsigned char status[4], back[4];
        CHECK(r.debug(::tlm::TLM_READ_COMMAND, regs::kIrqStatus, status, 4) == 4);
        CHECK(status[0] == regs::kIrqError);
        CHECK(r.debug(::tlm::TLM_READ_COMMAND, regs::kIrqStatus, back, 4) == 4);
        CHECK(back[0] == status[0]);
        CHECK(r.debug(::tlm::TLM_READ_COMMAND, regs::kRegisterBytes + 4, back, 4) == 0);
        CHECK_THAT(r.error_text(), ContainsSubstring("expected a loaded image before the doorbell"));
        CHECK(r.error_text() == r.host.last_error_text());
    });
}

SIM_TEST("the interrupt follows IRQ_STATUS and IRQ_ENABLE", "[host]") {
    HostRig rig;
    rig.run([](HostRig& r) {
        r.write(regs::kDoorbell, 0);
        sc_core::wait(ns(5));
        CHECK_FALSE(r.irq.read());
        r.write(regs::kIrqEnable, regs::kIrqError);
        sc_core::wait(ns(5));
        CHECK(r.irq.read());
        r.write(regs::kIrqStatus, regs::kIrqLoaded);  // another bit
        sc_core::wait(ns(5));
        CHECK(r.irq.read());
        r.write(regs::kIrqStatus, regs::kIrqError);
        sc_core::wait(ns(5));
        CHECK_FALSE(r.irq.read());
        CHECK(r.read(regs::kIrqStatus) == 0);
    });
}

SIM_TEST("an access takes its share of the link", "[host]") {
    HostRig rig;
    rig.run([](HostRig& r) {
        std::vector<unsigned char> data(320);
        const sc_core::sc_time begin = sc_core::sc_time_stamp();
        r.access(::tlm::TLM_WRITE_COMMAND, regs::kImageWindow, data.data(), 320);
        CHECK(sc_core::sc_time_stamp() - begin == ns(10));  // 32 bytes a cycle
    });
}
