// SPDX-License-Identifier: Apache-2.0
#include <Vmerge_reorder_mutants.h>
#include <Vpacketiser_mutants.h>
#include <Vswitch_splitter_mutants.h>

#include "switchyard/testbenches/cosim/mutation/mutation_test.h"
#include "switchyard/testbenches/cosim/network_interface/block_regression.h"
#include "switchyard/testbenches/cosim/seed.h"

using namespace switchyard;
using namespace switchyard::testing;

namespace {

std::string regression(const Mutant& mutant) {
    const auto verdict = [](bool alike) -> std::string { return alike ? "" : "differs from the model"; };
    std::string found;
    if (mutant.file == "switch_splitter.sv") {
        rtl::SwitchSplitter<Vswitch_splitter_mutants, kBranches> block;
        const bool alike = units_split_alike(block, random_seed()) == kUnits;
        found = verdict(alike);
        return found.empty() ? splitter_throughput(block) : found;
    }
    if (mutant.file == "merge_reorder.sv") {
        rtl::MergeReorder<Vmerge_reorder_mutants, kBranches> block;
        const bool alike = units_merged_alike(block, random_seed()) == kUnits;
        found = verdict(alike);
        if (found.empty()) found = merge_throughput(block);
        return found.empty() ? MergeEnds<Vmerge_reorder_mutants>().difference() : found;
    }
    rtl::Packetiser<Vpacketiser_mutants, 8, 4> block;
    const bool alike = packets_cut_alike(block, random_seed()) == kUnits && !block.overflowed();
    found = verdict(alike);
    if (found.empty()) found = packetiser_throughput<Vpacketiser_mutants>();
    return found.empty() ? PacketStream<Vpacketiser_mutants>().difference(random_seed()) : found;
}

}  // namespace

TEST_CASE("network interface mutants: a sample", "[mutants]") {
    check_mutants("network_interface", MUTANTS, 5, &regression);
}

TEST_CASE("network interface mutants: all", "[.all-mutants]") {
    check_mutants("network_interface", MUTANTS, 1, &regression);
}
