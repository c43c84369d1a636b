// SPDX-License-Identifier: Apache-2.0
#pragma once

// Only for the sources that put Verilated classes behind RoutingBlocks: the library's, and those of the tests, which
// have mutants.
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "switchyard/rtl/network_interface/routing_shape.h"
#include "switchyard/rtl/network_interface/verilated_blocks.h"

namespace switchyard::rtl {

/// The three blocks in RTL. One is clocked while it works off a unit or a packet, at once and without a port that
/// waits, and constructed when it is first needed. Top...: the Verilated classes, with TRACE if `Traced`.
template <class SplitterTop, class MergeTop, class PacketiserTop, bool Traced>
class VerilatedRoutingBlocks : public hw::RoutingBlocks {
public:
    /// `waveform`: an FST file for the last cycles of the block that fails, or "". `checks`: samples that leave a block
    /// are held against those that went in; not where somebody compares them anyway. Throws std::invalid_argument:
    /// check_format().
    explicit VerilatedRoutingBlocks(const PacketFormat& format, std::string waveform = "", bool checks = true)
        : waveform_(std::move(waveform)), checks_(checks) {
        check_format(format);
    }

    hw::RoutingLimits limits() const override {
        return {kRoutingBranches, kRoutingBranches, std::uint64_t{1} << kSampleIdBits, Cutter::kMaxBytes};
    }
    Lists split(const std::vector<std::uint32_t>& ids, const std::vector<std::uint64_t>& masks) override {
        Lists lists = used(splitter_, "switch splitter", ids.size(), [&](Splitter& block, std::uint64_t max_cycles) {
            return block.split(ids, masks, &never_stall, max_cycles);
        });
        if (checks_) check_split(ids, masks, lists);
        return lists;
    }
    MergedSamples merge(const Lists& sources) override {
        std::size_t samples = 0;
        for (const std::vector<std::uint32_t>& source : sources) samples += source.size();
        const auto found = used(merge_, "merge", samples, [&](Merge& block, std::uint64_t max_cycles) {
            return block.merge(sources, &never_stall, max_cycles);
        });
        MergedSamples merged;
        merged.from.resize(sources.size());
        for (const typename Merge::Sample& sample : found) {
            merged.ids.push_back(sample.id);
            for (std::size_t s = 0; s < sources.size(); ++s) merged.from[s].push_back((sample.from >> s & 1U) != 0);
        }
        if (checks_) check_merge(sources, found);
        return merged;
    }
    hw::PacketFlits packetise(const hw::PacketBytes& packet) override {
        const std::uint64_t flits = kPacketFormat.flits(packet.payload_bytes);
        auto cut = used(cutter_, "packetiser", flits, [&](Cutter& block, std::uint64_t max_cycles) {
            return block.packetise(packet.header.data(), packet.payload, packet.payload_bytes, packet.control ? 1 : 0,
                                   &never_stall, max_cycles);
        });
        hw::PacketFlits result;
        result.bytes = std::move(cut.bytes);
        for (const typename Cutter::Flit& flit : cut.flits)
            result.marks.push_back({flit.head, flit.tail, flit.vc == 1});
        return result;
    }
    bool packetises() const override { return true; }
    /// Of the block that was used last.
    std::string evidence() override { return evidence_ ? evidence_() : ""; }

private:
    using Splitter = SwitchSplitter<SplitterTop, kRoutingBranches, Traced>;
    using Merge = MergeReorder<MergeTop, kRoutingBranches, Traced>;
    using Cutter =
        Packetiser<PacketiserTop, kPacketFormat.link_bytes, kPacketFormat.header_bytes, kPayloadLengthBits, Traced>;

    void check_split(const std::vector<std::uint32_t>& ids, const std::vector<std::uint64_t>& masks,
                     const Lists& lists) {
        for (std::size_t branch = 0; branch < lists.size(); ++branch) {
            std::size_t next = 0;
            for (std::size_t i = 0; i < ids.size(); ++i) {
                if ((masks[i] >> branch & 1U) == 0) continue;
                if (next >= lists[branch].size() || lists[branch][next] != ids[i])
                    fault("switch splitter", "branch_id", ids[i], "branch " + std::to_string(branch));
                ++next;
            }
            if (next < lists[branch].size())
                fault("switch splitter", "branch_valid", lists[branch][next], "branch " + std::to_string(branch));
        }
    }
    void check_merge(const Lists& sources, const std::vector<typename Merge::Sample>& merged) {
        std::vector<std::size_t> next(sources.size());
        for (std::size_t i = 0; i < merged.size(); ++i) {
            const typename Merge::Sample& sample = merged[i];
            if (i > 0 && sample.id <= merged[i - 1].id) fault("merge", "sample_id", sample.id, "the order");
            if (sample.from == 0 || sample.from >> sources.size() != 0)
                fault("merge", "sample_from", sample.id, "the sources");
            for (std::size_t s = 0; s < sources.size(); ++s)
                if ((sample.from >> s & 1U) != 0 &&
                    (next[s] >= sources[s].size() || sources[s][next[s]++] != sample.id))
                    fault("merge", "sample_from", sample.id, "source " + std::to_string(s));
        }
        for (std::size_t s = 0; s < sources.size(); ++s)
            if (next[s] < sources[s].size())
                fault("merge", "sample_valid", sources[s][next[s]], "source " + std::to_string(s));
    }
    /// What came out does not agree with what went in.
    [[noreturn]] void fault(const char* name, const char* signal, std::uint32_t id, const std::string& where) {
        throw RtlFault(std::string("the ") + name + " in RTL: " + signal + " is wrong: sample " + std::to_string(id) +
                       " against " + where + evidence());
    }

    /// call(block, most cycles) for a block that takes in or gives `items`, each in a cycle.
    template <class Block, class Call>
    auto used(std::unique_ptr<Block>& block, const char* name, std::uint64_t items, Call&& call) {
        if (!block) block = std::make_unique<Block>(waveform_);
        evidence_ = [&block] { return block->evidence(); };
        const std::uint64_t max_cycles = 4 * (items + 4);
        try {
            auto result = call(*block, max_cycles);
            if (block->finished()) return result;
        } catch (const RtlFault& fault) {
            throw RtlFault(std::string("the ") + name + " in RTL: " + fault.what());
        }
        throw RtlFault(std::string("the ") + name + " in RTL has not ended after " + std::to_string(max_cycles) +
                       " cycles" + evidence());
    }

    std::string waveform_;
    bool checks_;
    std::unique_ptr<Splitter> splitter_;
    std::unique_ptr<Merge> merge_;
    std::unique_ptr<Cutter> cutter_;
    std::function<std::string()> evidence_;
};

}  // namespace switchyard::rtl
