// SPDX-License-Identifier: Apache-2.0
// Whom the allocators serve: inputs in turn, or the oldest packet first, in one iteration or several.

#include "switchyard/hw/noc/flit/masks.h"
#include "switchyard/hw/noc/traffic.h"
#include "switchyard/testbenches/unit/flit/flit_bench.h"

using namespace switchyard;
using namespace switchyard::testing;
using hw::flit::Config;
using hw::flit::FlitNetwork;

namespace {

/// Packets of 16 flits that the last router of a row gets from each of the seven others, all of which send one every 64
/// cycles: more than the last link carries.
std::vector<unsigned> shares_of_a_row(Config config) {
    FlitNetwork network(config, one_each(config));
    const unsigned last = config.columns - 1;
    std::vector<unsigned> shares(last);
    for (unsigned cycle = 0; cycle < 20000; ++cycle) {
        network.begin_cycle();
        for (const FlitNetwork::Delivery& delivery : network.deliveries()) ++shares[delivery.tag];
        for (unsigned source = 0; source < last; ++source)
            if (cycle % 64 == source) network.send(source, last, 16, source);
        network.end_cycle();
    }
    return shares;
}

/// Flits that arrive in 5000 cycles of uniform traffic beyond saturation.
std::uint64_t flits_beyond_saturation(Config config) {
    FlitNetwork network(config, one_each(config));
    hw::SyntheticTraffic traffic("uniform", config.columns, config.rows, 0.9, 8, 1);
    for (unsigned cycle = 0; cycle < 5000; ++cycle) {
        network.begin_cycle();
        traffic.cycle([&](unsigned source, unsigned destination) {
            if (network.queued(source) < 4) network.send(source, destination, 8, 0);
        });
        network.end_cycle();
    }
    return network.stats().ejected_flits;
}

}  // namespace

TEST_CASE("flit: inputs in turn starve the far end of a row, the oldest first does not", "[flit]") {
    Config config = grid(false, 8, 1, 4);
    config.switch_iterations = GENERATE(1u, 2u);
    // Each router has half of what is left for itself if it wants, so the near ones get all that they ask for.
    const std::vector<unsigned> in_turn = shares_of_a_row(config);
    CHECK(in_turn[6] == Approx(20000 / 64).margin(2));
    CHECK(in_turn[6] > 2 * in_turn[0]);
    config.oldest_first = true;
    const std::vector<unsigned> by_age = shares_of_a_row(config);
    const double fair = std::accumulate(by_age.begin(), by_age.end(), 0.0) / 7;
    for (const unsigned share : by_age) CHECK(share == Approx(fair).epsilon(0.05));
    CHECK(16 * 7 * fair == Approx(20000).epsilon(0.01));  // and nothing of the link is lost
}

TEST_CASE("flit: a second iteration of the switch allocator finds what the first has left", "[flit]") {
    Config config = grid(true, 8, 8);
    config.oldest_first = GENERATE(false, true);
    const std::uint64_t once = flits_beyond_saturation(config);
    config.switch_iterations = 2;
    const std::uint64_t twice = flits_beyond_saturation(config);
    CAPTURE(config.oldest_first, once, twice);
    CHECK(twice > once);
}

TEST_CASE("flit: the least key wins, and the turn decides between equals", "[flit]") {
    const std::vector<unsigned> keys{7, 3, 9, 3, 3, 8};
    const auto key = [&](unsigned bit) { return keys[bit]; };
    const auto min = [&](std::uint64_t mask, unsigned last) { return hw::flit::min_behind(mask, last, key); };
    CHECK(min(0b111111, 63) == 1);
    CHECK(min(0b111111, 1) == 3);
    CHECK(min(0b111111, 3) == 4);
    CHECK(min(0b111111, 4) == 1);
    CHECK(min(0b100101, 63) == 0);
    CHECK(min(0b100100, 63) == 5);
    CHECK(min(0b000100, 4) == 2);
}
