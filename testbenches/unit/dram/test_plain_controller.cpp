// SPDX-License-Identifier: Apache-2.0
#include <random>
#include <vector>

#include "plain_controller.h"
#include "switchyard/hw/memory/dram/channel_controller.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard::hw::dram;

namespace {

struct CommandList : CommandSink {
    void on_command(unsigned, const Command& command) override { commands.push_back(command); }
    std::vector<Command> commands;
};

bool same_command(const Command& a, const Command& b) {
    return a.cycle == b.cycle && a.kind == b.kind && a.pseudo_channel == b.pseudo_channel && a.bank == b.bank &&
           a.row == b.row && a.column == b.column;
}

/// Runs of bursts in a few rows, as often from rows that others have open as from new ones.
void compare_with_plain(const Device& device, std::uint64_t seed, unsigned percent_writes, unsigned gap) {
    const Geometry& g = device.geometry;
    std::mt19937_64 random(seed);
    CommandList list;
    const AddressMapping mapping(device.policy.mapping, g);
    ChannelController controller(device, mapping, 0, &list);
    PlainController plain(device);
    Cycle arrival = 0;
    for (std::uint32_t i = 0; i < 1500;) {
        Location at{0,
                    static_cast<unsigned>(random() % g.pseudo_channels),
                    static_cast<unsigned>(random() % g.bank_groups),
                    static_cast<unsigned>(random() % g.banks_per_group),
                    static_cast<std::uint32_t>(random() % 4),
                    0};
        const bool write = random() % 100 < percent_writes;
        for (std::uint64_t left = 1 + random() % 12; left > 0; --left, ++i) {
            at.column = static_cast<std::uint32_t>(random() % g.bursts_per_row);
            const std::uint64_t burst = mapping.burst_of(mapping.address_of(at));
            controller.push(burst, burst + 1, write, arrival, i);
            plain.push(at, write, arrival);
        }
        if (random() % 3 == 0) arrival += random() % gap;
    }
    controller.advance(kNever - 1);
    const std::vector<Command> expected = plain.run();
    REQUIRE(list.commands.size() == expected.size());
    std::size_t first = 0;
    while (first < expected.size() && same_command(list.commands[first], expected[first])) ++first;
    CHECK(first == expected.size());  // otherwise the first command that differs
}

}  // namespace

TEST_CASE("the commands are those of a controller that looks at all bursts again for each of them", "[dram]") {
    for (const char* name : {"hbm2", "hbm2_2400", "gddr6_14", "ddr4", "lpddr4"}) {
        for (const char* page : {"open", "closed"}) {
            for (const char* limit : {"40", "300", "100000"}) {
                for (const char* queues : {"channel", "bank"}) {
                    CAPTURE(name, page, limit, queues);
                    const Device device =
                        read_device(name, {{"geometry.channels", "1"},
                                           {"controller.refresh", "none"},
                                           {"controller.page", page},
                                           {"controller.queues", queues},
                                           {"controller.read_queue_bursts", queues[0] == 'b' ? "4" : "24"},
                                           {"controller.write_queue_bursts", queues[0] == 'b' ? "4" : "24"},
                                           {"controller.write_high_bursts", "16"},
                                           {"controller.write_low_bursts", "6"},
                                           {"controller.starvation_limit_cycles", limit}});
                    compare_with_plain(device, 1, 0, 40);
                    compare_with_plain(device, 2, 40, 40);
                    compare_with_plain(device, 3, 70, 400);
                }
            }
        }
    }
}
