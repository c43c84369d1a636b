// SPDX-License-Identifier: Apache-2.0
#pragma once

// Only for the sources that put Verilated classes behind these wrappers.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "switchyard/rtl/common/pins.h"
#include "switchyard/rtl/common/recorded_model.h"
#include "switchyard/rtl/network_interface/routing_shape.h"

namespace switchyard::rtl {

/// Whether a port waits in this cycle.
using Stall = std::function<bool()>;
inline bool never_stall() {
    return false;
}

/// A block in RTL that one call clocks until it has worked off a unit or a packet. Out of reset when constructed.
template <class Top, class Pins, bool Traced>
class VerilatedBlock : public RecordedModel<Top, Pins, Traced> {
public:
    /// The last call got all that belongs to what it was given.
    bool finished() const { return finished_; }

protected:
    /// `waveform`: an FST file for its last cycles after a failure (evidence()), or "".
    explicit VerilatedBlock(const std::string& waveform) {
        this->keep_waveform(waveform);
        this->reset();
    }

    bool finished_ = true;
};

struct SplitterPins {
    template <class Top, class Visit>
    static void inputs(Top& top, Visit&& visit) {
        visit(top.rst_ni);
        visit(top.sample_valid_i);
        visit(top.sample_end_i);
        visit(top.sample_id_i);
        visit(top.sample_mask_i);
        visit(top.branch_ready_i);
    }
};

/// rtl/network_interface/switch_splitter.sv with BRANCHES = Branches.
template <class Top, unsigned Branches, bool Traced = false>
class SwitchSplitter : public VerilatedBlock<Top, SplitterPins, Traced> {
public:
    static constexpr unsigned kBranches = Branches;

    explicit SwitchSplitter(const std::string& waveform = "") : VerilatedBlock<Top, SplitterPins, Traced>(waveform) {}

    /// The list of each branch for a unit with these samples and masks. `stall` is asked for every port in every cycle.
    /// Gives up, with what has come, after `max_cycles`.
    std::vector<std::vector<std::uint32_t>> split(const std::vector<std::uint32_t>& ids,
                                                  const std::vector<std::uint64_t>& masks, const Stall& stall,
                                                  std::uint64_t max_cycles) {
        std::vector<std::vector<std::uint32_t>> lists(kBranches);
        auto& top = this->top_;
        std::size_t next = 0;
        constexpr std::uint64_t kAll = ~std::uint64_t{0} >> (64 - kBranches);
        std::uint64_t ended = 0;
        for (std::uint64_t cycle = 0; ended != kAll && cycle < max_cycles; ++cycle) {
            top.sample_valid_i = next <= ids.size() && !stall();
            top.sample_end_i = next == ids.size();
            set_bits(top.sample_id_i, 0, kSampleIdBits, next < ids.size() ? ids[next] : 0);
            set_bits(top.sample_mask_i, 0, kBranches, next < ids.size() ? masks[next] & kAll : 0);
            std::uint64_t ready = 0;
            for (unsigned b = 0; b < kBranches; ++b)
                if (!stall()) ready |= std::uint64_t{1} << b;
            set_bits(top.branch_ready_i, 0, kBranches, ready);
            this->settle();
            const std::uint64_t taken = bits_of(top.branch_valid_o, 0, kBranches) & ready;
            for (unsigned b = 0; b < kBranches && taken >> b != 0; ++b) {
                if ((taken >> b & 1U) == 0) continue;
                if (top.branch_end_o)
                    ended |= std::uint64_t{1} << b;
                else
                    lists[b].push_back(static_cast<std::uint32_t>(bits_of(top.branch_id_o, 0, kSampleIdBits)));
            }
            if (top.sample_valid_i && top.sample_ready_o) ++next;
            this->clock();
        }
        this->finished_ = ended == kAll && next == ids.size() + 1;
        return lists;
    }
};

struct MergePins {
    template <class Top, class Visit>
    static void inputs(Top& top, Visit&& visit) {
        visit(top.rst_ni);
        visit(top.branch_valid_i);
        visit(top.branch_end_i);
        visit(top.branch_id_i);
        visit(top.sample_ready_i);
    }
};

/// rtl/network_interface/merge_reorder.sv with BRANCHES = Branches.
template <class Top, unsigned Branches, bool Traced = false>
class MergeReorder : public VerilatedBlock<Top, MergePins, Traced> {
public:
    static constexpr unsigned kBranches = Branches;
    struct Sample {
        std::uint32_t id;
        std::uint64_t from;  ///< a bit a branch
    };

    explicit MergeReorder(const std::string& waveform = "") : VerilatedBlock<Top, MergePins, Traced>(waveform) {}

