// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "switchyard/hw/memory/dram/device.h"

namespace switchyard::hw::dram {

/// Where a burst lies.
struct Location {
    std::uint32_t channel = 0;
    std::uint32_t pseudo_channel = 0;  ///< of the channel
    std::uint32_t bank_group = 0;      ///< of the pseudo-channel
    std::uint32_t bank = 0;            ///< of the bank group
    std::uint32_t row = 0;
    std::uint32_t column = 0;  ///< burst of the row

    friend Location operator|(const Location& a, const Location& b) {
        return {a.channel | b.channel,
                a.pseudo_channel | b.pseudo_channel,
                a.bank_group | b.bank_group,
                a.bank | b.bank,
                a.row | b.row,
                a.column | b.column};
    }
};

/// Cuts addresses into the fields of a Location. The text names the fields from the highest address bits to the lowest,
/// joined by '-': "row-bankgroup-bank-pseudochannel-column-channel". Below them lie the bytes of a burst. A field may
/// come in several pieces, "column:3-channel-column:2", the earlier piece having its higher bits; a piece without a
/// number takes what the others leave. Each field must get the bits that the geometry gives it.
class AddressMapping {
public:
    /// Throws InputError with that error.
    AddressMapping(const std::string& text, const Geometry& geometry);

    /// "" or what is wrong with the text.
    static std::string validation_error(const std::string& text, const Geometry& geometry);

    /// Bits beyond the device's size are left out.
    Location locate(std::uint64_t address) const {
        std::array<std::uint32_t, kFields> fields{};
        for (unsigned i = 0; i < pieces_; ++i) {
            const Piece& p = piece_[i];
            fields[p.field] |= (static_cast<std::uint32_t>(address >> p.address_shift) & p.mask) << p.field_shift;
        }
        return {fields[0], fields[1], fields[2], fields[3], fields[4], fields[5]};
    }
    /// Calls visit(location) for `bursts` successive bursts; `first`: number of the first one.
    template <class Visit>
    void for_each(std::uint64_t first, std::uint64_t bursts, Visit&& visit) const {
        // Each bit of an address is a bit of one field: those of the low bits are the same in each block of addresses.
        const std::uint64_t end = first + bursts;
        while (first < end) {
            const Location block = locate(first / kBlock * kBlock << burst_shift_);
            const std::uint64_t block_end = std::min(end, (first / kBlock + 1) * kBlock);
            for (; first < block_end; ++first) visit(block | in_block_[first % kBlock]);
        }
    }
    /// The address of the first byte of a burst.
    std::uint64_t address_of(const Location& location) const;

private:
    static constexpr unsigned kFields = 6, kMaxPieces = 32, kBlock = 64;
    struct Piece {
        std::uint8_t field = 0, address_shift = 0, field_shift = 0;
        std::uint32_t mask = 0;
    };

    /// Fills piece_; "" or what is wrong.
    std::string parse(const std::string& text, const Geometry& geometry);
    AddressMapping() = default;

    std::array<Piece, kMaxPieces> piece_{};
    unsigned pieces_ = 0;
    unsigned burst_shift_ = 0;
    std::array<Location, kBlock> in_block_{};  ///< of the first bursts
};

}  // namespace switchyard::hw::dram
