#pragma once

// Only for the sources that put Verilated classes behind these wrappers.
#include <verilated.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "switchyard/rtl/common/model_context.h"

namespace switchyard::rtl {

/// Whether a port waits in this cycle.
using Stall = std::function<bool()>;

/// A Verilated block with its clock, out of reset when constructed. Outputs may depend on inputs: settle() shows them.
template <class Top>
class ClockedBlock {
public:
    ClockedBlock() : top_(context_.get()) {
        top_.rst_ni = 0;
        edge(false);
        edge(true);
        top_.rst_ni = 1;
        edge(false);
    }
    ~ClockedBlock() { top_.final(); }
    bool assertion_failed() const { return context_.assertion_failed(); }
    void save_coverage(const std::string& file) const { context_.save_coverage(file); }

protected:
    void settle() { edge(false); }
    void clock() {
        edge(true);
        ++cycles_;
    }

    ModelContext context_;  // outlives the model
    Top top_;
    std::uint64_t cycles_ = 0;

private:
    void edge(bool clock) {
        top_.clk_i = clock;
        top_.eval();
        context_.get()->timeInc(1);
    }
};

/// rtl/network_interface/switch_splitter.sv with kBranches branches.
template <class Top>
class SwitchSplitter : public ClockedBlock<Top> {
public:
    static constexpr unsigned kBranches = 4;

    /// The list of each branch for a unit with these samples and masks. `stall` is asked for every port in every cycle.
    /// Gives up, with what has come, after `most_cycles`.
    std::vector<std::vector<std::uint32_t>> split(const std::vector<std::uint32_t>& ids,
                                                  const std::vector<std::uint64_t>& masks, const Stall& stall,
                                                  std::uint64_t most_cycles) {
        std::vector<std::vector<std::uint32_t>> lists(kBranches);
        auto& top = this->top_;
        std::size_t next = 0;
        unsigned ended = 0;
        for (std::uint64_t cycle = 0; ended != (1U << kBranches) - 1 && cycle < most_cycles; ++cycle) {
            top.sample_valid_i = next <= ids.size() && !stall();
            top.sample_end_i = next == ids.size();
            top.sample_id_i = static_cast<std::uint16_t>(next < ids.size() ? ids[next] : 0);
            top.sample_mask_i = static_cast<std::uint8_t>(next < ids.size() ? masks[next] & 15U : 0);
            top.branch_ready_i = 0;
            for (unsigned b = 0; b < kBranches; ++b)
                if (!stall()) top.branch_ready_i |= static_cast<std::uint8_t>(1U << b);
            this->settle();
            const unsigned taken = top.branch_valid_o & top.branch_ready_i;
            for (unsigned b = 0; b < kBranches; ++b) {
                if ((taken >> b & 1U) == 0) continue;
                if (top.branch_end_o)
                    ended |= 1U << b;
                else
                    lists[b].push_back(top.branch_id_o);
            }
            if (top.sample_valid_i && top.sample_ready_o) ++next;
            this->clock();
        }
        return lists;
    }
};

/// rtl/network_interface/merge_reorder.sv with kBranches branches.
template <class Top>
class MergeReorder : public ClockedBlock<Top> {
public:
    static constexpr unsigned kBranches = 4;
    struct Sample {
        std::uint32_t id;
        unsigned from;  ///< a bit a branch
    };

    /// The samples of the branches' lists in one order.
    std::vector<Sample> merge(const std::vector<std::vector<std::uint32_t>>& lists, const Stall& stall,
                              std::uint64_t most_cycles) {
        std::vector<Sample> merged;
        auto& top = this->top_;
        std::vector<std::size_t> next(kBranches);
        unsigned offered = 0;
        for (std::uint64_t cycle = 0; cycle < most_cycles; ++cycle) {
            top.branch_end_i = 0;
            std::uint64_t ids = 0;
            for (unsigned b = 0; b < kBranches; ++b) {
                if (!stall()) offered |= 1U << b;  // what is offered stays
                if (next[b] == lists[b].size())
                    top.branch_end_i |= static_cast<std::uint8_t>(1U << b);
                else
                    ids |= std::uint64_t{lists[b][next[b]]} << 16 * b;
            }
            top.branch_valid_i = static_cast<std::uint8_t>(offered);
            top.branch_id_i = ids;
            top.sample_ready_i = !stall();
            this->settle();
            const bool taken = top.sample_valid_o && top.sample_ready_i, end = top.sample_end_o;
            if (taken && !end) merged.push_back({top.sample_id_o, top.sample_from_o});
            for (unsigned b = 0; b < kBranches; ++b) {
                if ((top.branch_ready_o >> b & 1U) == 0) continue;
                ++next[b];
                offered &= ~(1U << b);
            }
            this->clock();
            if (taken && end) return merged;
        }
        return merged;
    }
};

/// rtl/network_interface/packetiser.sv: flits of kFlitBytes, headers of kHeaderBytes.
template <class Top>
class Packetiser : public ClockedBlock<Top> {
public:
    static constexpr unsigned kFlitBytes = 8, kHeaderBytes = 4, kVcs = 2, kDepth = 8;
    struct Flit {
        bool head, tail;
        unsigned vc;
        std::uint64_t data;
    };

    /// The flits of one packet. A credit comes back for a flit when `stall` lets it.
    std::vector<Flit> packetise(std::uint32_t header, const std::vector<std::uint8_t>& payload, unsigned vc,
                                const Stall& stall, std::uint64_t most_cycles) {
        std::vector<Flit> flits;
        auto& top = this->top_;
        std::size_t next = 0;
        bool given = false;
        for (std::uint64_t cycle = 0; cycle < most_cycles; ++cycle) {
            top.packet_valid_i = !given && !stall();
            top.packet_header_i = header;
            top.packet_bytes_i = static_cast<std::uint16_t>(payload.size());
            top.packet_vc_i = static_cast<std::uint8_t>(vc);
            top.word_valid_i = next < payload.size() && !stall();
            std::uint64_t word = 0;
            for (std::size_t b = next; b < next + kFlitBytes && b < payload.size(); ++b)
                word |= std::uint64_t{payload[b]} << 8 * (b - next);
            top.word_i = word;
            top.credit_valid_i = in_buffer_[0] + in_buffer_[1] > 0 && !stall();
            const unsigned freed = in_buffer_[0] > 0 ? 0 : 1;
            top.credit_vc_i = static_cast<std::uint8_t>(freed);
            this->settle();
            if (top.packet_valid_i && top.packet_ready_o) given = true;
            if (top.word_valid_i && top.word_ready_o) next += kFlitBytes;
            if (top.credit_valid_i) --in_buffer_[freed];
            const bool sent = top.flit_valid_o, tail = top.flit_tail_o;
            if (sent) {
                flits.push_back({top.flit_head_o != 0, tail, top.flit_vc_o, top.flit_o});
                overflowed_ = overflowed_ || ++in_buffer_[top.flit_vc_o] > kDepth;
            }
            this->clock();
            if (sent && tail) break;
        }
        return flits;
    }
    /// It has sent more flits than its credits allowed.
    bool overflowed() const { return overflowed_; }

private:
    unsigned in_buffer_[kVcs] = {};
    bool overflowed_ = false;
};

}  // namespace switchyard::rtl
