// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace switchyard::testing {

/// What a 32-bit RISC-V executable wants in memory.
struct ElfFile {
    struct Segment {
        std::uint32_t address = 0;
        std::vector<std::uint8_t> bytes;  ///< zeros behind the file's included
    };
    std::uint32_t entry = 0;
    std::vector<Segment> segments;
    std::map<std::string, std::uint32_t> symbols;
};

/// Throws std::runtime_error with the path if it cannot be read or is something else.
ElfFile read_elf(const std::string& path);

}  // namespace switchyard::testing
