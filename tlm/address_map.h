// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace switchyard {

/// Ranges of addresses and the target behind each. Ranges may leave holes, but never overlap.
class AddressMap {
public:
    struct Range {
        std::string name;
        std::uint64_t begin = 0, bytes = 0;
        unsigned target = 0;

        std::uint64_t last() const { return begin + (bytes - 1); }
        bool contains(std::uint64_t address) const { return address >= begin && address - begin < bytes; }
    };

    /// Throws InputError, naming the range (and the one in its way), if it is empty, runs past the end of the address
    /// space or overlaps another.
    void add(Range range);

    /// The range that holds all of [address, address + bytes), or null: a hole, or more than one range.
    const Range* find(std::uint64_t address, std::uint64_t bytes = 1) const;
    /// Where `address` is, for a message: "0x2000 is in 'sram' [0x1000, 0x2fff]" or "0x3000 is in a hole after ...".
    std::string describe(std::uint64_t address) const;
    /// Sorted by address.
    const std::vector<Range>& ranges() const { return ranges_; }

private:
    std::vector<Range> ranges_;
};

}  // namespace switchyard
