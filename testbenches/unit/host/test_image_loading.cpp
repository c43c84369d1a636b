// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "switchyard/testbenches/unit/host/host_rig.h"

using namespace switchyard;
using namespace switchyard::testing;
using Catch::Matchers::ContainsSubstring;
using regs::ErrorCode;

namespace {

/// A driver that commits `bytes` and expects `code`.
void expect_error(const std::vector<std::uint8_t>& bytes, ErrorCode code, const std::string& text) {
    HostRig rig;
    rig.run([&](HostRig& r) {
        r.put_image(bytes);
        CHECK(r.commit() == regs::kIrqError);
        CHECK(r.read(regs::kError) == static_cast<std::uint32_t>(code));
        CHECK(r.read(regs::kStatus) == regs::kFailed);
        CHECK_THAT(r.error_text(), ContainsSubstring(text));
        CHECK(r.error_text().find('\n') == std::string::npos);
        r.write(regs::kDoorbell, 0);
        CHECK(r.read(regs::kError) == static_cast<std::uint32_t>(ErrorCode::not_loaded));
    });
    CHECK(rig.chip.programs.empty());
    CHECK(rig.chip.starts.empty());
}

}  // namespace

TEST_CASE("a good image reaches its tiles, byte by byte or in one burst", "[host]") {
    for (const unsigned burst : {1u, 7u, 64u, 1u << 20}) {
        in_child([&] {
            hw::HostInterface::Config config;
            config.config_packet_bytes = 256;
            HostRig rig(config);
            rig.run([&](HostRig& r) {
                r.put_image(encode(host_image()), burst);
                CHECK(r.commit() == regs::kIrqLoaded);
                CHECK(r.read(regs::kStatus) == regs::kLoaded);
                CHECK(r.read(regs::kError) == 0);
            });
            const Image image = host_image();
            REQUIRE(rig.chip.programs.size() == 2);  // nothing for the idle tile
            for (const Endpoint tile : {0, 1}) CHECK(encode(rig.chip.programs[tile]) == encode(image.tiles[tile]));
            for (const std::uint32_t size : rig.chip.config_sizes) CHECK(size <= 256);
            const std::uint64_t sent =
                std::accumulate(rig.chip.config_sizes.begin(), rig.chip.config_sizes.end(), std::uint64_t{0});
            CHECK(sent == encode(image.tiles[0]).size() + encode(image.tiles[1]).size());
            CHECK(rig.registry.sum("rig.host", "config_bytes") == Approx(double(sent + 2 * 4)));
            CHECK(rig.registry.sum("rig.host", "images_loaded") == 1);
            CHECK(rig.registry.waits().empty());
        });
    }
}

TEST_CASE("an image that is cut off anywhere is refused", "[host]") {
    const std::vector<std::uint8_t> image = encode(host_image());
    std::vector<std::size_t> cuts{0, 5, 63, image.size() - 1};
    for (const ImageSection& section : read_section_table(image, "image")) {
        cuts.push_back(section.offset);
        cuts.push_back(section.offset + section.size / 2);
    }
    for (const std::size_t cut : cuts) {
        if (cut == image.size()) continue;  // an empty last section
        INFO("cut at " << cut);
        in_child([&] {
            expect_error({image.begin(), image.begin() + static_cast<std::ptrdiff_t>(cut)}, ErrorCode::image_truncated,
                         "found the end of the file after ");
        });
    }
}

TEST_CASE("an image with a flipped bit in any section is refused", "[host]") {
    const std::vector<std::uint8_t> image = encode(host_image());
    for (const ImageSection& section : read_section_table(image, "image")) {
        if (section.size == 0) continue;
        INFO("section at " << section.offset);
        in_child([&] {
            std::vector<std::uint8_t> flipped = image;
            flipped[section.offset + section.size / 2] ^= 0x10;
            expect_error(flipped, ErrorCode::image_checksum, "expected bytes with the stored CRC-32 ");
        });
    }
}

SIM_TEST("an image of another version is refused", "[host]") {
    std::vector<std::uint8_t> image = encode(host_image());
    image[4] = 9;
    expect_error(image, ErrorCode::image_version, "found version 9");
}

SIM_TEST("an image for another platform is refused", "[host]") {
    Image image = host_image();
    image.platform_fingerprint ^= 1;
    expect_error(encode(image), ErrorCode::image_platform, "'mini'");
}

