// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/image/image.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/adyna/image/image_check.h"
#include "switchyard/sw_scheduler/adyna/image/image_file.h"
#include "switchyard/sw_scheduler/adyna/image/image_meta.h"
#include "switchyard/sw_scheduler/base/bytes.h"
#include "switchyard/sw_scheduler/base/crc32.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/base/input_file.h"
#include "switchyard/sw_scheduler/base/rounding.h"

namespace switchyard {

// Outside the unnamed namespace, where argument-dependent lookup finds it.
template <class Archive>
void transfer(Archive& archive, typename Archive::template Record<ImageSection> section) {
    archive.enumeration(section.kind, SectionKind::kernels);
    archive(section.index, section.offset, section.size, section.crc32);
}

namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kHeaderBytes = 64, kEntryBytes = 32, kAlignment = 16;
constexpr std::uint32_t kEntryReserved = 0;
constexpr std::size_t kHeaderReserved = 28, kHeaderCrcOffset = kHeaderBytes - 4;

std::size_t aligned(std::size_t offset) {
    return round_up(offset, kAlignment);
}

std::string section_name(SectionKind kind, std::uint32_t index) {
    switch (kind) {
        case SectionKind::meta:
            return "meta";
        case SectionKind::chip:
            return "chip";
        case SectionKind::tile:
            return fmt::format("tile {}", index);
        case SectionKind::kernels:
            return fmt::format("tile {} kernels", index);
    }
    return fmt::format("kind {}", static_cast<std::uint32_t>(kind));
}

std::string located(const ImageSection& section) {
    return fmt::format("{} (offset {})", section_name(section.kind, section.index), section.offset);
}

/// What stands at place `position` of the section table: meta, chip, then a tile and its kernels for each tile.
std::pair<SectionKind, std::uint32_t> expected_section(std::uint32_t position) {
    if (position == 0) return {SectionKind::meta, 0};
    if (position == 1) return {SectionKind::chip, 0};
    return {position % 2 == 0 ? SectionKind::tile : SectionKind::kernels, position / 2 - 1};
}

/// Header behind magic, version and its own size.
struct Header {
    std::uint64_t file_bytes = 0, platform_fingerprint = 0;
    std::uint32_t sections = 0, table_crc = 0;
};

template <class Archive>
void transfer(Archive& archive, typename Archive::template Record<Header> header) {
    archive(header.file_bytes, header.platform_fingerprint, header.sections, header.table_crc);
}

[[noreturn]] void fail(const std::string& source, const std::string& place, const std::string& message,
                       ImageFault fault = ImageFault::malformed) {
    throw ImageError(fault, source, place, message);
}

void check_crc(const std::string& source, const std::string& place, std::uint32_t stored, std::uint32_t computed) {
    if (computed != stored)
        fail(source, place,
             fmt::format("expected bytes with the stored CRC-32 {:08x}, found {:08x}; compile the image again", stored,
                         computed),
             ImageFault::checksum);
}

void check_zeros(const std::string& source, const std::string& place, const char* what, const std::uint8_t* bytes,
                 std::size_t size) {
    const std::uint8_t* const found = std::find_if(bytes, bytes + size, [](std::uint8_t byte) { return byte != 0; });
    if (found != bytes + size) fail(source, place, fmt::format("expected {} of zeros, found {:#04x}", what, *found));
}

[[noreturn]] void fail_truncated(const std::string& source, const std::string& place, std::uint64_t expected,
                                 std::uint64_t found) {
    fail(source, place, fmt::format("expected {} bytes, found the end of the file after {}", expected, found),
         ImageFault::truncated);
}

Header read_header(const Bytes& bytes, const std::string& source) {
    const std::string place = "header (offset 0)";
    if (bytes.size() < kHeaderBytes)
        fail(source, place,
             fmt::format("expected {} bytes, found the end of the file after {}", kHeaderBytes, bytes.size()),
             ImageFault::truncated);
    ByteReader reader(bytes.data(), kHeaderBytes);
    if (const auto magic = reader.get<std::uint32_t>(); magic != kImageMagic)
        fail(source, place,
             fmt::format("expected a kernel image with the magic number {:#010x}, found {:#010x}; give an image that "
                         "sy-sched has compiled",
                         kImageMagic, magic));
    // Before the checksum: another version may have another header.
    const auto version = reader.get<std::uint16_t>();
    if (version != kImageVersion)
        fail(source, place,
             fmt::format("expected version {}, found version {}; compile the image again", kImageVersion, version),
             ImageFault::version);
    const auto header_bytes = reader.get<std::uint16_t>();
    Header header;
    reader(header);
    const std::uint8_t* reserved = reader.take(kHeaderReserved);
    check_crc(source, place, reader.get<std::uint32_t>(), crc32_of(bytes.data(), kHeaderCrcOffset));
    if (header_bytes != kHeaderBytes)
        fail(source, place, fmt::format("expected {} as the size of the header, found {}", kHeaderBytes, header_bytes));
    check_zeros(source, place, "a reserved field", reserved, kHeaderReserved);
    return header;
}

/// Sections stand in a fixed order, each at the first aligned offset behind the one before, padded with zeros.
void check_layout(const Bytes& bytes, const Header& header, const std::vector<ImageSection>& sections,
                  const std::string& source) {
    if (sections.size() < 2 || sections.size() % 2 != 0)
        fail(source, "section table",
             fmt::format("expected meta, chip and two sections a tile, found {} sections", sections.size()));
    std::uint64_t end = kHeaderBytes + sections.size() * kEntryBytes;
    for (std::uint32_t position = 0; position < sections.size(); ++position) {
        const ImageSection& section = sections[position];
        const auto [kind, index] = expected_section(position);
        if (section.kind != kind || section.index != index)
            fail(source, located(section),
                 fmt::format("expected section {} with index {}, found {} with index {}", section_name(kind, index),
                             index, section_name(section.kind, section.index), section.index));
        const std::uint64_t begin = aligned(end);
        const std::uint64_t room = header.file_bytes - std::min(begin, header.file_bytes);
        if (section.offset != begin || section.size > room)
            fail(source, located(section),
                 fmt::format("expected at most {} bytes at offset {}, found {} at offset {}", room, begin, section.size,
                             section.offset));
        if (section.offset + section.size > bytes.size())
            fail_truncated(source, located(section), header.file_bytes, bytes.size());
        check_zeros(source, located(section), "a padding before the section", bytes.data() + end, begin - end);
        end = section.offset + section.size;
    }
    if (end != header.file_bytes || end != bytes.size())
        fail(source, fmt::format("end (offset {})", end),
             fmt::format("expected the end of the file here, found {} bytes in the header and {} in the file",
                         header.file_bytes, bytes.size()));
}

/// Runs `decode` and words its errors with the section.
template <class Decode>
auto decode_section(const ImageSection& section, const std::string& source, Decode decode) {
    try {
        return decode();
    } catch (const InputError& error) {
        fail(source, located(section), error.what());
    }
}

std::vector<Kernel> decode_kernels(const std::uint8_t* bytes, std::size_t size) {
    if (size % kKernelBytes != 0)
        throw InputError(fmt::format("expected whole kernels of {} bytes, found {} bytes", kKernelBytes, size));
    std::vector<Kernel> kernels;
    for (std::size_t at = 0; at < size; at += kKernelBytes) {
        try {
            kernels.push_back(decode_kernel(bytes + at));
        } catch (const InputError& error) {
            throw InputError(fmt::format("offset {}: {}", at, error.what()));
        }
    }
    return kernels;
}

Bytes encode_kernels(const std::vector<Kernel>& kernels) {
    Bytes bytes;
    bytes.reserve(kernels.size() * kKernelBytes);
    for (const Kernel& kernel : kernels) {
        const KernelBytes one = encode(kernel);
        bytes.insert(bytes.end(), one.begin(), one.end());
    }
    return bytes;
}

}  // namespace

