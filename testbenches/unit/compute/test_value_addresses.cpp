// SPDX-License-Identifier: Apache-2.0
#include <random>

#include "switchyard/hw/dispatcher/value_addresses.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/cosim/seed.h"
#include "switchyard/testbenches/unit/compute/valued_operator.h"

using namespace switchyard;
using namespace switchyard::testing;

namespace {

bool same_row(const BlockAddresses::Row& a, const BlockAddresses::Row& b) {
    if (a.output == BlockAddresses::kUnwanted) return b.output == a.output;
    return a.input == b.input && a.y == b.y && a.x == b.x && a.output == b.output && a.second == b.second &&
           a.sample == b.sample && a.token == b.token;
}

bool same_column(const BlockAddresses::Column& a, const BlockAddresses::Column& b) {
    return a.input == b.input && a.weights == b.weights && a.output == b.output && a.channel == b.channel;
}

OperatorValues values_of(const ValuedOperator& valued, std::mt19937& random) {
    OperatorValues values;
    values.shape = valued.shape();
    for (unsigned s = 0; s < valued.sources(); ++s) {
        OperatorValues::Source source;
        source.offset = 0x8000 + 0x1000 * s;
        for (unsigned n = 0; valued.sources() > 1 && n < valued.dyn_dim(); ++n)
            source.present.push_back(random() % 2 == 0);
        values.sources.push_back(source);
    }
    for (unsigned n = 0; n < valued.dyn_dim() && random() % 4 != 0; ++n)
        values.first_tokens.push_back(n == 0 ? 0 : values.first_tokens.back() + static_cast<unsigned>(random() % 5));
    values.first_tokens.resize(values.first_tokens.empty() ? 0 : valued.dyn_dim(), 100);
    return values;
}

}  // namespace

TEST_CASE("value addresses: those of a block do not depend on the blocks before it", "[dispatcher][values]") {
    INFO("replay with SWITCHYARD_SEED=" << random_seed());
    std::mt19937 random(static_cast<unsigned>(random_seed()));
    for (unsigned trial = 0; trial < 60; ++trial) {
        for (const ValuedOperator::Case which : ValuedOperator::kCases) {
            const ValuedOperator valued(which, 6, 4, random);
            const OperatorValues values = values_of(valued, random);
            for (unsigned rank = 0; rank < valued.ranks(); ++rank) {
                CAPTURE(trial, static_cast<int>(which), rank);
                const hw::KernelNest nest(valued.kernel(), rank, valued.dyn_dim());
                hw::ValueAddresses addresses(valued.kernel(), nest, values, 0x100, 0x4000);
                nest.walk([&](const hw::KernelNest::Visit& visit) {
                    BlockAddresses block, alone;
                    addresses.find(visit.position, block);
                    hw::ValueAddresses others(valued.kernel(), nest, values, 0x100, 0x4000);
                    others.find(visit.position, alone);
                    REQUIRE(std::equal(block.rows.begin(), block.rows.end(), alone.rows.begin(), alone.rows.end(),
                                       same_row));
                    REQUIRE(std::equal(block.columns.begin(), block.columns.end(), alone.columns.begin(),
                                       alone.columns.end(), same_column));
                    REQUIRE(block.inputs == alone.inputs);
                });
            }
        }
    }
}
