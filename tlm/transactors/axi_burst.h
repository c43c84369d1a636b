// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "switchyard/tlm/transactors/axi_signals.h"

namespace switchyard {

/// What an address channel carries, and the arithmetic of its beats (ARM IHI 0022H A3.4.1).
struct AxiBurst {
    std::uint64_t address = 0;
    unsigned id = 0, length = 0, size = 0, type = 1;

    /// AXI4-Lite: one full-width beat, whatever the wires carry that it does not have.
    static AxiBurst from(const AxiSignals::Address& channel, const AxiConfig& config) {
        if (config.lite) return {channel.address.read(), 0, 0, config.full_size()};
        return {channel.address.read(), channel.id.read(), channel.length.read(), channel.size.read(),
                channel.burst.read()};
    }
    void drive(AxiSignals::Address& channel) const {
        channel.address.write(address);
        channel.id.write(id);
        channel.length.write(length);
        channel.size.write(size);
        channel.burst.write(type);
    }
    bool operator==(const AxiBurst& o) const {
        return address == o.address && id == o.id && length == o.length && size == o.size && type == o.type;
    }

    unsigned beats() const { return length + 1; }
    std::uint64_t beat_bytes() const { return std::uint64_t{1} << size; }
    std::uint64_t bytes() const { return beats() * beat_bytes(); }
    bool is(AxiBurstType t) const { return type == static_cast<unsigned>(t); }

    /// First byte of a beat. The first beat of an unaligned burst is short, the others are aligned.
    std::uint64_t beat_address(unsigned beat) const {
        const std::uint64_t aligned = address & ~(beat_bytes() - 1);
        if (beat == 0 || is(AxiBurstType::fixed)) return address;
        if (!is(AxiBurstType::wrap)) return aligned + beat * beat_bytes();
        return lowest() + (address - lowest() + beat * beat_bytes()) % bytes();
    }
    /// One past the last byte of a beat.
    std::uint64_t beat_end(unsigned beat) const { return (beat_address(beat) & ~(beat_bytes() - 1)) + beat_bytes(); }
    /// Bytes that an INCR or WRAP burst touches: [lowest, highest).
    std::uint64_t lowest() const { return is(AxiBurstType::wrap) ? address / bytes() * bytes() : address; }
    std::uint64_t highest() const {
        return is(AxiBurstType::wrap) ? lowest() + bytes() : (address & ~(beat_bytes() - 1)) + bytes();
    }
};

}  // namespace switchyard
