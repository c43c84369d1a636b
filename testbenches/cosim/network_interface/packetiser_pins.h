// SPDX-License-Identifier: Apache-2.0
#pragma once

// Only for the tests that include Verilated classes.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>

#include <fmt/format.h>

#include "switchyard/hw/noc/traffic.h"
#include "switchyard/rtl/common/clocked_model.h"

namespace switchyard::testing {

/// rtl/network_interface/packetiser.sv with flits of 8 bytes, headers of 4 and two VCs of 8 flits, at its pins: out of
/// reset, with one long packet on `vc` whose words are always there.
template <class Top>
class PacketiserPins : private rtl::ClockedModel<Top> {
    using rtl::ClockedModel<Top>::top_;

public:
    static constexpr unsigned kVcs = 2, kDepth = 8, kFlitBytes = 8, kHeaderBytes = 4;

    explicit PacketiserPins(unsigned vc) : vc_(static_cast<std::uint8_t>(vc)) { this->reset(); }

    /// One cycle. Whether a flit has left.
    bool cycle(bool credit_valid) {
        top_.packet_valid_i = 1;
        top_.packet_bytes_i = 4000 * kFlitBytes - kHeaderBytes;
        top_.packet_vc_i = vc_;
        top_.word_valid_i = 1;
        top_.credit_valid_i = credit_valid;
        top_.credit_vc_i = vc_;
        this->settle();
        const bool sent = top_.flit_valid_o;
        this->clock();
        return sent;
    }
    /// Flits in `cycles` of which each one's credit comes `latency` cycles behind it, 1 or more.
    unsigned send(unsigned cycles, unsigned latency) {
        unsigned flits = 0;
        for (unsigned i = 0; i < cycles; ++i, ++now_) {
            const bool due = !due_.empty() && due_.front() == now_;
            if (due) due_.pop_front();
            if (!cycle(due)) continue;
            ++flits;
            due_.push_back(now_ + latency);
        }
        return flits;
    }

private:
    std::uint8_t vc_;
    std::deque<std::uint64_t> due_;
    std::uint64_t now_ = 0;
};

/// The same block, a packet after another with the next one, and its words, always at the ports.
template <class Top>
class PacketStream : private rtl::ClockedModel<Top> {
    using rtl::ClockedModel<Top>::top_;

public:
    PacketStream() { this->reset(); }

    /// "" if packets of 0 to 59 bytes leave as their header, their bytes and zeros, a flit in each cycle, and take no
    /// word too many.
    std::string difference(std::uint64_t seed) {
        hw::SplitMix64 random(seed);
        top_.packet_valid_i = 1;
        top_.word_valid_i = 1;
        for (unsigned bytes = 0; bytes < 60; ++bytes) {
            const auto header = static_cast<std::uint32_t>(random());
            top_.packet_header_i = header;
            top_.packet_bytes_i = static_cast<std::uint16_t>(bytes);
            top_.packet_vc_i = bytes % 2;
            top_.credit_valid_i = 0;
            this->settle();
            if (!top_.packet_ready_o || top_.flit_valid_o) return fmt::format("{} bytes: the packet waits", bytes);
            this->clock();
            // The next packet stands at the port meanwhile.
            top_.packet_header_i = ~header;
            top_.packet_bytes_i = static_cast<std::uint16_t>(bytes + 100);
            top_.packet_vc_i = (bytes + 1) % 2;
            std::string sent, expected(reinterpret_cast<const char*>(&header), sizeof header);
            unsigned words = 0, flits = 0;
            for (bool tail = false; !tail; ++flits) {
                const std::uint64_t offered = random();
                top_.word_i = offered;
                top_.credit_valid_i = flits > 0;
                top_.credit_vc_i = bytes % 2;
                this->settle();
                if (top_.packet_ready_o) return fmt::format("{} bytes: takes two packets", bytes);
                if (!top_.flit_valid_o) return fmt::format("{} bytes: flit {} waits", bytes, flits);
                if (top_.flit_head_o != (flits == 0) || top_.flit_vc_o != bytes % 2)
                    return fmt::format("{} bytes: flit {} is marked wrongly", bytes, flits);
                const std::uint64_t flit = top_.flit_o;
                sent.append(reinterpret_cast<const char*>(&flit), sizeof flit);
                if (top_.word_ready_o) {
                    expected.append(reinterpret_cast<const char*>(&offered), sizeof offered);
                    ++words;
                }
                tail = top_.flit_tail_o;
                if (flits > bytes) return fmt::format("{} bytes: no end", bytes);
                this->clock();
            }
            // The credit of the last flit.
            expected.resize(sizeof header + bytes);
            expected.resize(sent.size());
            if (words != (bytes + 7) / 8) return fmt::format("{} bytes: takes {} words", bytes, words);
            if (sent != expected || flits != (bytes + 4 + 7) / 8) return fmt::format("{} bytes: wrong flits", bytes);
            returned(bytes % 2);
        }
        return "";
    }

private:
    void returned(unsigned vc) {
        top_.packet_valid_i = 0;
        top_.credit_valid_i = 1;
        top_.credit_vc_i = static_cast<std::uint8_t>(vc);
        this->settle();
        this->clock();
        top_.packet_valid_i = 1;
    }
};

/// "" if each VC sends as many flits as the router has slots before any credit, one more for each credit, and a flit
/// in each cycle as long as no credit takes longer than the slots last.
template <class Top>
std::string packetiser_throughput() {
    using Pins = PacketiserPins<Top>;
    for (unsigned vc = 0; vc < Pins::kVcs; ++vc) {
        Pins stalled(vc);
        unsigned flits = 0;
        for (unsigned i = 0; i < 4 * Pins::kDepth; ++i) flits += stalled.cycle(false);
        if (flits != Pins::kDepth) return fmt::format("VC {}: {} flits without a credit", vc, flits);
        for (unsigned credit = 0; credit < 2 * Pins::kDepth; ++credit) {
            flits = stalled.cycle(true);
            for (unsigned i = 0; i < 4; ++i) flits += stalled.cycle(false);
            if (flits != 1) return fmt::format("VC {}: {} flits for a credit", vc, flits);
        }
        for (unsigned latency = 1; latency < 2 * Pins::kDepth; ++latency) {
            // A flit's slot has another one latency + 1 cycles later.
            const unsigned round_trip = latency + 1, rounds = 10;
            Pins pins(vc);
            pins.send(5 * round_trip, latency);
            flits = pins.send(rounds * round_trip, latency);
            if (flits != rounds * std::min(round_trip, Pins::kDepth))
                return fmt::format("VC {}, credits after {} cycles: {} flits in {} cycles", vc, latency, flits,
                                   rounds * round_trip);
        }
    }
    return "";
}

}  // namespace switchyard::testing
