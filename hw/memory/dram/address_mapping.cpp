// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/memory/dram/address_mapping.h"

#include <vector>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/plain_number.h"

namespace switchyard::hw::dram {

namespace {

const std::array<const char*, 6> kFieldNames{"channel", "pseudochannel", "bankgroup", "bank", "row", "column"};

unsigned bits_of(unsigned size) {
    unsigned bits = 0;
    while ((1u << bits) < size) ++bits;
    return bits;
}

struct Token {
    unsigned field = 0;
    int bits = -1;  ///< not said
};

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts;
    std::size_t begin = 0;
    for (std::size_t at = text.find('-'); at != std::string::npos; at = text.find('-', begin)) {
        parts.push_back(text.substr(begin, at - begin));
        begin = at + 1;
    }
    parts.push_back(text.substr(begin));
    return parts;
}

/// "" or what is wrong with a piece of the text.
std::string read_token(const std::string& part, Token& token) {
    const std::size_t colon = part.find(':');
    const std::string name = part.substr(0, colon);
    while (token.field < kFieldNames.size() && name != kFieldNames[token.field]) ++token.field;
    if (token.field == kFieldNames.size())
        return fmt::format("expected a field of {}, found \"{}\"", fmt::join(kFieldNames, ", "), name);
    if (colon == std::string::npos) return "";
    if (parse_plain_number(part.substr(colon + 1), token.bits) != Parsed::ok || token.bits < 1 || token.bits > 32)
        return fmt::format("expected 1 to 32 bits behind the colon, found \"{}\"", part);
    return "";
}

}  // namespace

std::string AddressMapping::parse(const std::string& text, const Geometry& g) {
    const std::array<unsigned, kFields> wanted{bits_of(g.channels),    bits_of(g.pseudo_channels),
                                               bits_of(g.bank_groups), bits_of(g.banks_per_group),
                                               bits_of(g.rows),        bits_of(g.bursts_per_row)};
    std::array<int, kFields> said{}, open{}, times{};
    std::vector<Token> tokens;
    for (const std::string& part : split(text)) {
        Token token;
        if (std::string message = read_token(part, token); !message.empty()) return message;
        ++times[token.field];
        if (token.bits < 0)
            ++open[token.field];
        else
            said[token.field] += token.bits;
        tokens.push_back(token);
    }
    if (tokens.size() > kMaxPieces)
        return fmt::format("expected at most {} pieces, found {}", kMaxPieces, tokens.size());
    for (unsigned field = 0; field < kFields; ++field) {
        const int bits = static_cast<int>(wanted[field]);
        const char* const name = kFieldNames[field];
        if (open[field] > 1)
            return fmt::format("field {}: expected one piece without a number of bits, found {}", name, open[field]);
        if (times[field] == 0 && bits > 0) return fmt::format("field {}: expected {} bits, found none", name, bits);
        if (said[field] > bits || (open[field] == 0 && said[field] < bits))
            return fmt::format("field {}: expected {} bits, found {}", name, bits, said[field]);
    }
    unsigned address_shift = bits_of(g.burst_bytes);
    std::array<unsigned, kFields> placed{};
    for (auto token = tokens.rbegin(); token != tokens.rend(); ++token) {
        const unsigned field = token->field;
        const unsigned bits =
            token->bits >= 0 ? static_cast<unsigned>(token->bits) : wanted[field] - static_cast<unsigned>(said[field]);
        if (bits == 0) continue;
        Piece& piece = piece_[pieces_++];
        piece.field = static_cast<std::uint8_t>(field);
        piece.address_shift = static_cast<std::uint8_t>(address_shift);
        piece.field_shift = static_cast<std::uint8_t>(placed[field]);
        piece.mask = bits == 32 ? ~0u : (1u << bits) - 1;
        address_shift += bits;
        placed[field] += bits;
    }
    return "";
}

AddressMapping::AddressMapping(const std::string& text, const Geometry& geometry) : geometry_(geometry) {
    if (const std::string message = parse(text, geometry); !message.empty())
        throw InputError("", 0, "mapping", text + ": " + message);
    burst_shift_ = bits_of(geometry.burst_bytes);
    for (unsigned i = 0; i < pieces_; ++i)
        if (piece_[i].field == 0)
            channel_bits_ |= std::uint64_t{piece_[i].mask} << (piece_[i].address_shift - burst_shift_);
    for (std::uint64_t burst = 0; burst < kBlock; ++burst) in_block_[burst] = place_of(burst);
}

std::string AddressMapping::validation_error(const std::string& text, const Geometry& geometry) {
    AddressMapping mapping;
    return mapping.parse(text, geometry);
}

std::uint64_t AddressMapping::address_of(const Location& l) const {
    const std::array<std::uint32_t, kFields> fields{l.channel, l.pseudo_channel, l.bank_group, l.bank, l.row, l.column};
    std::uint64_t address = 0;
    for (unsigned i = 0; i < pieces_; ++i) {
        const Piece& p = piece_[i];
        address |= static_cast<std::uint64_t>((fields[p.field] >> p.field_shift) & p.mask) << p.address_shift;
    }
    return address;
}

}  // namespace switchyard::hw::dram
