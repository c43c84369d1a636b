#include <Vmerge_reorder_covered.h>
#include <Vmerge_reorder_mutant.h>
#include <Vpacketiser_covered.h>
#include <Vpacketiser_mutant.h>
#include <Vswitch_splitter_covered.h>
#include <Vswitch_splitter_mutant.h>

#include "switchyard/hw/network_interface/frames.h"
#include "switchyard/hw/noc/flit/transport.h"
#include "switchyard/hw/noc/traffic.h"
#include "switchyard/rtl/network_interface/verilated_blocks.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/cosim/coverage.h"
#include "switchyard/testbenches/cosim/seed.h"

using namespace switchyard;
using namespace switchyard::testing;

namespace {

constexpr unsigned kUnits = 400;
constexpr unsigned kBranches = 4;
constexpr std::uint64_t kMostCycles = 4000;

std::string coverage_file(const char* block) {
    return std::string(SWITCHYARD_COVERAGE_FOLDER) + "/" + block + ".dat";
}

/// Random samples of a unit: none, few or many, with masks of none to all branches.
struct Unit {
    std::vector<std::uint32_t> ids;
    std::vector<std::uint64_t> masks;
    std::map<std::uint32_t, std::uint64_t> mask_of;

    explicit Unit(hw::SplitMix64& random) {
        const unsigned count = random.below(5) == 0 ? 0 : random.below(60);
        const unsigned taken = 1 + random.below(16);
        std::uint32_t id = random.below(2) == 0 ? 0 : random.below(60000);
        for (unsigned i = 0; i < count; ++i, id += 1 + random.below(80)) {
            ids.push_back(id);
            masks.push_back(random.below(16) < taken ? random.below(16) : 0);
            mask_of[id] = masks.back();
        }
    }
};

/// Units that the block splits as hw::branch_members() does.
template <class Top>
unsigned units_split_alike(rtl::SwitchSplitter<Top>& splitter, std::uint64_t seed) {
    hw::SplitMix64 random(seed);
    unsigned alike = 0;
    for (unsigned u = 0; u < kUnits; ++u) {
        const Unit unit(random);
        const unsigned waits = random.below(12);
        const auto lists = splitter.split(
            unit.ids, unit.masks, [&] { return random.below(16) < waits; }, kMostCycles);
        bool same = true;
        for (unsigned branch = 0; branch < kBranches; ++branch)
            same = same && lists[branch] == hw::branch_members(SampleSet(unit.ids), unit.mask_of, branch)->ids();
        if (!same) return alike;
        ++alike;
    }
    return alike;
}

/// Units whose branches the block merges as hw::united() does.
template <class Top>
unsigned units_merged_alike(rtl::MergeReorder<Top>& merge, std::uint64_t seed) {
    hw::SplitMix64 random(seed);
    unsigned alike = 0;
    for (unsigned u = 0; u < kUnits; ++u) {
        const Unit unit(random);
        std::vector<std::vector<std::uint32_t>> lists;
        std::vector<SampleFramePtr> frames;
        for (unsigned branch = 0; branch < kBranches; ++branch) {
            const SampleSet members = *hw::branch_members(SampleSet(unit.ids), unit.mask_of, branch);
            lists.push_back(members.ids());
            frames.push_back(std::make_shared<const SampleFrame>(SampleFrame{members, nullptr}));
        }
        const unsigned waits = random.below(12);
        const auto merged = merge.merge(
            lists, [&] { return random.below(16) < waits; }, kMostCycles);
        std::vector<std::uint32_t> ids;
        bool same = true;
        for (const auto& sample : merged) {
            ids.push_back(sample.id);
            same = same && sample.from == unit.mask_of.at(sample.id);
        }
        if (!same || ids != hw::united(frames)->samples.ids()) return alike;
        ++alike;
    }
    return alike;
}

/// Packets that the block cuts into as many flits as hw::flit::Transport says, with header and payload in them.
template <class Top>
unsigned packets_cut_alike(rtl::Packetiser<Top>& packetiser, std::uint64_t seed) {
    using Block = rtl::Packetiser<Top>;
    hw::flit::Transport::Format format;
    format.link_bytes = Block::kFlitBytes;
    format.header_bytes = Block::kHeaderBytes;
    hw::SplitMix64 random(seed);
    unsigned alike = 0;
    for (unsigned u = 0; u < kUnits; ++u) {
        std::vector<std::uint8_t> payload(random.below(8) == 0 ? random.below(3000) : random.below(40));
        for (std::uint8_t& byte : payload) byte = static_cast<std::uint8_t>(random.below(256));
        const auto header = static_cast<std::uint32_t>(random());
        const unsigned vc = random.below(Block::kVcs), waits = random.below(12);
        const auto flits = packetiser.packetise(
            header, payload, vc, [&] { return random.below(16) < waits; }, kMostCycles);
        std::vector<std::uint8_t> bytes;
        bool same = flits.size() == format.flits(payload.size());
        for (std::size_t f = 0; f < flits.size(); ++f) {
            same = same && flits[f].head == (f == 0) && flits[f].tail == (f + 1 == flits.size()) && flits[f].vc == vc;
            for (unsigned b = 0; b < Block::kFlitBytes; ++b)
                bytes.push_back(static_cast<std::uint8_t>(flits[f].data >> 8 * b));
        }
        std::vector<std::uint8_t> wanted;
        for (unsigned b = 0; b < Block::kHeaderBytes; ++b) wanted.push_back(static_cast<std::uint8_t>(header >> 8 * b));
        wanted.insert(wanted.end(), payload.begin(), payload.end());
        wanted.resize(format.flits(payload.size()) * Block::kFlitBytes);
        if (!same || bytes != wanted) return alike;
        ++alike;
    }
    return alike;
}

}  // namespace

TEST_CASE("switch splitter RTL: every sample to the branches of its mask, in order", "[network_interface]") {
    INFO("replay with SWITCHYARD_SEED=" << random_seed());
    rtl::SwitchSplitter<Vswitch_splitter_covered> block;
    CHECK(units_split_alike(block, random_seed()) == kUnits);
    CHECK(!block.assertion_failed());
    block.save_coverage(coverage_file("switch_splitter"));
    rtl::SwitchSplitter<Vswitch_splitter_mutant> mutant;
    CHECK(units_split_alike(mutant, random_seed()) < kUnits);
}

TEST_CASE("merge RTL: the lists of the branches come back in the order of samples", "[network_interface]") {
    INFO("replay with SWITCHYARD_SEED=" << random_seed());
    rtl::MergeReorder<Vmerge_reorder_covered> block;
    CHECK(units_merged_alike(block, random_seed()) == kUnits);
    CHECK(!block.assertion_failed());
    block.save_coverage(coverage_file("merge_reorder"));
    rtl::MergeReorder<Vmerge_reorder_mutant> mutant;
    CHECK(units_merged_alike(mutant, random_seed()) < kUnits);
}

TEST_CASE("packetiser RTL: as many flits as the network counts, with header and payload in them",
          "[network_interface]") {
    INFO("replay with SWITCHYARD_SEED=" << random_seed());
    rtl::Packetiser<Vpacketiser_covered> block;
    CHECK(packets_cut_alike(block, random_seed()) == kUnits);
    CHECK(!block.assertion_failed());
    CHECK(!block.overflowed());
    block.save_coverage(coverage_file("packetiser"));
    rtl::Packetiser<Vpacketiser_mutant> mutant;
    CHECK(packets_cut_alike(mutant, random_seed()) < kUnits);
}