Bytes encode(const Image& image) {
    const std::string meta = meta_to_json(image.meta);
    std::vector<Bytes> contents{Bytes(meta.begin(), meta.end()), encode(image.chip)};
    for (const TileProgram& program : image.tiles) {
        TileProgram without_kernels = program;
        without_kernels.kernels.clear();
        contents.push_back(encode(without_kernels));
        contents.push_back(encode_kernels(program.kernels));
    }

    ByteWriter table;
    std::size_t end = kHeaderBytes + contents.size() * kEntryBytes;
    for (std::uint32_t position = 0; position < contents.size(); ++position) {
        const auto [kind, index] = expected_section(position);
        const Bytes& content = contents[position];
        const std::size_t begin = aligned(end);
        table(ImageSection{kind, index, begin, content.size(), crc32_of(content.data(), content.size())},
              kEntryReserved);
        end = begin + content.size();
    }
    const Bytes table_bytes = table.take();

    ByteWriter header;
    header(kImageMagic, kImageVersion, static_cast<std::uint16_t>(kHeaderBytes));
    header(Header{end, image.platform_fingerprint, static_cast<std::uint32_t>(contents.size()),
                  crc32_of(table_bytes.data(), table_bytes.size())});
    Bytes bytes = header.take();
    bytes.resize(kHeaderCrcOffset);
    ByteWriter header_crc;
    header_crc(crc32_of(bytes.data(), bytes.size()));
    const Bytes crc_bytes = header_crc.take();
    bytes.insert(bytes.end(), crc_bytes.begin(), crc_bytes.end());
    bytes.insert(bytes.end(), table_bytes.begin(), table_bytes.end());
    for (const Bytes& content : contents) {
        bytes.resize(aligned(bytes.size()));
        bytes.insert(bytes.end(), content.begin(), content.end());
    }
    return bytes;
}

