// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <boost/crc.hpp>

#include "small_image.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using switchyard::testing::error_of;
using switchyard::testing::small_image;
using switchyard::testing::TemporaryFile;

namespace {

using Bytes = std::vector<std::uint8_t>;

std::string image_error(const Bytes& bytes) {
    return error_of([&] { decode_image(bytes, "net.syk"); });
}

std::uint64_t number_at(const Bytes& bytes, std::size_t at, std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = size; i-- > 0;) value = value << 8 | bytes[at + i];
    return value;
}

void put_crc(Bytes& bytes, std::size_t begin, std::size_t size, std::size_t at) {
    boost::crc_32_type crc;
    crc.process_bytes(bytes.data() + begin, size);
    for (int i = 0; i < 4; ++i) bytes[at + i] = static_cast<std::uint8_t>(crc.checksum() >> 8 * i);
}

/// Makes header and section table valid again after a change to either.
void seal(Bytes& bytes) {
    put_crc(bytes, 64, std::min<std::size_t>(32 * number_at(bytes, 24, 4), bytes.size() - 64), 28);
    put_crc(bytes, 0, 60, 60);
}

}  // namespace

TEST_CASE("images survive a round trip", "[image]") {
    const Bytes bytes = encode(small_image());
    const Image image = decode_image(bytes, "net.syk");
    CHECK(encode(image) == bytes);
    CHECK(image.platform_fingerprint == 0x0123456789ABCDEF);
    CHECK(image.meta.model == "tiny \"net\"");
    CHECK(image.meta.operators.at(2).switch_name == "gate");
    CHECK(image.meta.operators.at(2).parameters == "block");
    CHECK(image.meta.operators.at(2).weight_scale == 0.5);
    CHECK(image.meta.samples_per_input == 4);
    CHECK(image.meta.operators.at(2).norm_parameters == "block.norm");
    CHECK(image.meta.operators.at(2).position_parameters == "pos");
    CHECK(image.meta.operators.at(2).expert == 2);
    CHECK(image.meta.operators.at(2).heads == 3);
    CHECK(image.meta.operators.at(1).expert == -1);
    CHECK(image.meta.operators.at(0).segment == kNone);
    CHECK(image.meta.switches.at(1).parent_branch == 1);
    CHECK(image.meta.switches.at(0).exclusive);
    CHECK(image.meta.tensors.at(0).piece_bytes == std::vector<std::uint64_t>{1536, 1536});
    CHECK(image.meta.routing_yaml == "switches: {}\n");
    CHECK(image.tiles.at(1).kernels.size() == 4);

    const TemporaryFile file;
    write_image(image, file.path());
    CHECK(encode(read_image(file.path())) == bytes);
}

TEST_CASE("an image is laid out as documented", "[image]") {
    const Bytes bytes = encode(small_image());
    CHECK(std::string(bytes.begin(), bytes.begin() + 4) == "SYIK");
    CHECK(number_at(bytes, 4, 2) == kImageVersion);
    CHECK(number_at(bytes, 6, 2) == 64);
    CHECK(number_at(bytes, 8, 8) == bytes.size());
    CHECK(number_at(bytes, 16, 8) == 0x0123456789ABCDEF);
    CHECK(number_at(bytes, 24, 4) == 6);

    const std::vector<ImageSection> sections = read_section_table(bytes, "net.syk");
    REQUIRE(sections.size() == 6);
    const std::vector<std::pair<SectionKind, std::uint32_t>> order{{SectionKind::meta, 0}, {SectionKind::chip, 0},
                                                                   {SectionKind::tile, 0}, {SectionKind::kernels, 0},
                                                                   {SectionKind::tile, 1}, {SectionKind::kernels, 1}};
    for (std::size_t i = 0; i < sections.size(); ++i) {
        CHECK(std::make_pair(sections[i].kind, sections[i].index) == order[i]);
        CHECK(sections[i].offset % 16 == 0);
        const std::size_t entry = 64 + 32 * i;
        CHECK(number_at(bytes, entry, 4) == static_cast<std::uint32_t>(sections[i].kind));
        CHECK(number_at(bytes, entry + 4, 4) == sections[i].index);
        CHECK(number_at(bytes, entry + 8, 8) == sections[i].offset);
        CHECK(number_at(bytes, entry + 16, 8) == sections[i].size);
        CHECK(number_at(bytes, entry + 24, 4) == sections[i].crc32);
        CHECK(number_at(bytes, entry + 28, 4) == 0);
    }
    CHECK(sections[3].size == 2 * 128);
    CHECK(sections[5].size == 4 * 128);
    CHECK(bytes[sections[0].offset] == '{');
}

