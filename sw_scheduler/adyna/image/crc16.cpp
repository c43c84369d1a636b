// SPDX-License-Identifier: Apache-2.0
// Slicing by eight (Kounavis and Berry, "A Systematic Approach to Building High Performance Software-based CRC
// Generators", ISCC 2005): eight lookups a step, which do not wait for each other. An image has a checksum for each of
// its thousands of kernels, and boost/crc.hpp looks up one byte after the other.
#include "switchyard/sw_scheduler/adyna/image/crc16.h"

#include <array>

namespace switchyard {

namespace {

constexpr std::uint16_t kPolynomial = 0x1021;
constexpr std::size_t kStep = 8;
/// [z][byte]: what a byte adds that z bytes follow.
using Tables = std::array<std::array<std::uint16_t, 256>, kStep>;

constexpr Tables make_tables() {
    Tables tables{};
    for (unsigned byte = 0; byte < 256; ++byte) {
        unsigned crc = byte << 8;
        for (unsigned i = 0; i < 8; ++i) crc = crc << 1 ^ ((crc & 0x8000) != 0 ? kPolynomial : 0);
        tables[0][byte] = static_cast<std::uint16_t>(crc);
    }
    for (std::size_t z = 1; z < kStep; ++z) {
        for (unsigned byte = 0; byte < 256; ++byte) {
            const unsigned before = tables[z - 1][byte];
            tables[z][byte] = static_cast<std::uint16_t>(before << 8 ^ tables[0][before >> 8]);
        }
    }
    return tables;
}

constexpr Tables kTables = make_tables();

}  // namespace

std::uint16_t crc16_of(const std::uint8_t* bytes, std::size_t size) {
    unsigned crc = 0xFFFF;
    for (; size >= kStep; size -= kStep, bytes += kStep) {
        unsigned next = kTables[7][crc >> 8 ^ bytes[0]] ^ kTables[6][(crc & 0xFF) ^ bytes[1]];
        for (std::size_t i = 2; i < kStep; ++i) next ^= kTables[kStep - 1 - i][bytes[i]];
        crc = next;
    }
    for (; size > 0; --size, ++bytes) crc = (crc << 8 & 0xFFFF) ^ kTables[0][crc >> 8 ^ *bytes];
    return static_cast<std::uint16_t>(crc);
}

}  // namespace switchyard