std::vector<ImageSection> read_section_table(const Bytes& bytes, const std::string& source) {
    const Header header = read_header(bytes, source);
    const std::string place = fmt::format("section table (offset {})", kHeaderBytes);
    const std::uint64_t size = std::uint64_t{header.sections} * kEntryBytes;
    if (size > bytes.size() - kHeaderBytes) fail_truncated(source, place, header.file_bytes, bytes.size());
    check_crc(source, place, header.table_crc, crc32_of(bytes.data() + kHeaderBytes, size));
    std::vector<ImageSection> sections(header.sections);
    try {
        ByteReader reader(bytes.data() + kHeaderBytes, size);
        for (ImageSection& section : sections) {
            reader(section);
            if (const auto reserved = reader.get<std::uint32_t>(); reserved != kEntryReserved)
                reader.fail(fmt::format("expected {} in the reserved field, found {}", kEntryReserved, reserved));
        }
    } catch (const InputError& error) {
        fail(source, place, error.what());
    }
    check_layout(bytes, header, sections, source);
    return sections;
}

Image decode_image(const Bytes& bytes, const std::string& source) {
    const std::vector<ImageSection> sections = read_section_table(bytes, source);
    for (const ImageSection& section : sections)
        check_crc(source, located(section), section.crc32, crc32_of(bytes.data() + section.offset, section.size));

    const auto decode = [&](std::size_t position, auto decoder) {
        const ImageSection& section = sections[position];
        return decode_section(section, source, [&] { return decoder(bytes.data() + section.offset, section.size); });
    };
    Image image;
    image.platform_fingerprint = read_header(bytes, source).platform_fingerprint;
    image.meta = decode(0, meta_from_json);
    image.chip = decode(1, decode_chip_program);
    for (std::size_t position = 2; position < sections.size(); position += 2) {
        TileProgram program = decode(position, decode_tile_program);
        if (!program.kernels.empty())
            fail(source, located(sections[position]),
                 fmt::format("expected kernels in a section of their own, found {} here", program.kernels.size()));
        program.kernels = decode(position + 1, decode_kernels);
        image.tiles.push_back(std::move(program));
    }
    check_image(image, source, [&sections](std::size_t tile) { return located(sections[2 + 2 * tile]); });
    return image;
}

void write_image(const Image& image, const std::string& path) {
    const Bytes bytes = encode(image);
    write_file({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

std::vector<std::uint8_t> read_image_bytes(const std::string& path) {
    InputFile file(path);
    Bytes bytes(kHeaderBytes);
    bytes.resize(file.read(bytes.data(), bytes.size()));
    const std::uint64_t size = read_header(bytes, path).file_bytes;
    if (size > kMaxImageBytes)
        fail(path, "header (offset 0)",
             fmt::format("expected an image of at most {} bytes, found {}", kMaxImageBytes, size));
    const std::string rest = file.rest(size - std::min<std::uint64_t>(size, bytes.size()));
    bytes.insert(bytes.end(), rest.begin(), rest.end());
    return bytes;
}

Image read_image(const std::string& path) {
    return decode_image(read_image_bytes(path), path);
}

}  // namespace switchyard
