// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "switchyard/testbenches/integration/vp/elf_file.h"
#include "switchyard/testbenches/integration/vp/rv32_core.h"

namespace switchyard::testing {

/// Memory without time for a core by itself; bus errors everywhere else.
class FlatMemory : public Rv32Memory {
public:
    FlatMemory(std::uint32_t base, std::size_t bytes) : base_(base), bytes_(bytes) {}

    void put(const ElfFile& elf) {
        for (const ElfFile::Segment& segment : elf.segments)
            std::memcpy(&bytes_.at(segment.address - base_), segment.bytes.data(), segment.bytes.size());
    }
    void put(std::uint32_t address, const std::string& data) {
        std::memcpy(&bytes_.at(address - base_), data.data(), data.size());
    }
    std::uint32_t word(std::uint32_t address) const {
        std::uint32_t value = 0;
        std::memcpy(&value, &bytes_.at(address - base_), sizeof value);
        return value;
    }

    bool fetch(std::uint32_t address, std::uint32_t& instruction) override { return load(address, 4, instruction); }
    bool load(std::uint32_t address, unsigned bytes, std::uint32_t& value) override {
        if (!inside(address, bytes)) return false;
        value = 0;
        std::memcpy(&value, &bytes_[address - base_], bytes);
        return true;
    }
    bool store(std::uint32_t address, unsigned bytes, std::uint32_t value) override {
        if (!inside(address, bytes)) return false;
        std::memcpy(&bytes_[address - base_], &value, bytes);
        return true;
    }

private:
    bool inside(std::uint32_t address, unsigned bytes) const {
        return address >= base_ && address - base_ <= bytes_.size() - bytes;
    }

    std::uint32_t base_;
    std::vector<std::uint8_t> bytes_;
};

}  // namespace switchyard::testing
