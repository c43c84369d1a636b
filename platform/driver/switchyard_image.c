/* Checks a kernel image before the chip sees it; docs/image_format.md is the format. */
#include "switchyard_driver.h"

#include "switchyard_registers.h"

enum {
    HEADER_BYTES = 64,
    ENTRY_BYTES = 32,
    VERSION = 3,
    VERSION_OFFSET = 4,
    FILE_BYTES_OFFSET = 8,
    SECTIONS_OFFSET = 24,
    TABLE_CRC_OFFSET = 28,
    HEADER_CRC_OFFSET = 60,
    SECTION_OFFSET = 8, /* in an entry of the table */
    SECTION_BYTES = 16,
    SECTION_CRC = 24
};

#define MAGIC 0x4B495953u

static uint32_t word_at(const uint8_t* bytes) {
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static uint64_t pair_at(const uint8_t* bytes) {
    return word_at(bytes) | (uint64_t)word_at(bytes + 4) << 32;
}

/* CRC-32/ISO-HDLC, four bits at a time. */
static uint32_t crc32(const uint8_t* bytes, size_t size) {
    static const uint32_t table[16] = {0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4,
                                       0x4DB26158, 0x5005713C, 0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C,
                                       0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C};
    uint32_t crc = 0xFFFFFFFF;
    size_t i;
    for (i = 0; i < size; ++i) {
        crc ^= bytes[i];
        crc = crc >> 4 ^ table[crc & 15u];
        crc = crc >> 4 ^ table[crc & 15u];
    }
    return ~crc;
}

switchyard_result switchyard_check_image(const void* image, size_t bytes) {
    const uint8_t* const file = (const uint8_t*)image;
    uint32_t sections, i;
    if (bytes > SWITCHYARD_IMAGE_WINDOW_BYTES) return SWITCHYARD_IMAGE_TOO_LARGE;
    if (bytes < HEADER_BYTES) return SWITCHYARD_IMAGE_TRUNCATED;
    if (word_at(file) != MAGIC) return SWITCHYARD_IMAGE_MALFORMED;
    if ((word_at(file + VERSION_OFFSET) & 0xFFFFu) != VERSION) return SWITCHYARD_IMAGE_VERSION;
    if (word_at(file + HEADER_CRC_OFFSET) != crc32(file, HEADER_CRC_OFFSET)) return SWITCHYARD_IMAGE_CHECKSUM;
    if (pair_at(file + FILE_BYTES_OFFSET) > bytes) return SWITCHYARD_IMAGE_TRUNCATED;
    if (pair_at(file + FILE_BYTES_OFFSET) != bytes) return SWITCHYARD_IMAGE_MALFORMED;
    sections = word_at(file + SECTIONS_OFFSET);
    if (sections > (bytes - HEADER_BYTES) / ENTRY_BYTES) return SWITCHYARD_IMAGE_MALFORMED;
    if (word_at(file + TABLE_CRC_OFFSET) != crc32(file + HEADER_BYTES, (size_t)sections * ENTRY_BYTES))
        return SWITCHYARD_IMAGE_CHECKSUM;
    for (i = 0; i < sections; ++i) {
        const uint8_t* const entry = file + HEADER_BYTES + (size_t)i * ENTRY_BYTES;
        const uint64_t offset = pair_at(entry + SECTION_OFFSET), size = pair_at(entry + SECTION_BYTES);
        if (offset > bytes || size > bytes - offset) return SWITCHYARD_IMAGE_MALFORMED;
        if (word_at(entry + SECTION_CRC) != crc32(file + offset, (size_t)size)) return SWITCHYARD_IMAGE_CHECKSUM;
    }
    return SWITCHYARD_OK;
}