    /// The samples of the branches' lists in one order; branches without a list have an end alone.
    std::vector<Sample> merge(const std::vector<std::vector<std::uint32_t>>& lists, const Stall& stall,
                              std::uint64_t max_cycles) {
        std::vector<Sample> merged;
        auto& top = this->top_;
        std::vector<std::size_t> next(kBranches);
        std::uint64_t offered = 0;
        this->finished_ = false;
        for (std::uint64_t cycle = 0; cycle < max_cycles && !this->finished_; ++cycle) {
            std::uint64_t ends = 0;
            for (unsigned b = 0; b < kBranches; ++b) {
                if (!stall()) offered |= std::uint64_t{1} << b;  // what is offered stays
                if (b >= lists.size() || next[b] >= lists[b].size())
                    ends |= std::uint64_t{1} << b;
                else
                    set_bits(top.branch_id_i, b * kSampleIdBits, kSampleIdBits, lists[b][next[b]]);
            }
            set_bits(top.branch_end_i, 0, kBranches, ends);
            set_bits(top.branch_valid_i, 0, kBranches, offered);
            top.sample_ready_i = !stall();
            this->settle();
            const bool taken = top.sample_valid_o && top.sample_ready_i, end = top.sample_end_o;
            if (taken && !end)
                merged.push_back({static_cast<std::uint32_t>(bits_of(top.sample_id_o, 0, kSampleIdBits)),
                                  bits_of(top.sample_from_o, 0, kBranches)});
            const std::uint64_t gone = bits_of(top.branch_ready_o, 0, kBranches);
            for (unsigned b = 0; b < kBranches; ++b) next[b] += gone >> b & 1U;
            offered &= ~gone;
            this->clock();
            this->finished_ = taken && end;
        }
        return merged;
    }
};

struct PacketiserInputs {
    template <class Top, class Visit>
    static void inputs(Top& top, Visit&& visit) {
        visit(top.rst_ni);
        visit(top.packet_valid_i);
        visit(top.packet_header_i);
        visit(top.packet_bytes_i);
        visit(top.packet_vc_i);
        visit(top.word_valid_i);
        visit(top.word_i);
        visit(top.credit_valid_i);
        visit(top.credit_vc_i);
    }
};

/// rtl/network_interface/packetiser.sv with FLIT_BYTES, HEADER_BYTES and LENGTH_WIDTH, two VCs of eight flits.
template <class Top, unsigned FlitBytes, unsigned HeaderBytes, unsigned LengthBits = 16, bool Traced = false>
class Packetiser : public VerilatedBlock<Top, PacketiserInputs, Traced> {
public:
    static constexpr unsigned kFlitBytes = FlitBytes, kHeaderBytes = HeaderBytes, kVcs = 2, kDepth = 8;
    static constexpr std::uint64_t kMaxBytes = (std::uint64_t{1} << LengthBits) - 1;  ///< of payload
    struct Flit {
        bool head, tail;
        unsigned vc;
    };
    struct Flits {
        std::vector<Flit> flits;
        std::vector<std::uint8_t> bytes;  ///< kFlitBytes a flit
    };

    explicit Packetiser(const std::string& waveform = "") : VerilatedBlock<Top, PacketiserInputs, Traced>(waveform) {}

    /// The flits of one packet. A credit comes back for a flit when `stall` lets it. `payload`: null for zeros.
    Flits packetise(const std::uint8_t* header, const std::uint8_t* payload, std::uint64_t bytes, unsigned vc,
                    const Stall& stall, std::uint64_t max_cycles) {
        Flits sent;
        auto& top = this->top_;
        std::uint64_t next = 0;
        bool given = false;
        this->finished_ = false;
        write_bytes(top.packet_header_i, header, kHeaderBytes);
        set_bits(top.packet_bytes_i, 0, LengthBits, bytes);
        top.packet_vc_i = static_cast<std::uint8_t>(vc);
        for (std::uint64_t cycle = 0; cycle < max_cycles && !this->finished_; ++cycle) {
            top.packet_valid_i = !given && !stall();
            top.word_valid_i = next < bytes && !stall();
            std::uint8_t word[kFlitBytes] = {};
            if (payload && next < bytes)
                std::copy_n(payload + next, std::min<std::uint64_t>(kFlitBytes, bytes - next), word);
            write_bytes(top.word_i, word, kFlitBytes);
            top.credit_valid_i = in_buffer_[0] + in_buffer_[1] > 0 && !stall();
            const unsigned freed = in_buffer_[0] > 0 ? 0 : 1;
            top.credit_vc_i = static_cast<std::uint8_t>(freed);
            this->settle();
            if (top.packet_valid_i && top.packet_ready_o) given = true;
            if (top.word_valid_i && top.word_ready_o) next += kFlitBytes;
            if (top.credit_valid_i) --in_buffer_[freed];
            if (top.flit_valid_o) {
                sent.flits.push_back({top.flit_head_o != 0, top.flit_tail_o != 0, top.flit_vc_o});
                sent.bytes.resize(sent.bytes.size() + kFlitBytes);
                read_bytes(top.flit_o, sent.bytes.data() + sent.bytes.size() - kFlitBytes, kFlitBytes);
                overflowed_ = overflowed_ || ++in_buffer_[top.flit_vc_o] > kDepth;
                this->finished_ = top.flit_tail_o;
            }
            this->clock();
        }
        return sent;
    }
    /// It has sent more flits than its credits allowed.
    bool overflowed() const { return overflowed_; }

private:
    unsigned in_buffer_[kVcs] = {};
    bool overflowed_ = false;
};

}  // namespace switchyard::rtl
