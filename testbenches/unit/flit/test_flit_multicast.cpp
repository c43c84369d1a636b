// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "switchyard/hw/noc/flit/transport.h"
#include "switchyard/hw/noc/noc_config.h"
#include "switchyard/testbenches/unit/flit/flit_bench.h"

using namespace switchyard;
using namespace switchyard::testing;
using hw::flit::Config;
using hw::flit::FlitNetwork;
using hw::flit::Multicast;
using hw::flit::Transport;

TEST_CASE("flit: a multicast reaches everybody as fast as packets of their own would", "[flit]") {
    const Config config = GENERATE(grid(true, 6, 6), grid(true, 5, 4), grid(false, 5, 4));
    for (unsigned source = 0; source < config.routers(); source += 7) {
        for (const unsigned flits : {1u, 5u, 8u}) {
            FlitNetwork network(config, one_each(config));
            std::vector<std::uint16_t> everybody(config.routers());
            std::iota(everybody.begin(), everybody.end(), std::uint16_t{0});
            network.multicast(source, everybody.data(), everybody.size(), flits, 3);
            std::map<unsigned, std::uint64_t> arrived;
            while (!network.idle()) {
                network.begin_cycle();
                for (const FlitNetwork::Delivery& delivery : network.deliveries()) {
                    REQUIRE(delivery.tag == 3);
                    REQUIRE(arrived.emplace(delivery.endpoint, network.cycle()).second);
                }
                network.end_cycle();
            }
            REQUIRE(arrived.size() == everybody.size());
            for (const auto& [endpoint, cycle] : arrived)
                CHECK(cycle == hw::flit::zero_load_cycles(config, network.hops(source, endpoint), flits));
            // A tree over all routers has one link for each but the root.
            CHECK(network.stats().hop_flits == std::uint64_t{flits} * (config.routers() - 1));
            CHECK(network.stats().injected_flits == flits);
        }
    }
}

TEST_CASE("flit: multicast in the routers or from the source", "[flit]") {
    const Config config = grid(true, 4, 4);
    const auto run = [&](Multicast how, std::uint64_t bytes) {
        FlitNetwork network(config, one_each(config));
        Transport transport(network, 16, {192, 16}, how);
        transport.send(5, {1, 9, 6, 4, 0, 15}, bytes);
        std::vector<unsigned> arrived;
        while (!network.idle()) {
            network.begin_cycle();
            for (const Transport::Arrival& arrival : transport.collect()) arrived.push_back(arrival.endpoint);
            network.end_cycle();
        }
        std::sort(arrived.begin(), arrived.end());
        CHECK(arrived == std::vector<unsigned>{0, 1, 4, 6, 9, 15});
        return std::pair{network.stats().injected_flits, network.cycle()};
    };
    // 4 flits of 192 bytes with 16 of header hold 752: 4000 bytes are five full pieces and one of 240 + 16 bytes.
    CHECK(run(Multicast::tree, 4000).first == 5 * 4 + 2);
    CHECK(run(Multicast::source, 4000).first == 6 * 21);
    CHECK(run(Multicast::tree, 4000).second < run(Multicast::source, 4000).second);
    CHECK(run(Multicast::tree, 0).first == 1);
    // The packet model occupies links for as long.
    for (const std::uint64_t bytes : {0, 1, 176, 177, 752, 753, 1504, 4000, 65536})
        CHECK(run(Multicast::tree, bytes).first == hw::serialisation_cycles(hw::NocConfig{}, bytes, 6));
}
