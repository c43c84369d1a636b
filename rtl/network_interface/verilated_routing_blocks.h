// SPDX-License-Identifier: Apache-2.0
#pragma once

// Only for the sources that put Verilated classes behind RoutingBlocks: the library's, and those of the tests, which
// have mutants.
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
    /// `waveform`: an FST file for the first block that is needed, or "". Throws std::invalid_argument: check_format().
    explicit VerilatedRoutingBlocks(const PacketFormat& format, std::string waveform = "")
        : waveform_(std::move(waveform)) {
        check_format(format);
    }

    hw::RoutingLimits limits() const override {
        return {kRoutingBranches, kRoutingBranches, std::uint64_t{1} << kSampleIdBits, Cutter::kMaxBytes};
    }
    Lists split(const std::vector<std::uint32_t>& ids, const std::vector<std::uint64_t>& masks) override {
        return used(splitter_, "switch splitter", ids.size(), [&](Splitter& block, std::uint64_t max_cycles) {
            return block.split(ids, masks, &never_stall, max_cycles);
        });
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

private:
    using Splitter = SwitchSplitter<SplitterTop, kRoutingBranches, Traced>;
    using Merge = MergeReorder<MergeTop, kRoutingBranches, Traced>;
    using Cutter =
        Packetiser<PacketiserTop, kPacketFormat.link_bytes, kPacketFormat.header_bytes, kPayloadLengthBits, Traced>;

    /// call(block, most cycles) for a block that takes in or gives `items`, each in a cycle.
    template <class Block, class Call>
    auto used(std::unique_ptr<Block>& block, const char* name, std::uint64_t items, Call&& call) {
        if (!block) block = std::make_unique<Block>(std::exchange(waveform_, ""));
        const std::uint64_t max_cycles = 4 * (items + 4);
        auto result = call(*block, max_cycles);
        if (block->assertion_failed())
            throw RtlFault(std::string("an assertion of the ") + name + " in RTL has failed, see its message");
        if (!block->finished())
            throw RtlFault(std::string("the ") + name + " in RTL has not ended after " + std::to_string(max_cycles) +
                           " cycles");
        return result;
    }

    std::string waveform_;
    std::unique_ptr<Splitter> splitter_;
    std::unique_ptr<Merge> merge_;
    std::unique_ptr<Cutter> cutter_;
};

}  // namespace switchyard::rtl
