// SPDX-License-Identifier: Apache-2.0
// What the configuration port answers to accesses of every shape, from LT and AT initiators alike.

#include <numeric>

#include "switchyard/testbenches/compliance/accelerator_rig.h"

using namespace switchyard;
using namespace switchyard::compliance;
using namespace switchyard::testing;

namespace {

using Bytes = std::vector<unsigned char>;

constexpr auto kIgnore = ::tlm::TLM_IGNORE_COMMAND;
const std::uint64_t kWindowBytes = switchyard::hw::HostInterface::Config{}.image_window_bytes;
const std::uint64_t kWindowEnd = regs::kImageWindow + kWindowBytes;

/// Runs `driver` with an initiator of every style.
void with_every_style(const std::function<void(AcceleratorRig&)>& driver) {
    for (const PortInitiator::Style& style : port_styles()) {
        INFO(style.name);
        in_child([&] {
            INFO(style.name);
            AcceleratorRig rig(mini(), style);
            rig.run(driver);
        });
    }
}

::tlm::tlm_response_status transfer(AcceleratorRig& r, ::tlm::tlm_command command, std::uint64_t address, Bytes& data,
                                    const Bytes* byte_enables = nullptr, unsigned streaming_width = 0) {
    const auto length = static_cast<unsigned>(data.size());
    return r.port.access({command, address, data.data(), length, byte_enables, streaming_width}).status;
}

Bytes counting(std::size_t bytes, unsigned char first = 1) {
    Bytes data(bytes);
    std::iota(data.begin(), data.end(), first);
    return data;
}

}  // namespace

TEST_CASE("an access may begin and end anywhere in the registers", "[accelerator][port]") {
    with_every_style([](AcceleratorRig& r) {
        Bytes data = counting(11);
        CHECK(transfer(r, kWrite, regs::kDmaHostLow + 1, data) == ::tlm::TLM_OK_RESPONSE);  // across three registers
        CHECK(r.read(regs::kDmaHostLow) == 0x03020100);
        CHECK(r.read(regs::kDmaHostHigh) == 0x07060504);
        CHECK(r.read(regs::kDmaChipLow) == 0x0B0A0908);
        Bytes back(11);
        CHECK(transfer(r, kRead, regs::kDmaHostLow + 1, back) == ::tlm::TLM_OK_RESPONSE);
        CHECK(back == data);
        Bytes byte{0xEE};
        CHECK(transfer(r, kWrite, regs::kDmaHostLow + 2, byte) == ::tlm::TLM_OK_RESPONSE);
        CHECK(r.read(regs::kDmaHostLow) == 0x03EE0100);
    });
}

TEST_CASE("byte enables choose the bytes, an array shorter than the data repeats", "[accelerator][port]") {
    with_every_style([](AcceleratorRig& r) {
        const Bytes odd{0x00, 0xFF}, none{0x00}, third{0xFF, 0x00, 0x00};
        Bytes data = counting(8, 0x11);
        CHECK(transfer(r, kWrite, regs::kDmaHostLow, data, &odd) == ::tlm::TLM_OK_RESPONSE);
        CHECK(r.read(regs::kDmaHostLow) == 0x14001200);
        CHECK(r.read(regs::kDmaHostHigh) == 0x18001600);
        Bytes back(6, 0xAA);
        CHECK(transfer(r, kRead, regs::kDmaHostLow, back, &third) == ::tlm::TLM_OK_RESPONSE);
        CHECK(back == Bytes{0x00, 0xAA, 0xAA, 0x14, 0xAA, 0xAA});
        // A doorbell none of whose bytes is enabled does not ring.
        CHECK(transfer(r, kWrite, regs::kDoorbell, data = Bytes(4, 1), &none) == ::tlm::TLM_OK_RESPONSE);
        CHECK(r.read(regs::kError) == 0);
        Bytes window = counting(5);
        CHECK(transfer(r, kWrite, regs::kImageWindow + 7, window, &odd) == ::tlm::TLM_OK_RESPONSE);
        Bytes seen(5);
        CHECK(transfer(r, kRead, regs::kImageWindow + 7, seen) == ::tlm::TLM_OK_RESPONSE);
        CHECK(seen == Bytes{0, 2, 0, 4, 0});
    });
}