TEST_CASE("an image cut off anywhere names the section", "[image]") {
    const Bytes bytes = encode(small_image());
    const std::vector<ImageSection> sections = read_section_table(bytes, "net.syk");
    const auto cut_at = [&bytes](std::size_t size) { return image_error({bytes.begin(), bytes.begin() + size}); };
    for (std::size_t size = 0; size < bytes.size(); ++size) CHECK_THAT(cut_at(size), StartsWith("net.syk: "));

    const std::string total = std::to_string(bytes.size());
    CHECK(cut_at(0) == "net.syk: header (offset 0): expected 64 bytes, found the end of the file after 0");
    CHECK(cut_at(63) == "net.syk: header (offset 0): expected 64 bytes, found the end of the file after 63");
    CHECK(cut_at(100) ==
          "net.syk: section table (offset 64): expected " + total + " bytes, found the end of the file after 100");
    const char* const names[] = {"meta", "chip", "tile 0", "tile 0 kernels", "tile 1", "tile 1 kernels"};
    for (std::size_t i = 0; i < sections.size(); ++i) {
        for (const std::uint64_t at : {sections[i].offset, sections[i].offset + sections[i].size - 1}) {
            CHECK(cut_at(at) == "net.syk: " + std::string(names[i]) + " (offset " + std::to_string(sections[i].offset) +
                                    "): expected " + total + " bytes, found the end of the file after " +
                                    std::to_string(at));
        }
    }
    Bytes longer = bytes;
    longer.push_back(0);
    CHECK(image_error(longer) == "net.syk: end (offset " + total + "): expected the end of the file here, found " +
                                     total + " bytes in the header and " + std::to_string(bytes.size() + 1) +
                                     " in the file");
}

TEST_CASE("every flipped bit of an image is noticed", "[image]") {
    const Bytes good = encode(small_image());
    const std::vector<ImageSection> sections = read_section_table(good, "net.syk");
    Bytes bytes = good;
    std::size_t missed = 0;
    for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
        bytes[bit / 8] ^= 1U << bit % 8;
        missed += image_error(bytes).compare(0, 9, "net.syk: ") != 0;
        bytes[bit / 8] ^= 1U << bit % 8;
    }
    CHECK(missed == 0);

    bytes[sections[4].offset] ^= 1;
    CHECK_THAT(image_error(bytes), StartsWith("net.syk: tile 1 (offset " + std::to_string(sections[4].offset) +
                                              "): expected bytes with the stored CRC-32 "));
    bytes = good;
    const std::size_t padding = sections[1].offset - 1;
    REQUIRE(sections[0].offset + sections[0].size <= padding);
    bytes[padding] = 1;
    CHECK(image_error(bytes) == "net.syk: chip (offset " + std::to_string(sections[1].offset) +
                                    "): expected a padding before the section of zeros, found 0x01");
}