SIM_TEST("something that is no image is refused", "[host]") {
    expect_error(std::vector<std::uint8_t>(1000, 0x5A), ErrorCode::image_malformed, "expected a kernel image");
}

SIM_TEST("an image with a program for a tile that the chip lacks is refused", "[host]") {
    Image image = host_image();
    for (std::uint16_t tile = 3; tile < 5; ++tile) {
        image.tiles.emplace_back();
        image.tiles.back().tile = tile;
    }
    expect_error(encode(image), ErrorCode::image_tile, "expected programs of the chip's 3 tiles, found one of tile 4");
}

SIM_TEST("an image larger than the window is refused", "[host]") {
    HostRig rig;
    rig.run([](HostRig& r) {
        r.write(regs::kImageBytes, 0x7FFFFFFF);
        CHECK(r.commit() == regs::kIrqError);
        CHECK(r.read(regs::kError) == static_cast<std::uint32_t>(ErrorCode::image_too_large));
        CHECK(r.read(regs::kErrorInfo) == 0x7FFFFFFF);
    });
}

SIM_TEST("the window has as many bytes as the platform says", "[host]") {
    const std::vector<std::uint8_t> image = encode(host_image());
    hw::HostInterface::Config config;
    config.image_window_bytes = 4096;
    HostRig rig(config);
    rig.run([&image](HostRig& r) {
        unsigned char word[4] = {};
        CHECK(r.read(regs::kImageCapacity) == 4096);
        CHECK(r.access(::tlm::TLM_WRITE_COMMAND, regs::kImageWindow + 4092, word, 4) == ::tlm::TLM_OK_RESPONSE);
        CHECK(r.access(::tlm::TLM_WRITE_COMMAND, regs::kImageWindow + 4096, word, 4) ==
              ::tlm::TLM_ADDRESS_ERROR_RESPONSE);
        r.write(regs::kImageBytes, 4097);
        CHECK(r.commit() == regs::kIrqError);
        CHECK(r.read(regs::kError) == static_cast<std::uint32_t>(ErrorCode::image_too_large));
        CHECK(r.read(regs::kErrorInfo) == 4097);
        CHECK(r.error_text() == "expected an image of at most the 4096 bytes of the window, found 4097");
    });
}

SIM_TEST("a tile that rejects its program fails the load, and a second load works", "[host]") {
    HostRig rig;
    rig.chip.rejecting = {1};
    rig.run([](HostRig& r) {
        r.put_image(encode(host_image()));
        CHECK(r.commit() == regs::kIrqError);
        CHECK(r.read(regs::kError) == static_cast<std::uint32_t>(ErrorCode::tile_rejected));
        CHECK(r.read(regs::kErrorInfo) == 1);
        CHECK((r.read(regs::kStatus) & regs::kLoaded) == 0);
        r.chip.rejecting.clear();
        CHECK(r.commit() == regs::kIrqLoaded);
        CHECK(r.read(regs::kStatus) == regs::kLoaded);
        CHECK(r.read(regs::kError) == 0);
        CHECK(r.error_text().empty());
    });
}

SIM_TEST("a tile that never answers is named", "[host]") {
    HostRig rig;
    rig.chip.silent = {1};
    rig.run([](HostRig& r) {
        r.put_image(encode(host_image()));
        r.write(regs::kControl, regs::kCommitImage);
        CHECK(r.read(regs::kStatus) == regs::kLoading);
        r.write(regs::kControl, regs::kCommitImage);
        CHECK(r.read(regs::kError) == static_cast<std::uint32_t>(ErrorCode::busy));
    });
    CHECK(rig.registry.waits() == std::vector<std::string>{"rig.host waits for program_ready from tiles 1"});
}

SIM_TEST("a reset forgets the image", "[host]") {
    HostRig rig;
    rig.run([](HostRig& r) {
        r.load(host_image());
        r.write(regs::kControl, regs::kResetImage);
        CHECK(r.read(regs::kStatus) == 0);
        CHECK(r.read(regs::kImageBytes) == 0);
        r.write(regs::kDoorbell, 0);
        CHECK(r.read(regs::kError) == static_cast<std::uint32_t>(ErrorCode::not_loaded));
    });
}