TEST_CASE("streaming writes the image window over and over, and is a burst error for registers",
          "[accelerator][port]") {
    with_every_style([](AcceleratorRig& r) {
        Bytes data = counting(10);
        CHECK(transfer(r, kWrite, kWindowEnd - 4, data, nullptr, 4) == ::tlm::TLM_OK_RESPONSE);
        Bytes back(8);
        CHECK(transfer(r, kRead, kWindowEnd - 4, back, nullptr, 4) == ::tlm::TLM_OK_RESPONSE);
        CHECK(back == Bytes{9, 10, 7, 8, 9, 10, 7, 8});
        data = counting(8);
        CHECK(transfer(r, kWrite, regs::kDmaHostLow, data, nullptr, 4) == ::tlm::TLM_BURST_ERROR_RESPONSE);
        CHECK(r.read(regs::kDmaHostLow) == 0);
        CHECK(transfer(r, kWrite, regs::kDmaHostLow, data, nullptr, 100) == ::tlm::TLM_OK_RESPONSE);  // no streaming
        CHECK(r.read(regs::kDmaHostHigh) == 0x08070605);
    });
}

TEST_CASE("what no target is behind is an address error, and nothing of the access happens", "[accelerator][port]") {
    with_every_style([](AcceleratorRig& r) {
        struct Bad {
            std::uint64_t address;
            unsigned bytes;
        };
        for (const Bad& bad :
             {Bad{0x03C, 4}, Bad{0x038, 12}, Bad{regs::kImageCapacity, 8}, Bad{0x06c, 1},
              Bad{regs::kRegisterBytes - 4, 8}, Bad{regs::kImageWindow - 4, 8}, Bad{kWindowEnd - 4, 8},
              Bad{kWindowEnd, 1}, Bad{regs::kProfileWindow, 4}, Bad{regs::kErrorTextWindow, 4},
              Bad{~std::uint64_t{0}, 1}, Bad{~std::uint64_t{0} - 3, 4}, Bad{std::uint64_t{1} << 32, 4}}) {
            INFO(std::hex << bad.address);
            Bytes data(bad.bytes, 0xFF);
            CHECK(transfer(r, kRead, bad.address, data) == ::tlm::TLM_ADDRESS_ERROR_RESPONSE);
            CHECK(data == Bytes(bad.bytes, 0xFF));
        }
        Bytes ones(8, 0xFF);  // DMA_BYTES and DMA_CONTROL are in front of a hole
        r.write(regs::kDmaBytes, 0x1234);
        CHECK(transfer(r, kWrite, regs::kDmaControl, ones) == ::tlm::TLM_ADDRESS_ERROR_RESPONSE);
        CHECK(transfer(r, kWrite, kWindowEnd - 4, ones) == ::tlm::TLM_ADDRESS_ERROR_RESPONSE);
        CHECK(r.read(regs::kError) == 0);
        Bytes end(4);
        CHECK(transfer(r, kRead, kWindowEnd - 4, end) == ::tlm::TLM_OK_RESPONSE);
        CHECK(end == Bytes(4, 0));
        CHECK(transfer(r, kWrite, regs::kProfileWindow, ones) == ::tlm::TLM_COMMAND_ERROR_RESPONSE);
    });
}

TEST_CASE("a burst may be as long as the image window, and no longer", "[accelerator][port]") {
    in_child([] {
        AcceleratorRig rig(mini());
        rig.run([](AcceleratorRig& r) {
            Bytes data(kWindowBytes + 1, 0x5A);
            CHECK(transfer(r, kWrite, regs::kImageWindow, data) == ::tlm::TLM_ADDRESS_ERROR_RESPONSE);
            data.pop_back();
            const sc_core::sc_time begin = sc_core::sc_time_stamp();
            CHECK(transfer(r, kWrite, regs::kImageWindow, data) == ::tlm::TLM_OK_RESPONSE);
            CHECK(sc_core::sc_time_stamp() - begin == ns(static_cast<double>(kWindowBytes) / 32.0));
            Bytes back(3);
            CHECK(transfer(r, kRead, kWindowEnd - 3, back) == ::tlm::TLM_OK_RESPONSE);
            CHECK(back == Bytes(3, 0x5A));
        });
    });
}