TEST_CASE("other versions and other files are told apart", "[image]") {
    Bytes bytes = encode(small_image());
    const auto fault_of = [](const Bytes& image) {
        try {
            decode_image(image, "net.syk");
        } catch (const ImageError& error) {
            return error.fault();
        }
        return ImageFault::malformed;
    };
    CHECK(fault_of({bytes.begin(), bytes.begin() + 10}) == ImageFault::truncated);
    CHECK(fault_of({bytes.begin(), bytes.begin() + 100}) == ImageFault::truncated);
    CHECK(fault_of({bytes.begin(), bytes.end() - 1}) == ImageFault::truncated);
    for (const std::size_t at : {std::size_t{20}, std::size_t{80}, bytes.size() - 1}) {
        Bytes flipped = bytes;
        flipped[at] ^= 1;
        CHECK(fault_of(flipped) == ImageFault::checksum);
    }
    bytes[4] = 6;
    CHECK(fault_of(bytes) == ImageFault::version);
    const std::string other =
        "net.syk: header (offset 0): expected version 5, found version 6; compile the image again";
    CHECK(image_error(bytes) == other);
    seal(bytes);
    CHECK(image_error(bytes) == other);
    bytes[0] = 'X';
    CHECK(
        image_error(bytes) ==
        "net.syk: header (offset 0): expected a kernel image with the magic number 0x4b495953, found 0x4b495958; give "
        "an image that sy-sched has compiled");
    CHECK(error_of([] { read_image("/nowhere/net.syk"); }) ==
          "/nowhere/net.syk: cannot be read: No such file or directory");
    CHECK(error_of([] { read_image("/tmp"); }) == "/tmp: expected a file, found a directory");
    CHECK(error_of([] { write_image(small_image(), "/nowhere/net.syk"); }) ==
          "/nowhere/net.syk: cannot be written: No such file or directory");
}

TEST_CASE("valid checksums do not excuse a wrong layout", "[image]") {
    const Bytes good = encode(small_image());
    const auto error_with = [&good](std::size_t at, std::uint8_t value) {
        Bytes bytes = good;
        bytes[at] = value;
        seal(bytes);
        return image_error(bytes);
    };
    const std::string meta = "net.syk: meta (offset 256): ", table = "net.syk: section table (offset 64): ";
    CHECK(error_with(6, 65) == "net.syk: header (offset 0): expected 64 as the size of the header, found 65");
    for (std::size_t at = 32; at < 60; ++at)
        CHECK(error_with(at, 1) == "net.syk: header (offset 0): expected a reserved field of zeros, found 0x01");
    CHECK(error_with(64, 9) == table + "offset 0: expected a known code, found 9");
    CHECK(error_with(64 + 28, 1) == table + "offset 28: expected 0 in the reserved field, found 1");
    CHECK(error_with(64, 2) ==
          "net.syk: chip (offset 256): expected section meta with index 0, found chip with index 0");
    CHECK(error_with(64 + 4, 1) == meta + "expected section meta with index 0, found meta with index 1");
    CHECK(error_with(24, 5) == "net.syk: section table: expected meta, chip and two sections a tile, found 5 sections");
    CHECK_THAT(error_with(64 + 8, 16),
               Catch::Matchers::EndsWith(" at offset 272") && ContainsSubstring(" bytes at offset 256, found "));
    CHECK_THAT(error_with(64 + 22, 1), ContainsSubstring(", found 28147"));  // 2^48 bytes and the section's own
    CHECK_THAT(error_with(27, 1), ContainsSubstring(" bytes, found the end of the file after "));
}

TEST_CASE("corrupt sections behind valid checksums throw InputError and nothing else", "[image]") {
    const Bytes good = encode(small_image());
    const std::vector<ImageSection> sections = read_section_table(good, "net.syk");
    Bytes bytes = good;
    std::size_t refused = 0, tried = 0;
    for (std::size_t i = 0; i < sections.size(); ++i) {
        const ImageSection& section = sections[i];
        for (std::size_t at = section.offset; at < section.offset + section.size; ++at) {
            for (const std::uint8_t flip : {0x01, 0x80, 0xFF}) {
                bytes[at] ^= flip;
                put_crc(bytes, section.offset, section.size, 64 + 32 * i + 24);
                seal(bytes);
                refused += !image_error(bytes).empty();
                ++tried;
                bytes[at] ^= flip;
            }
        }
        bytes = good;
    }
    CHECK(refused > 0);
    CHECK(refused < tried);
}
