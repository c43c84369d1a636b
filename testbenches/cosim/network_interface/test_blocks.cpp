// SPDX-License-Identifier: Apache-2.0
#include <Vmerge_reorder_covered.h>
#include <Vpacketiser_covered.h>
#include <Vswitch_splitter_covered.h>

#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/cosim/coverage.h"
#include "switchyard/testbenches/cosim/network_interface/block_regression.h"
#include "switchyard/testbenches/cosim/seed.h"

using namespace switchyard;
using namespace switchyard::testing;

namespace {

std::string coverage_file(const char* block) {
    return std::string(SWITCHYARD_COVERAGE_FOLDER) + "/" + block + ".dat";
}

}  // namespace

TEST_CASE("switch splitter RTL: every sample to the branches of its mask, in order", "[network_interface]") {
    INFO("replay with SWITCHYARD_SEED=" << random_seed());
    rtl::SwitchSplitter<Vswitch_splitter_covered, kBranches> block;
    CHECK(units_split_alike(block, random_seed()) == kUnits);
    block.save_coverage(coverage_file("switch_splitter"));
}

TEST_CASE("merge RTL: the lists of the branches come back in the order of samples", "[network_interface]") {
    INFO("replay with SWITCHYARD_SEED=" << random_seed());
    rtl::MergeReorder<Vmerge_reorder_covered, kBranches> block;
    CHECK(units_merged_alike(block, random_seed()) == kUnits);
    block.save_coverage(coverage_file("merge_reorder"));
}

TEST_CASE("packetiser RTL: as many flits as the network counts, with header and payload in them",
          "[network_interface]") {
    INFO("replay with SWITCHYARD_SEED=" << random_seed());
    rtl::Packetiser<Vpacketiser_covered, 8, 4> block;
    CHECK(packets_cut_alike(block, random_seed()) == kUnits);
    CHECK(!block.overflowed());
    block.save_coverage(coverage_file("packetiser"));
}

TEST_CASE("network interface RTL: full throughput, and all slots that the router has", "[network_interface]") {
    rtl::SwitchSplitter<Vswitch_splitter_covered, kBranches> splitter;
    CHECK(splitter_throughput(splitter) == "");
    rtl::MergeReorder<Vmerge_reorder_covered, kBranches> merge;
    CHECK(merge_throughput(merge) == "");
    CHECK(packetiser_throughput<Vpacketiser_covered>() == "");
}

TEST_CASE("network interface RTL: what stands at the ports beside the packet or the sample changes nothing",
          "[network_interface]") {
    CHECK(MergeEnds<Vmerge_reorder_covered>().difference() == "");
    CHECK(PacketStream<Vpacketiser_covered>().difference(random_seed()) == "");
}
