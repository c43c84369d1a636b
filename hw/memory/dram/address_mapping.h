// SPDX-License-Identifier: Apache-2.0
#pragma once

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
};

/// Where a burst lies in its channel, in one word: the ranges of a geometry's keys fit.
class Place {
public:
    Place() = default;
    Place(const Location& at, const Geometry& geometry)
        : bits_(std::uint64_t{at.row} << kRowShift | std::uint64_t{at.column} << kColumnShift |
                at.pseudo_channel << kPseudoChannelShift | (at.bank_group * geometry.banks_per_group + at.bank)) {}

    unsigned pseudo_channel() const { return bits_ >> kPseudoChannelShift & (kMaxPseudoChannels - 1); }
    unsigned bank() const { return bits_ & (kMaxBanks - 1); }  ///< of the pseudo-channel
    std::uint32_t row() const { return static_cast<std::uint32_t>(bits_ >> kRowShift); }
    std::uint32_t column() const { return static_cast<std::uint16_t>(bits_ >> kColumnShift); }
    /// Of places that have no bit in common.
    friend Place operator|(Place a, Place b) {
        a.bits_ |= b.bits_;
        return a;
    }

private:
    static constexpr unsigned kPseudoChannelShift = 8, kColumnShift = 16, kRowShift = 32;
    static_assert(kMaxBanks <= 1u << kPseudoChannelShift &&
                  kMaxPseudoChannels <= 1u << (kColumnShift - kPseudoChannelShift));
    std::uint64_t bits_ = 0;
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
    /// The number of the burst that has this byte.
    std::uint64_t burst_of(std::uint64_t address) const { return address >> burst_shift_; }
    /// `burst`: its number.
    unsigned channel_of(std::uint64_t burst) const { return locate(burst << burst_shift_).channel; }
    /// The bits of a burst's number that are the channel's.
    std::uint64_t channel_bits() const { return channel_bits_; }

    /// Where bursts lie, asked for in the order of their numbers. What the bursts of a block share is worked out once.
    class Walk {
    public:
        /// The mapping must live longer.
        explicit Walk(const AddressMapping& mapping) : mapping_(mapping) {}
        Place at(std::uint64_t burst) {
            // Each bit of an address is a bit of one field: those of the low bits are the same in each block of bursts.
            if (burst / kBlock != block_number_) {
                block_number_ = burst / kBlock;
                block_ = mapping_.place_of(block_number_ * kBlock);
            }
            return block_ | mapping_.in_block_[burst % kBlock];
        }

    private:
        const AddressMapping& mapping_;
        std::uint64_t block_number_ = ~std::uint64_t{0};
        Place block_;
    };
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
    Place place_of(std::uint64_t burst) const { return {locate(burst << burst_shift_), geometry_}; }
    AddressMapping() = default;

    std::array<Piece, kMaxPieces> piece_{};
    unsigned pieces_ = 0;
    unsigned burst_shift_ = 0;
    std::uint64_t channel_bits_ = 0;
    Geometry geometry_;
    std::array<Place, kBlock> in_block_{};  ///< of the first bursts
};

}  // namespace switchyard::hw::dram
