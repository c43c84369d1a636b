// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include <boost/crc.hpp>

#include "switchyard/platform/driver/switchyard_driver.h"
#include "switchyard/platform/driver/switchyard_registers.h"
#include "switchyard/sw_scheduler/adyna/image/image.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/unit/image/small_image.h"

using namespace switchyard;
using namespace switchyard::testing;

namespace {

using Access = std::pair<std::uint32_t, std::uint32_t>;

/// Registers that a test can script: what a write starts happens at once or after N reads of IRQ_STATUS.
struct FakeChip {
    std::map<std::uint32_t, std::uint32_t> registers{
        {SWITCHYARD_ID_OFFSET, SWITCHYARD_ID_RESET},     {SWITCHYARD_VERSION_OFFSET, SWITCHYARD_VERSION_RESET},
        {SWITCHYARD_PLATFORM_LOW_OFFSET, 0x89ABCDEF},    {SWITCHYARD_PLATFORM_HIGH_OFFSET, 0x01234567},
        {SWITCHYARD_LAST_CYCLES_LOW_OFFSET, 0xFFFFFFFF}, {SWITCHYARD_LAST_CYCLES_HIGH_OFFSET, 1},
        {SWITCHYARD_PROFILE_WINDOW + 0, 0x0002'0001},    {SWITCHYARD_PROFILE_WINDOW + 4, 77},
        {SWITCHYARD_PROFILE_WINDOW + 8, 0xFFFF'0003},    {SWITCHYARD_PROFILE_WINDOW + 12, 0xFFFFFFFF},
        {SWITCHYARD_IMAGE_CAPACITY_OFFSET, 64u << 20},
    };
    std::vector<Access> writes;
    std::vector<std::size_t> bursts;
    unsigned irq_reads = 0, interrupt_waits = 0;
    bool line_stays_low = false;
    std::function<void(std::uint32_t offset, std::uint32_t value)> on_write = [](std::uint32_t, std::uint32_t) {};
    std::function<void()> on_irq_read = [] {};

    void raise(std::uint32_t interrupts) { registers[SWITCHYARD_IRQ_STATUS_OFFSET] |= interrupts; }
    void fail(std::uint32_t code, std::uint32_t info) {
        registers[SWITCHYARD_ERROR_OFFSET] = code;
        registers[SWITCHYARD_ERROR_INFO_OFFSET] = info;
        raise(SWITCHYARD_IRQ_STATUS_ERROR);
    }
    std::vector<std::uint32_t> written(std::uint32_t offset) const {
        std::vector<std::uint32_t> values;
        for (const Access& write : writes) {
            if (write.first == offset) values.push_back(write.second);
        }
        return values;
    }

    std::uint32_t read(std::uint32_t offset) {
        if (offset == SWITCHYARD_IRQ_STATUS_OFFSET) {
            ++irq_reads;
            on_irq_read();
        }
        return registers[offset];
    }
    void write(std::uint32_t offset, std::uint32_t value) {
        writes.emplace_back(offset, value);
        if (offset == SWITCHYARD_IRQ_STATUS_OFFSET)
            registers[offset] &= ~value;
        else
            registers[offset] = value;
        on_write(offset, value);
    }

    switchyard_io io(bool blocks, bool interrupts) {
        switchyard_io io{};
        io.context = this;
        io.read32 = [](void* chip, std::uint32_t offset) { return static_cast<FakeChip*>(chip)->read(offset); };
        io.write32 = [](void* chip, std::uint32_t offset, std::uint32_t value) {
            static_cast<FakeChip*>(chip)->write(offset, value);
        };
        if (blocks) {
            io.read_block = [](void* chip, std::uint32_t offset, void* data, std::size_t bytes) {
                for (std::size_t i = 0; i < bytes; i += 4) {
                    const std::uint32_t word =
                        static_cast<FakeChip*>(chip)->registers[offset + static_cast<std::uint32_t>(i)];
                    std::memcpy(static_cast<char*>(data) + i, &word, 4);
                }
            };
            io.write_block = [](void* chip, std::uint32_t offset, const void* data, std::size_t bytes) {
                auto& fake = *static_cast<FakeChip*>(chip);
                fake.bursts.push_back(bytes);
                for (std::size_t i = 0; i < bytes; i += 4) {
                    std::uint32_t word = 0;
                    std::memcpy(&word, static_cast<const char*>(data) + i, std::min<std::size_t>(4, bytes - i));
                    fake.registers[offset + static_cast<std::uint32_t>(i)] = word;
                }
            };
        }
        if (interrupts) {
            io.wait_for_interrupt = [](void* chip) {
                auto& fake = *static_cast<FakeChip*>(chip);
                ++fake.interrupt_waits;
                return !fake.line_stays_low;
            };
        }
        return io;
    }
    switchyard_device device(std::uint32_t poll_limit = 10, bool blocks = false, bool interrupts = false) {
        switchyard_device device{};
        const switchyard_io functions = io(blocks, interrupts);
        switchyard_init(&device, &functions, poll_limit);
        return device;
    }
};

void load_at_once(FakeChip& chip) {
    chip.on_write = [&chip](std::uint32_t offset, std::uint32_t) {
        if (offset != SWITCHYARD_CONTROL_OFFSET) return;
        chip.registers[SWITCHYARD_STATUS_OFFSET] = SWITCHYARD_STATUS_LOADED;
        chip.raise(SWITCHYARD_IRQ_STATUS_LOADED);
    };
}

}  // namespace

TEST_CASE("the driver knows the chip by ID and VERSION", "[driver]") {
    FakeChip chip;
    switchyard_device device = chip.device();
    CHECK(chip.writes.empty());
    CHECK(switchyard_probe(&device) == SWITCHYARD_OK);
    CHECK(switchyard_platform(&device) == 0x0123456789ABCDEF);
    chip.registers[SWITCHYARD_VERSION_OFFSET] = SWITCHYARD_VERSION_RESET + 5;  // more registers
    CHECK(switchyard_probe(&device) == SWITCHYARD_OK);
    chip.registers[SWITCHYARD_VERSION_OFFSET] = SWITCHYARD_VERSION_RESET + (1u << SWITCHYARD_VERSION_MAJOR_SHIFT);
    CHECK(switchyard_probe(&device) == SWITCHYARD_OTHER_REGISTERS);
    chip.registers[SWITCHYARD_ID_OFFSET] = 0xFFFFFFFF;
    CHECK(switchyard_probe(&device) == SWITCHYARD_NO_DEVICE);
}

TEST_CASE("every bit of an image that is wrong is found before the chip sees it", "[driver]") {
    const std::vector<std::uint8_t> good = encode(small_image());
    REQUIRE(switchyard_check_image(good.data(), good.size()) == SWITCHYARD_OK);
    FakeChip chip;
    switchyard_device device = chip.device();

    // Padding between sections is covered by no checksum: the chip finds it, as decode_image() does.
    std::vector<bool> covered(good.size(), false);
    std::fill(covered.begin(), covered.begin() + 64, true);
    for (const ImageSection& section : read_section_table(good, "image")) {
        const auto begin = static_cast<std::ptrdiff_t>(section.offset);
        std::fill(covered.begin() + begin, covered.begin() + begin + static_cast<std::ptrdiff_t>(section.size), true);
    }
    std::size_t refused = 0;
    for (std::size_t byte = 0; byte < good.size(); ++byte) {
        if (!covered[byte]) continue;
        std::vector<std::uint8_t> bad = good;
        bad[byte] ^= static_cast<std::uint8_t>(1u << (byte % 8));
        const switchyard_result wanted = byte < 4   ? SWITCHYARD_IMAGE_MALFORMED
                                         : byte < 6 ? SWITCHYARD_IMAGE_VERSION
                                                    : SWITCHYARD_IMAGE_CHECKSUM;
        INFO(byte);
        CHECK(switchyard_load_image(&device, bad.data(), bad.size()) == wanted);
        ++refused;
    }
    CHECK(refused > 500);
    for (std::size_t size = 0; size < good.size(); ++size) {
        INFO(size);
        CHECK(switchyard_load_image(&device, good.data(), size) == SWITCHYARD_IMAGE_TRUNCATED);
    }
    std::vector<std::uint8_t> longer = good;
    longer.push_back(0);
    CHECK(switchyard_load_image(&device, longer.data(), longer.size()) == SWITCHYARD_IMAGE_MALFORMED);
    CHECK(switchyard_load_image(&device, good.data(), SWITCHYARD_IMAGE_WINDOW_BYTES + 1) == SWITCHYARD_IMAGE_TOO_LARGE);
    CHECK(chip.writes.empty());
}

TEST_CASE("a section table that points outside of the image is refused, whatever its checksum", "[driver]") {
    std::vector<std::uint8_t> image = encode(small_image());
    const auto crc = [&image](std::size_t at, std::size_t begin, std::size_t end) {
        boost::crc_32_type sum;
        sum.process_bytes(image.data() + begin, end - begin);
        const std::uint32_t value = sum.checksum();
        std::memcpy(image.data() + at, &value, 4);
    };
    const std::size_t sections = read_section_table(image, "image").size(), table_end = 64 + sections * 32;
    const std::vector<std::uint8_t> good = image;
    for (const std::size_t field : {8u, 16u}) {  // offset and size of the first section: 2^64 - 1
        image = good;
        std::fill_n(image.begin() + 64 + static_cast<std::ptrdiff_t>(field), 8, 0xFF);
        crc(28, 64, table_end);
        crc(60, 0, 60);
        CHECK(switchyard_check_image(image.data(), image.size()) == SWITCHYARD_IMAGE_MALFORMED);
    }
    image = good;
    std::fill_n(image.begin() + 24, 4, 0xFF);  // number of sections
    crc(60, 0, 60);
    CHECK(switchyard_check_image(image.data(), image.size()) == SWITCHYARD_IMAGE_MALFORMED);
}

TEST_CASE("an image goes through the window word by word or in bursts, then it is committed", "[driver]") {
    const std::vector<std::uint8_t> image = encode(small_image());
    for (const bool blocks : {false, true}) {
        FakeChip chip;
        load_at_once(chip);
        switchyard_device device = chip.device(10, blocks);
        CHECK(switchyard_load_image(&device, image.data(), image.size()) == SWITCHYARD_OK);
        for (std::size_t i = 0; i < image.size(); ++i) {
            const std::uint32_t word = chip.registers[SWITCHYARD_IMAGE_WINDOW + static_cast<std::uint32_t>(i / 4 * 4)];
            if (static_cast<std::uint8_t>(word >> (8 * (i % 4))) != image[i]) FAIL("byte " << i);
        }
        CHECK(chip.written(SWITCHYARD_IMAGE_BYTES_OFFSET) ==
              std::vector<std::uint32_t>{static_cast<std::uint32_t>(image.size())});
        CHECK(chip.written(SWITCHYARD_CONTROL_OFFSET) == std::vector<std::uint32_t>{SWITCHYARD_CONTROL_COMMIT_IMAGE});
        std::vector<std::size_t> bursts;
        for (std::size_t done = 0; blocks && done < image.size(); done += 4096)
            bursts.push_back(std::min<std::size_t>(4096, image.size() - done));
        CHECK(chip.bursts == bursts);
    }
}

TEST_CASE("the check of an image may be left to the chip", "[driver]") {
    std::vector<std::uint8_t> image = encode(small_image());
    image[100] ^= 1;
    FakeChip chip;
    chip.on_write = [&chip](std::uint32_t offset, std::uint32_t) {
        if (offset == SWITCHYARD_CONTROL_OFFSET) chip.fail(SWITCHYARD_ERROR_IMAGE_CHECKSUM, 0);
    };
    switchyard_device device = chip.device();
    CHECK(switchyard_load_unchecked_image(&device, image.data(), image.size()) == SWITCHYARD_CHIP_ERROR);
    CHECK(device.error == SWITCHYARD_ERROR_IMAGE_CHECKSUM);
    CHECK(chip.written(SWITCHYARD_CONTROL_OFFSET) == std::vector<std::uint32_t>{SWITCHYARD_CONTROL_COMMIT_IMAGE});
    const std::size_t writes = chip.writes.size();
    chip.registers[SWITCHYARD_IMAGE_CAPACITY_OFFSET] = static_cast<std::uint32_t>(image.size() - 1);
    CHECK(switchyard_load_unchecked_image(&device, image.data(), image.size()) == SWITCHYARD_IMAGE_TOO_LARGE);
    CHECK(chip.writes.size() == writes);
}

TEST_CASE("what the chip refuses comes back as its code", "[driver]") {
    const std::vector<std::uint8_t> image = encode(small_image());
    FakeChip chip;
    chip.on_write = [&chip](std::uint32_t offset, std::uint32_t) {
        if (offset == SWITCHYARD_CONTROL_OFFSET) chip.fail(SWITCHYARD_ERROR_IMAGE_PLATFORM, 0xABCD);
    };
    switchyard_device device = chip.device();
    CHECK(switchyard_load_image(&device, image.data(), image.size()) == SWITCHYARD_CHIP_ERROR);
    CHECK(device.error == SWITCHYARD_ERROR_IMAGE_PLATFORM);
    CHECK(device.error_info == 0xABCD);
    CHECK(chip.registers[SWITCHYARD_IRQ_STATUS_OFFSET] == 0);  // acknowledged

    chip.on_write = [&chip](std::uint32_t offset, std::uint32_t) {
        if (offset == SWITCHYARD_DOORBELL_OFFSET) chip.fail(SWITCHYARD_ERROR_NOT_LOADED, 0);
    };
    CHECK(switchyard_queue_batch(&device, 0) == SWITCHYARD_OK);
    CHECK(switchyard_wait_batch(&device, nullptr) == SWITCHYARD_CHIP_ERROR);
    CHECK(device.error == SWITCHYARD_ERROR_NOT_LOADED);
    CHECK(switchyard_wait_batch(&device, nullptr) == SWITCHYARD_QUEUE_EMPTY);  // it will never finish
}

TEST_CASE("every call that waits gives up in time", "[driver]") {
    const std::vector<std::uint8_t> image = encode(small_image());
    for (const bool interrupts : {false, true}) {
        FakeChip chip;
        chip.line_stays_low = true;
        switchyard_device device = chip.device(25, false, interrupts);
        std::uint32_t records = 0;
        CHECK(switchyard_load_image(&device, image.data(), image.size()) == SWITCHYARD_TIMED_OUT);
        CHECK(chip.irq_reads == (interrupts ? 0u : 25u));
        CHECK(switchyard_dma(&device, 1, 2, 3, SWITCHYARD_DMA_CONTROL_TO_CHIP) == SWITCHYARD_TIMED_OUT);
        CHECK(switchyard_fetch_profile(&device, 0, &records) == SWITCHYARD_TIMED_OUT);
        CHECK(switchyard_queue_batch(&device, 0) == SWITCHYARD_OK);
        CHECK(switchyard_wait_batch(&device, nullptr) == SWITCHYARD_TIMED_OUT);
        chip.registers[SWITCHYARD_STATUS_OFFSET] = SWITCHYARD_STATUS_LOADED;
        CHECK(switchyard_forget_image(&device) == SWITCHYARD_TIMED_OUT);
        CHECK(chip.interrupt_waits == (interrupts ? 5u : 0u));

        // Too late is not lost: the batch is still there.
        chip.line_stays_low = false;
        chip.raise(SWITCHYARD_IRQ_STATUS_BATCH_DONE);
        switchyard_batch done{};
        CHECK(switchyard_wait_batch(&device, &done) == SWITCHYARD_OK);
        CHECK(done.cycles == 0x1'FFFF'FFFF);
    }
    // A line that is stuck high, or other interrupts without end.
    FakeChip chip;
    chip.on_irq_read = [&chip] { chip.raise(SWITCHYARD_IRQ_STATUS_PROFILE_READY); };
    switchyard_device device = chip.device(25, false, true);
    CHECK(switchyard_wait_dma(&device) == SWITCHYARD_TIMED_OUT);
    CHECK(chip.irq_reads == 25);
}

TEST_CASE("batches wait in the queue, and one is started as soon as the one before is known to be done", "[driver]") {
    FakeChip chip;
    switchyard_device device = chip.device();
    for (std::uint32_t batch = 0; batch < SWITCHYARD_QUEUE_BATCHES; ++batch)
        CHECK(switchyard_queue_batch(&device, 10 + batch) == SWITCHYARD_OK);
    CHECK(switchyard_queue_batch(&device, 99) == SWITCHYARD_QUEUE_FULL);
    CHECK(chip.written(SWITCHYARD_DOORBELL_OFFSET) == std::vector<std::uint32_t>{10});
    const std::vector<std::uint8_t> image = encode(small_image());
    CHECK(switchyard_load_image(&device, image.data(), image.size()) == SWITCHYARD_UNFINISHED);

    // The first batch finishes while a transfer is waited for.
    chip.raise(SWITCHYARD_IRQ_STATUS_BATCH_DONE | SWITCHYARD_IRQ_STATUS_DMA_DONE);
    CHECK(switchyard_wait_dma(&device) == SWITCHYARD_OK);
    CHECK(chip.written(SWITCHYARD_DOORBELL_OFFSET) == std::vector<std::uint32_t>{10, 11});
    chip.on_irq_read = [&chip] { chip.raise(SWITCHYARD_IRQ_STATUS_BATCH_DONE); };
    const unsigned reads = chip.irq_reads;
    for (std::uint32_t batch = 0; batch < SWITCHYARD_QUEUE_BATCHES; ++batch) {
        switchyard_batch done{};
        CHECK(switchyard_wait_batch(&device, &done) == SWITCHYARD_OK);
        CHECK(done.batch == 10 + batch);
        CHECK(done.cycles == 0x1'FFFF'FFFF);
        if (batch == 0) CHECK(chip.irq_reads == reads);  // known already
    }
    CHECK(switchyard_wait_batch(&device, nullptr) == SWITCHYARD_QUEUE_EMPTY);
    CHECK(chip.written(SWITCHYARD_DOORBELL_OFFSET) == std::vector<std::uint32_t>{10, 11, 12, 13, 14, 15, 16, 17});
    CHECK(switchyard_queue_batch(&device, 30) == SWITCHYARD_OK);  // the ring goes round
    CHECK(chip.written(SWITCHYARD_DOORBELL_OFFSET).back() == 30);
}

TEST_CASE("a transfer is described before it is started", "[driver]") {
    FakeChip chip;
    chip.on_write = [&chip](std::uint32_t offset, std::uint32_t) {
        if (offset == SWITCHYARD_DMA_CONTROL_OFFSET) chip.raise(SWITCHYARD_IRQ_STATUS_DMA_DONE);
    };
    switchyard_device device = chip.device();
    CHECK(switchyard_dma(&device, 0x1122334455667788, 0x99AABBCCDDEEFF00, 4096, SWITCHYARD_DMA_CONTROL_FROM_CHIP) ==
          SWITCHYARD_OK);
    CHECK(chip.writes == std::vector<Access>{{SWITCHYARD_DMA_HOST_LOW_OFFSET, 0x55667788},
                                             {SWITCHYARD_DMA_HOST_HIGH_OFFSET, 0x11223344},
                                             {SWITCHYARD_DMA_CHIP_LOW_OFFSET, 0xDDEEFF00},
                                             {SWITCHYARD_DMA_CHIP_HIGH_OFFSET, 0x99AABBCC},
                                             {SWITCHYARD_DMA_BYTES_OFFSET, 4096},
                                             {SWITCHYARD_DMA_CONTROL_OFFSET, SWITCHYARD_DMA_CONTROL_FROM_CHIP},
                                             {SWITCHYARD_IRQ_STATUS_OFFSET, SWITCHYARD_IRQ_STATUS_DMA_DONE}});
}

TEST_CASE("a list of transfers is little-endian and started like one transfer", "[driver]") {
    FakeChip chip;
    chip.on_write = [&chip](std::uint32_t offset, std::uint32_t) {
        if (offset == SWITCHYARD_DMA_CONTROL_OFFSET) chip.raise(SWITCHYARD_IRQ_STATUS_DMA_DONE);
    };
    std::vector<std::uint8_t> descriptor(SWITCHYARD_DESCRIPTOR_BYTES, 0xEE);
    switchyard_put_descriptor(descriptor.data(), 0x1122334455667788, 0x99AABBCCDDEEFF00, 0x01020304,
                              SWITCHYARD_DMA_CONTROL_FROM_CHIP);
    CHECK(descriptor == std::vector<std::uint8_t>{0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11,  // host
                                                  0x00, 0xFF, 0xEE, 0xDD, 0xCC, 0xBB, 0xAA, 0x99,  // chip
                                                  4,    3,    2,    1,    2,    0,    0,    0,     // bytes, control
                                                  0,    0,    0,    0,    0,    0,    0,    0});   // reserved
    switchyard_device device = chip.device();
    switchyard_start_dma_list(&device, 0x1122334455667788, 3);
    CHECK(switchyard_wait_dma(&device) == SWITCHYARD_OK);
    CHECK(chip.written(SWITCHYARD_DMA_HOST_LOW_OFFSET) == std::vector<std::uint32_t>{0x55667788});
    CHECK(chip.written(SWITCHYARD_DMA_HOST_HIGH_OFFSET) == std::vector<std::uint32_t>{0x11223344});
    CHECK(chip.written(SWITCHYARD_DMA_BYTES_OFFSET) == std::vector<std::uint32_t>{96});
    CHECK(chip.written(SWITCHYARD_DMA_CONTROL_OFFSET) == std::vector<std::uint32_t>{SWITCHYARD_DMA_CONTROL_LIST});
}

TEST_CASE("a profile is fetched, then read by words or in one burst", "[driver]") {
    for (const bool blocks : {false, true}) {
        FakeChip chip;
        chip.on_write = [&chip](std::uint32_t offset, std::uint32_t tile) {
            if (offset != SWITCHYARD_PROFILE_TILE_OFFSET) return;
            chip.registers[SWITCHYARD_PROFILE_RECORDS_OFFSET] = tile;
            chip.raise(SWITCHYARD_IRQ_STATUS_PROFILE_READY);
        };
        switchyard_device device = chip.device(10, blocks);
        std::uint32_t count = 0;
        CHECK(switchyard_fetch_profile(&device, 2, &count) == SWITCHYARD_OK);
        REQUIRE(count == 2);
        switchyard_profile_record records[2] = {};
        switchyard_read_profile(&device, 0, records, 2);
        CHECK(records[0].op == 1);
        CHECK(records[0].dyn_dim == 2);
        CHECK(records[0].invocations == 77);
        CHECK(records[1].dyn_dim == 0xFFFF);
        CHECK(records[1].invocations == 0xFFFFFFFF);
        switchyard_read_profile(&device, 1, records, 1);
        CHECK(records[0].op == 3);
    }
}

TEST_CASE("every result has a text", "[driver]") {
    for (int result = SWITCHYARD_OK; result <= SWITCHYARD_IMAGE_MALFORMED; ++result)
        CHECK(std::string(switchyard_result_text(static_cast<switchyard_result>(result))) != "unknown");
    CHECK(std::string(switchyard_result_text(static_cast<switchyard_result>(99))) == "unknown");
}

TEST_CASE("transfers of any number go list after list", "[driver]") {
    FakeChip chip;
    chip.on_write = [&chip](std::uint32_t offset, std::uint32_t) {
        if (offset == SWITCHYARD_DMA_CONTROL_OFFSET) chip.raise(SWITCHYARD_IRQ_STATUS_DMA_DONE);
    };
    switchyard_device device = chip.device();
    constexpr std::uint32_t kMax = SWITCHYARD_LIST_DESCRIPTORS, kBytes = SWITCHYARD_DESCRIPTOR_BYTES;
    CHECK(switchyard_dma_list(&device, 0xFFFF'0000, 2 * kMax + 3) == SWITCHYARD_OK);
    CHECK(chip.written(SWITCHYARD_DMA_BYTES_OFFSET) ==
          std::vector<std::uint32_t>{kMax * kBytes, kMax * kBytes, 3 * kBytes});
    CHECK(chip.written(SWITCHYARD_DMA_HOST_LOW_OFFSET) ==
          std::vector<std::uint32_t>{0xFFFF'0000, 0x000F'0000, 0x001F'0000});
    CHECK(chip.written(SWITCHYARD_DMA_HOST_HIGH_OFFSET) == std::vector<std::uint32_t>{0, 1, 1});
    chip.writes.clear();
    CHECK(switchyard_dma_list(&device, 0, 0) == SWITCHYARD_OK);
    CHECK(chip.writes.empty());

    chip.on_write = [&chip](std::uint32_t offset, std::uint32_t) {
        if (offset == SWITCHYARD_DMA_CONTROL_OFFSET) chip.fail(SWITCHYARD_ERROR_DMA_REQUEST, 7);
    };
    CHECK(switchyard_dma_list(&device, 0, kMax + 1) == SWITCHYARD_CHIP_ERROR);
    CHECK(chip.written(SWITCHYARD_DMA_CONTROL_OFFSET).size() == 1);  // the second list is not started
}