TEST_CASE("an ignore command touches nothing", "[accelerator][port]") {
    with_every_style([](AcceleratorRig& r) {
        r.write(regs::kDmaHostLow, 77);
        for (const std::uint64_t address : {std::uint64_t{regs::kDmaHostLow}, regs::kImageWindow}) {
            Bytes data(4, 0xEE);
            CHECK(transfer(r, kIgnore, address, data) == ::tlm::TLM_OK_RESPONSE);
            CHECK(data == Bytes(4, 0xEE));
        }
        CHECK(r.read(regs::kDmaHostLow) == 77);
        Bytes data(4, 0xEE);
        CHECK(transfer(r, kIgnore, regs::kRegisterBytes, data) == ::tlm::TLM_ADDRESS_ERROR_RESPONSE);
    });
}

TEST_CASE("an access takes the same simulated time with every initiator that does not run ahead",
          "[accelerator][port]") {
    for (const PortInitiator::Style& style : port_styles()) {
        if (style.quantum > sc_core::SC_ZERO_TIME) continue;
        INFO(style.name);
        in_child([&] {
            AcceleratorRig rig(mini(), style);
            rig.run([&](AcceleratorRig& r) {
                Bytes data(320);
                const sc_core::sc_time begin = sc_core::sc_time_stamp();
                transfer(r, kWrite, regs::kImageWindow, data);
                // 10 cycles on the link, and what this initiator needs of its own accord.
                sc_core::sc_time own = style.at ? style.request_delay : sc_core::SC_ZERO_TIME;
                if (style.response == PortInitiator::Response::accepted) own += style.accept;
                CHECK(sc_core::sc_time_stamp() - begin == ns(10) + own);
            });
        });
    }
}

