#include <Vmerge_reorder_covered.h>
#include <Vmerge_reorder_mutant.h>
#include <Vpacketiser_covered.h>
#include <Vpacketiser_mutant.h>
#include <Vswitch_splitter_covered.h>
#include <Vswitch_splitter_mutant.h>

#include "switchyard/hw/network_interface/routing_blocks.h"
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

    explicit Unit(hw::SplitMix64& random) {
        const unsigned count = random.below(5) == 0 ? 0 : random.below(60);
        const unsigned taken = 1 + random.below(16);
        std::uint32_t id = random.below(2) == 0 ? 0 : random.below(60000);
        for (unsigned i = 0; i < count; ++i, id += 1 + random.below(80)) {
            ids.push_back(id);
            masks.push_back(random.below(16) < taken ? random.below(16) : 0);
        }
    }
};

/// Units that the block splits as the model does.
template <class Top>
unsigned units_split_alike(rtl::SwitchSplitter<Top, kBranches>& splitter, std::uint64_t seed) {
    hw::SplitMix64 random(seed);
    unsigned alike = 0;
    for (unsigned u = 0; u < kUnits; ++u) {
        const Unit unit(random);
        const unsigned waits = random.below(12);
        const auto lists = splitter.split(
            unit.ids, unit.masks, [&] { return random.below(16) < waits; }, kMostCycles);
        hw::RoutingBlocks::Lists wanted = hw::RoutingModel().split(unit.ids, unit.masks);
        wanted.resize(kBranches);
        if (!splitter.finished() || lists != wanted) return alike;
        ++alike;
    }
    return alike;
}

/// Units whose branches the block merges as the model does.
template <class Top>
unsigned units_merged_alike(rtl::MergeReorder<Top, kBranches>& merge, std::uint64_t seed) {
    hw::SplitMix64 random(seed);
    unsigned alike = 0;
    for (unsigned u = 0; u < kUnits; ++u) {
        const Unit unit(random);
        hw::RoutingBlocks::Lists lists = hw::RoutingModel().split(unit.ids, unit.masks);
        lists.resize(kBranches);
        const unsigned waits = random.below(12);
        const auto merged = merge.merge(
            lists, [&] { return random.below(16) < waits; }, kMostCycles);
        const MergedSamples wanted = hw::RoutingModel().merge(lists);
        bool same = merge.finished() && merged.size() == wanted.ids.size();
        for (std::size_t i = 0; same && i < merged.size(); ++i) {
            same = merged[i].id == wanted.ids[i];
            for (unsigned branch = 0; branch < kBranches; ++branch)
                same = same && (merged[i].from >> branch & 1U) == wanted.from[branch][i];
        }
        if (!same) return alike;
        ++alike;
    }
    return alike;
}

/// Packets that the block cuts as the model does, into as many flits as PacketFormat says.
template <class Block>
unsigned packets_cut_alike(Block& packetiser, std::uint64_t seed) {
    const PacketFormat format{Block::kFlitBytes, Block::kHeaderBytes};
    hw::RoutingModel model(format);
    hw::SplitMix64 random(seed);
    const auto random_bytes = [&random](std::size_t count) {
        std::vector<std::uint8_t> bytes(count);
        for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.below(256));
        return bytes;
    };
    unsigned alike = 0;
    for (unsigned u = 0; u < kUnits; ++u) {
        const std::vector<std::uint8_t> payload =
                                            random_bytes(random.below(8) == 0 ? random.below(3000) : random.below(40)),
                                        header = random_bytes(Block::kHeaderBytes);
        const unsigned vc = random.below(Block::kVcs), waits = random.below(12);
        const auto cut = packetiser.packetise(
            header.data(), payload.data(), payload.size(), vc, [&] { return random.below(16) < waits; }, kMostCycles);
        const hw::PacketFlits wanted = model.packetise({header, payload.size(), payload.data(), vc == 1});
        bool same = packetiser.finished() && cut.flits.size() == format.flits(payload.size()) &&
                    cut.flits.size() == wanted.marks.size() && cut.bytes == wanted.bytes;
        for (std::size_t f = 0; same && f < cut.flits.size(); ++f)
            same = hw::PacketFlits::Mark{cut.flits[f].head, cut.flits[f].tail, cut.flits[f].vc == 1} == wanted.marks[f];
        if (!same) return alike;
        ++alike;
    }
    return alike;
}

}  // namespace

TEST_CASE("switch splitter RTL: every sample to the branches of its mask, in order", "[network_interface]") {
    INFO("replay with SWITCHYARD_SEED=" << random_seed());
    rtl::SwitchSplitter<Vswitch_splitter_covered, kBranches> block;
    CHECK(units_split_alike(block, random_seed()) == kUnits);
    CHECK(!block.assertion_failed());
    block.save_coverage(coverage_file("switch_splitter"));
    rtl::SwitchSplitter<Vswitch_splitter_mutant, kBranches> mutant;
    CHECK(units_split_alike(mutant, random_seed()) < kUnits);
}

TEST_CASE("merge RTL: the lists of the branches come back in the order of samples", "[network_interface]") {
    INFO("replay with SWITCHYARD_SEED=" << random_seed());
    rtl::MergeReorder<Vmerge_reorder_covered, kBranches> block;
    CHECK(units_merged_alike(block, random_seed()) == kUnits);
    CHECK(!block.assertion_failed());
    block.save_coverage(coverage_file("merge_reorder"));
    rtl::MergeReorder<Vmerge_reorder_mutant, kBranches> mutant;
    CHECK(units_merged_alike(mutant, random_seed()) < kUnits);
}

TEST_CASE("packetiser RTL: as many flits as the network counts, with header and payload in them",
          "[network_interface]") {
    INFO("replay with SWITCHYARD_SEED=" << random_seed());
    rtl::Packetiser<Vpacketiser_covered, 8, 4> block;
    CHECK(packets_cut_alike(block, random_seed()) == kUnits);
    CHECK(!block.assertion_failed());
    CHECK(!block.overflowed());
    block.save_coverage(coverage_file("packetiser"));
    rtl::Packetiser<Vpacketiser_mutant, 8, 4> mutant;
    CHECK(packets_cut_alike(mutant, random_seed()) < kUnits);
}
