// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/adyna/stages/resources.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::platform;

namespace {

PlatformConfig round_numbers() {
    PlatformConfig platform;
    platform.noc.link_bytes_per_cycle = 100;
    platform.noc.vcs = 4;  // of which a packet has two to choose among, on a torus
    platform.hbm.stacks = 1;
    platform.hbm.interfaces_per_stack = 2;
    platform.hbm.pseudo_channels_per_interface = 4;
    platform.hbm.pseudo_channel_gb_per_s = 10;
    platform.hbm.refresh_share = 0;
    platform.hbm.read_latency_ns = 30;
    platform.hbm.write_latency_ns = 20;
    return platform;
}

Traffic on_links(std::vector<Traffic::LinkUse> links) {
    Traffic traffic;
    traffic.links = std::move(links);
    return traffic;
}

Traffic to_memory(std::uint16_t interface, std::vector<std::uint64_t> channel_bytes, bool write = false) {
    Traffic traffic;
    Traffic::MemoryUse use;
    use.interface = interface;
    for (const std::uint64_t bytes : channel_bytes) use.bytes += bytes;
    use.moved_bytes = use.longest_bytes = use.bytes;
    use.channel_bytes = std::move(channel_bytes);
    use.write = write;
    traffic.memory.push_back(use);
    return traffic;
}

// Links 0 to 2 lie between routers, 3 leads into the network and 4 out of it.
constexpr unsigned kRouterLinks = 3, kLinks = 5;

}  // namespace

TEST_CASE("the busiest link is what a transfer takes, and the next one waits for it", "[resources]") {
    Resources resources(round_numbers(), kRouterLinks, kLinks);
    CHECK(resources.carry(on_links({{0, 10}, {1, 40}}), 100) == 140);
    CHECK(resources.carry(on_links({{0, 10}}), 105) == 120);          // link 0 was taken until 110
    CHECK(resources.carry(on_links({{1, 5}, {2, 50}}), 110) == 160);  // 2 was free, 1 until 140
    CHECK(resources.carry(on_links({}), 7) == 7);
    CHECK(resources.carry(on_links({{0, 10}}), 200, 2) == 220);
    CHECK(resources.backlog({0, 2}, 205) == 10);  // what waits keeps one virtual channel of two
    CHECK(resources.backlog({2}, 205) == 0);
}

TEST_CASE("a packet that waits for a link keeps its source and a virtual channel of its other links", "[resources]") {
    PlatformConfig platform = round_numbers();
    platform.noc.buffer_flits = 10;
    const Traffic packet = on_links({{0, 100}, {1, 100}, {3, 100}});
    SECTION("a buffer holds all of it") {
        Resources resources(platform, kRouterLinks, kLinks);
        CHECK(resources.carry(on_links({{1, 300}}), 0) == 300);
        CHECK(resources.carry_packet(packet, 0, 0.05) == 305);
        CHECK(resources.carry(on_links({{0, 1}}), 0) == 6);
        CHECK(resources.carry(on_links({{3, 1}}), 0) == 6);
    }
    SECTION("no buffer does") {
        Resources resources(platform, kRouterLinks, kLinks);
        CHECK(resources.carry(on_links({{1, 300}}), 0) == 300);
        CHECK(resources.carry_packet(packet, 0, 1) == 400);
        CHECK(resources.carry(on_links({{0, 1}}), 0) == 100 + 145 + 1);  // half of 300 - 10
        CHECK(resources.carry(on_links({{3, 1}}), 0) == 100 + (300 - 10) + 1);
    }
}

TEST_CASE("an interface serves at its bandwidth, each pseudo-channel at its own", "[resources]") {
    PlatformConfig platform = round_numbers();
    platform.hbm.interleave_bytes = 256;
    Resources resources(platform, kRouterLinks, kLinks);
    const auto served = [&](const Traffic& traffic, double time, std::uint64_t displacement = 0) {
        const Resources::Served at = resources.serve(traffic, time, displacement);
        return std::vector<double>{at.first, at.last};
    };
    // 4 channels of 10 bytes a cycle; latency 30.
    CHECK(served(to_memory(0, {1000, 1000, 1000, 1000}), 0) == std::vector<double>{30, 130});
    CHECK(served(to_memory(0, {400, 0, 0, 0}), 0) == std::vector<double>{130, 170});
    CHECK(served(to_memory(0, {400, 0, 0, 0}), 0, 256) == std::vector<double>{130, 170});  // on the next channel
    CHECK(served(to_memory(0, {400, 0, 0, 0}), 0) == std::vector<double>{170, 210});
    CHECK(served(to_memory(1, {1000, 1000, 1000, 1000}), 0) == std::vector<double>{30, 130});
    CHECK(served(to_memory(1, {100, 100, 100, 100}, true), 500) == std::vector<double>{520, 530});
}

TEST_CASE("turns of reads share an interface with all else", "[resources]") {
    Resources resources(round_numbers(), kRouterLinks, kLinks);
    CHECK(resources.serve_turn(0, 4000, 0) == 100 + 30);
    CHECK(resources.serve(to_memory(0, {1000, 1000, 1000, 1000}), 0).last == 200 + 30);
    CHECK(resources.serve_turn(0, 400, 0) == 210 + 30);
    CHECK(resources.serve_turn(1, 400, 0) == 10 + 30);
    CHECK(resources.turn_bytes() % round_numbers().hbm.max_packet_bytes == 0);
}
