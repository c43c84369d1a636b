// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/noc/packet_network.h"
#include "switchyard/testbenches/unit/network/hbm_bench.h"

using namespace switchyard;
using namespace switchyard::testing;

namespace {

/// Tiles 0 .. 15 in the hands of the test on a 4 x 4 torus, two memory interfaces at routers 4 and 11.
struct Chip {
    SimulationRegistry registry;
    hw::NocConfig network = noc(4, 4);
    hw::HbmConfig memory;
    hw::PacketNetwork torus;
    hw::Hbm hbm;
    Ends tiles;

    Chip()
        : memory(two_interfaces()),
          torus("noc", network, registry, routers()),
          hbm("hbm", memory, registry, {16, 17}),
          tiles("tiles", 16) {
        for (unsigned t = 0; t < 16; ++t) {
            tiles.out[t].bind(torus.inject[t]);
            torus.eject[t].bind(tiles.in[t]);
        }
        for (unsigned i = 0; i < 2; ++i) {
            hbm.out[i].bind(torus.inject[16 + i]);
            torus.eject[16 + i].bind(hbm.in[i]);
        }
    }
    static hw::HbmConfig two_interfaces() {
        hw::HbmConfig config;
        config.stacks = 1;
        config.interfaces_per_stack = 2;
        config.region_bytes = 1 << 20;
        config.device.clear();  // times can be told to the cycle
        return config;
    }
    static std::vector<unsigned> routers() {
        std::vector<unsigned> routers(16);
        std::iota(routers.begin(), routers.end(), 0u);
        routers.push_back(4);
        routers.push_back(11);
        return routers;
    }
    void read(Endpoint tile, std::uint64_t address, std::uint64_t bytes, std::vector<Endpoint> reply_to) {
        PooledPayload payload = tiles.packet(tile, {static_cast<Endpoint>(16 + address / memory.region_bytes)}, 0, 5,
                                             MemoryOperation::read);
        payload->set_address(address);
        payload.extension<MemoryExtension>().requested_bytes = bytes;
        payload.extension<MemoryExtension>().reply_to = std::move(reply_to);
        tiles.send(payload);
    }
    void run(std::function<void()> script) {
        tiles.script = std::move(script);
        sc_core::sc_start();
    }
};

}  // namespace

SIM_TEST("a read's round trip is request, closed page, reply", "[hbm][noc]") {
    Chip chip;
    chip.run([&] {
        for (Endpoint tile = 0; tile < 16; ++tile) {
            for (const std::uint64_t bytes : {64u, 1024u, 4096u}) {
                for (const Endpoint interface : {16, 17}) {
                    const std::uint64_t begin = chip.tiles.now();
                    chip.tiles.arrivals.clear();
                    chip.read(tile, (interface - 16) * chip.memory.region_bytes, bytes, {tile});
                    chip.tiles.wait_cycles(1000);
                    REQUIRE(chip.tiles.arrivals.size() == 1);
                    const double busiest = std::min<double>(static_cast<double>(bytes), 256) *
                                           (bytes > 1024 ? static_cast<double>(bytes) / 1024 : 1);
                    const double inside = chip.memory.read_latency_ns + HbmBench::service_ns(chip.memory, busiest);
                    CHECK(chip.tiles.arrivals[0].cycle == begin + chip.torus.zero_load_cycles(tile, interface, 0) +
                                                              whole_cycles(inside) +
                                                              chip.torus.zero_load_cycles(interface, tile, bytes));
                }
            }
        }
    });
}

SIM_TEST("one read feeds several tiles and moves its bytes once", "[hbm][noc]") {
    Chip chip;
    chip.run([&] { chip.read(9, 4096, 100000, {1, 9, 14}); });
    std::map<Endpoint, std::uint64_t> bytes, next;
    for (const Arrival& arrival : chip.tiles.arrivals) {
        bytes[arrival.at] += arrival.payload_bytes;
        CHECK(arrival.address == 4096 + next[arrival.at]);
        next[arrival.at] += arrival.payload_bytes;
    }
    CHECK(bytes == std::map<Endpoint, std::uint64_t>{{1, 100000}, {9, 100000}, {14, 100000}});
    CHECK(chip.hbm.stats().read_bytes == 100000);
    CHECK(chip.torus.stats().injected_bytes == 100000);
    CHECK(chip.torus.stats().addressed_bytes == 300000);
    CHECK(chip.torus.stats().ejected_bytes == 300000);
}

SIM_TEST("a stream over the network is as fast as the memory", "[hbm][noc]") {
    Chip chip;
    chip.run([&] { chip.read(6, 0, 1 << 20, {6}); });
    REQUIRE(chip.tiles.arrivals.size() == (1 << 20) / chip.memory.max_packet_bytes);
    CHECK((1 << 20) / static_cast<double>(chip.tiles.arrivals.back().cycle) == Approx(kSustained).epsilon(0.01));
}

SIM_TEST("two streams into one tile share its link", "[hbm][noc]") {
    Chip chip;
    chip.run([&] {
        for (int i = 0; i < 4; ++i) {
            chip.read(6, 0, 1 << 18, {6});
            chip.read(6, chip.memory.region_bytes, 1 << 18, {6});
        }
    });
    // 2 x 71.7 bytes a cycle fit into 192. At the end the last packet of one waits for that of the other.
    const unsigned packet = chip.memory.max_packet_bytes;
    const double transfer = (1 << 20) / kSustained;
    const std::uint64_t farther =
        std::max(chip.torus.zero_load_cycles(16, 6, packet) + chip.torus.zero_load_cycles(6, 16, 0),
                 chip.torus.zero_load_cycles(17, 6, packet) + chip.torus.zero_load_cycles(6, 17, 0));
    const auto cycles = static_cast<double>(chip.tiles.arrivals.back().cycle);
    CHECK(cycles >= transfer);
    CHECK(cycles <= static_cast<double>(whole_cycles(transfer + chip.memory.read_latency_ns) + farther +
                                        hw::serialisation_cycles(chip.network, packet)));
}

SIM_TEST("debug accesses reach the memory through the network", "[hbm][noc]") {
    Chip chip;
    chip.run([&] {
        const std::uint64_t address = chip.memory.region_bytes + 40;
        std::vector<unsigned char> bytes{1, 2, 3, 4, 5}, back(5);
        PooledPayload payload = chip.tiles.packet(2, {17}, 5);
        payload->set_address(address);
        payload->set_data_ptr(bytes.data());
        CHECK(chip.tiles.out[2]->transport_dbg(*payload) == 5);
        payload->set_command(::tlm::TLM_READ_COMMAND);
        payload->set_data_ptr(back.data());
        CHECK(chip.tiles.out[2]->transport_dbg(*payload) == 5);
        CHECK(back == bytes);
        payload.packet().destinations = {16};
        CHECK(chip.tiles.out[2]->transport_dbg(*payload) == 0);
        CHECK(chip.torus.stats().injected_packets == 0);
    });
}
