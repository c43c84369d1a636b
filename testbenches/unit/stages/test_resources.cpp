#include "switchyard/platform/stages/resources.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::platform;

namespace {

PlatformConfig round_numbers() {
    PlatformConfig platform;
    platform.noc.link_bytes_per_cycle = 100;
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

Traffic to_memory(std::uint16_t interface, std::uint64_t bytes, std::uint64_t channel_bytes) {
    Traffic traffic;
    Traffic::MemoryUse use;
    use.interface = interface;
    use.bytes = use.moved_bytes = bytes;
    use.busiest_channel_bytes = channel_bytes;
    use.longest_bytes = 400;
    traffic.memory.push_back(use);
    return traffic;
}

}  // namespace

TEST_CASE("the busiest link is what a transfer takes, and the next one waits for it", "[resources]") {
    Resources resources(round_numbers(), 3);
    CHECK(resources.carry(on_links({{0, 10}, {1, 40}}), 100) == 140);
    CHECK(resources.carry(on_links({{0, 10}}), 105) == 120);          // link 0 was taken until 110
    CHECK(resources.carry(on_links({{1, 5}, {2, 50}}), 110) == 160);  // 2 was free, 1 until 140
    CHECK(resources.carry(on_links({}), 7) == 7);
}

TEST_CASE("weights take the time that tensors leave them, and tensors wait for their turns", "[resources]") {
    PlatformConfig platform = round_numbers();
    platform.hbm.max_packet_bytes = 400;  // a turn: 10 cycles
    Resources resources(platform, 1);
    // 40 bytes a cycle, latency 30, 4 cycles for the last packet.
    Resources::Stream first = resources.stream(to_memory(0, 40000, 10000), 0);
    CHECK(first.end == 1000 + 30 + 4);
    Resources::Stream second = resources.stream(to_memory(0, 40000, 10000), 10);
    CHECK(second.end == 2000 + 30 + 4);
    // 400 bytes, one turn of each stream before them.
    CHECK(resources.read(to_memory(0, 400, 100), 500) == 500 + 2 * 10 + 10 + 30 + 4);
    CHECK(resources.delay_of(first) == 10);
    CHECK(resources.delay_of(first) == 0);
    CHECK(resources.delay_of(second) == 10);
    CHECK(resources.delay_of(second) == 0);
    CHECK(resources.read(to_memory(0, 400, 100), 3000) == 3000 + 10 + 30 + 4);  // nobody else is there
    CHECK(resources.read(to_memory(1, 400, 100), 3000) == 3000 + 10 + 30 + 4);
}

TEST_CASE("an interface serves at its bandwidth, one request at that of its channels", "[resources]") {
    Resources resources(round_numbers(), 1);
    // 4 channels of 10 bytes a cycle; 400 bytes of the last packet on a link of 100 bytes a cycle; latency 30.
    CHECK(resources.read(to_memory(0, 4000, 1000), 0) == 100 + 30 + 4);
    CHECK(resources.read(to_memory(0, 400, 400), 0) == 100 + 40 + 30 + 4);  // all on one channel
    CHECK(resources.read(to_memory(1, 4000, 1000), 0) == 100 + 30 + 4);
    CHECK(resources.write(to_memory(1, 400, 100), 500, 25) == 500 + 25 + 10 + 20);
}