TEST_CASE("a decoupled initiator's accesses take effect at its own time", "[accelerator][port]") {
    in_child([] {
        PortInitiator::Style style;
        style.quantum = ns(10'000);
        AcceleratorRig rig(mini(), style);
        rig.run([](AcceleratorRig& r) {
            r.write(regs::kIrqEnable, regs::kIrqAll);
            Bytes data(32 * 500);
            transfer(r, kWrite, regs::kImageWindow, data);  // 500 ns ahead
            r.write(regs::kDoorbell, 0);                    // refused: nothing is loaded
            r.write(regs::kIrqStatus, 0);                   // an effect on the line at 502 ns
            CHECK(sc_core::sc_time_stamp() == sc_core::SC_ZERO_TIME);
            r.port.sync();
            CHECK(sc_core::sc_time_stamp() == ns(503));
        });
    });
}

TEST_CASE("what a decoupled initiator writes after a commit or a doorbell is not part of it", "[accelerator][port]") {
    in_child([] {
        PortInitiator::Style style;
        style.quantum = ns(1'000'000);
        AcceleratorRig rig(mini(), style);
        rig.run([](AcceleratorRig& r) {
            const Bytes pattern = counting(200);
            r.memory.write(0x100, pattern.data(), pattern.size());
            r.write(regs::kIrqEnable, regs::kIrqAll);
            r.put_image(digits_image());
            r.write(regs::kControl, regs::kCommitImage);
            Bytes rubbish(4096, 0xFF);
            transfer(r, kWrite, regs::kImageWindow, rubbish);
            r.write(regs::kImageBytes, 5);
            r.await(regs::kIrqLoaded);
            r.write(regs::kDmaHostLow, 0x100);
            r.write(regs::kDmaBytes, 200);
            r.write(regs::kDmaControl, regs::kDmaToChip);
            for (const std::uint64_t offset : {regs::kDmaHostLow, regs::kDmaChipLow, regs::kDmaBytes})
                r.write(offset, 0xABCDEF);  // before the DMA has moved a byte
            r.await(regs::kIrqDmaDone);
            r.dma(0x1000, 0, 200, regs::kDmaFromChip);
            CHECK(r.memory.read(0x1000, 200) == pattern);
        });
    });
}

TEST_CASE("debug access works on everything and changes nothing but what it writes", "[accelerator][port]") {
    in_child([] {
        AcceleratorRig rig(mini());
        rig.run([](AcceleratorRig& r) {
            r.write(regs::kDoorbell, 5);  // an error to look at
            const auto snapshot = [&] {
                Bytes all(regs::kImageCapacity + 4, 0xCC);
                for (std::uint64_t offset = 0; offset < all.size(); offset += 4)
                    r.port.debug(kRead, offset, &all[offset], 4);
                return all;
            };
            const Bytes before = snapshot();
            for (unsigned repeat = 0; repeat < 3; ++repeat) CHECK(snapshot() == before);
            CHECK(r.read(regs::kIrqStatus) == regs::kIrqError);
            CHECK(r.read(regs::kError) == 9);

            unsigned char doorbell[4] = {1, 0, 0, 0}, data[8] = {};
            CHECK(r.port.debug(kWrite, regs::kDoorbell, doorbell, 4) == 4);  // does not ring
            CHECK(r.port.debug(kWrite, regs::kControl, doorbell, 4) == 4);
            CHECK(r.read(regs::kError) == 9);
            CHECK(r.read(regs::kStatus) == regs::kFailed);

            CHECK(r.port.debug(kRead, regs::kImageCapacity, data, 8) == 4);  // up to the hole
            CHECK(r.port.debug(kRead, 0x03C, data, 4) == 0);
            CHECK(r.port.debug(kRead, kWindowEnd - 2, data, 8) == 2);
            CHECK(r.port.debug(kRead, kWindowEnd, data, 8) == 0);
            CHECK(r.port.debug(kRead, regs::kErrorTextWindow, data, 8) == 8);
            CHECK(std::string(data, data + 8) == r.accelerator.last_error_text().substr(0, 8));
            CHECK(r.port.debug(kWrite, regs::kErrorTextWindow, data, 8) == 0);
            const sc_core::sc_time now = sc_core::sc_time_stamp();
            CHECK(r.port.debug(kWrite, regs::kImageWindow + 1, data, 3) == 3);
            CHECK(sc_core::sc_time_stamp() == now);
            Bytes back(3);
            CHECK(transfer(r, kRead, regs::kImageWindow + 1, back) == ::tlm::TLM_OK_RESPONSE);
            CHECK(back == Bytes(data, data + 3));
        });
    });
}

TEST_CASE("debug access does not wait for a batch, a transfer or a reset", "[accelerator][port]") {
    in_child([] {
        AcceleratorRig rig(mini());
        rig.run([](AcceleratorRig& r) {
            r.load(digits_image());
            unsigned char data[4] = {};
            r.write(regs::kDoorbell, 0);
            CHECK(r.port.debug(kRead, regs::kStatus, data, 4) == 4);
            CHECK(data[0] == (regs::kLoaded | regs::kBusy));
            r.reset.write(true);
            wait(ns(1));
            CHECK(r.port.debug(kRead, regs::kStatus, data, 4) == 4);
            CHECK(data[0] == 0);
            CHECK(r.port.debug(kRead, regs::kImageWindow, data, 4) == 4);
            CHECK(Bytes(data, data + 4) == Bytes{'S', 'Y', 'I', 'K'});
            r.reset.write(false);
        });
    });
}

TEST_CASE("direct access is granted for the image window alone, and sees what others write", "[accelerator][port]") {
    in_child([] {
        AcceleratorRig rig(mini());
        rig.run([](AcceleratorRig& r) {
            ::tlm::tlm_dmi region;
            for (const std::uint64_t address : {regs::kImageWindow, regs::kImageWindow + 12345, kWindowEnd - 1}) {
                REQUIRE(r.port.direct(address, region));
                CHECK(region.get_start_address() == regs::kImageWindow);
                CHECK(region.get_end_address() == kWindowEnd - 1);
                CHECK(region.is_read_write_allowed());
                CHECK(32 * region.get_write_latency() >= ns(1));  // no faster than the link
            }
            unsigned char* const memory = region.get_dmi_ptr();
            for (const std::uint64_t address : {std::uint64_t{0}, std::uint64_t{regs::kDoorbell}, regs::kRegisterBytes,
                                                regs::kProfileWindow, regs::kErrorTextWindow, kWindowEnd}) {
                CHECK_FALSE(r.port.direct(address, region));
                CHECK((region.get_start_address() <= address && address <= region.get_end_address()));
                CHECK((region.get_end_address() < regs::kImageWindow || region.get_start_address() >= kWindowEnd));
            }
            Bytes data = counting(6);
            const PortInitiator::Answer answer =
                r.port.access({kWrite, regs::kImageWindow + 100, data.data(), 6, nullptr, 0});
            CHECK(answer.dmi_allowed);
            CHECK(Bytes(memory + 100, memory + 106) == data);
            memory[100] = 99;
            Bytes back(1);
            CHECK(transfer(r, kRead, regs::kImageWindow + 100, back) == ::tlm::TLM_OK_RESPONSE);
            CHECK(back[0] == 99);
            CHECK_FALSE(r.port.access({kRead, regs::kStatus, back.data(), 1, nullptr, 0}).dmi_allowed);
        });
    });
}
