// SPDX-License-Identifier: Apache-2.0
// Random traffic at and beyond saturation, with multicast and control packets among it: every message reaches every
// destination once, none else, and in the order of its flow.

#include <algorithm>

#include "switchyard/hw/noc/flit/transport.h"
#include "switchyard/hw/noc/traffic.h"
#include "switchyard/testbenches/unit/flit/flit_bench.h"

using namespace switchyard;
using namespace switchyard::testing;
using hw::flit::Config;
using hw::flit::FlitNetwork;
using hw::flit::Multicast;
using hw::flit::Transport;

namespace {

struct Load {
    Multicast multicast;
    unsigned multicast_percent, max_destinations;
    std::uint64_t flits;  ///< to be injected at least
    std::uint64_t seed;
};

/// Offers more than the network takes: a source gets a new message whenever it has less than two waiting.
class Stress {
public:
    Stress(const Config& config, const std::vector<unsigned>& homes, const Load& load)
        : load_(load),
          endpoints_(static_cast<unsigned>(homes.size())),
          network_(config, homes),
          transport_(network_, homes.size(), {192, 16}, load.multicast),
          random_(load.seed),
          next_sent_(2 * homes.size() * homes.size()),
          next_seen_(2 * homes.size() * homes.size()) {}

    void run() {
        while (network_.stats().injected_flits < load_.flits) {
            cycle(true);
            if (network_.cycle() % 65536 == 0) REQUIRE(arrivals_ + owed_ == copies_);
        }
        while (transport_.in_flight() > 0) cycle(false);
        while (!network_.idle()) network_.step();
        CHECK(arrivals_ == copies_);
        CHECK(owed_ == 0);
        CHECK(transport_.stats().arrivals == copies_);
        CHECK(network_.stats().ejected_flits == ejected_flits_);
        CHECK(std::equal(next_sent_.begin(), next_sent_.end(), next_seen_.begin()));
    }
    const FlitNetwork& network() const { return network_; }
    const Transport& transport() const { return transport_; }

private:
    struct Expected {
        unsigned source, group;
        std::uint64_t bytes;
        std::vector<std::uint16_t> destinations;
        std::vector<std::uint32_t> numbers;  ///< of the flow to each destination
    };
    std::size_t flow(unsigned source, unsigned destination, unsigned group) const {
        return (std::size_t{group} * endpoints_ + source) * endpoints_ + destination;
    }
    void cycle(bool offer) {
        network_.begin_cycle();
        for (const Transport::Arrival& arrival : transport_.collect()) see(arrival);
        for (unsigned source = 0; offer && source < endpoints_; ++source)
            while (network_.queued(source) < 2) send(source);
        network_.end_cycle();
    }
    void send(unsigned source) {
        Expected message;
        const bool control = random_.below(8) == 0;
        message.source = source;
        message.group = control ? 1 : 0;
        message.bytes =
            control ? random_.below(64) : (random_.below(2) == 0 ? random_.below(3000) : random_.below(200));
        const bool multicast = !control && random_.below(100) < load_.multicast_percent;
        const unsigned count = multicast ? 2 + random_.below(load_.max_destinations - 1) : 1;
        while (message.destinations.size() < count) {
            const auto destination = static_cast<std::uint16_t>(random_.below(endpoints_));
            if (std::find(message.destinations.begin(), message.destinations.end(), destination) !=
                message.destinations.end())
                continue;
            message.destinations.push_back(destination);
            message.numbers.push_back(next_sent_[flow(source, destination, message.group)]++);
        }
        const std::uint32_t id =
            transport_.send(source, message.destinations, message.bytes, static_cast<TrafficClass>(message.group));
        copies_ += count;
        owed_ += count;
        if (expected_.size() <= id) expected_.resize(id + 1);
        REQUIRE(expected_[id].destinations.empty());
        ejected_flits_ += flits_of(message);
        expected_[id] = std::move(message);
    }
    std::uint64_t flits_of(const Expected& message) const {
        const std::uint64_t room = transport_.pieces().flits() * 192 - 16, count = message.destinations.size();
        if (count == 1 || load_.multicast == Multicast::source) return count * transport_.unicast_flits(message.bytes);
        std::uint64_t flits = message.bytes == 0 ? 1 : 0;
        for (std::uint64_t left = message.bytes; left > 0; left -= std::min(left, room))
            flits += transport_.unicast_flits(std::min(left, room));
        return count * flits;
    }
    void see(const Transport::Arrival& arrival) {
        Expected& message = expected_.at(arrival.message);
        const auto at = std::find(message.destinations.begin(), message.destinations.end(), arrival.endpoint);
        if (at == message.destinations.end()) FAIL("misrouted or duplicated at endpoint " << arrival.endpoint);
        const auto i = at - message.destinations.begin();
        const std::size_t f = flow(message.source, arrival.endpoint, message.group);
        if (message.numbers[static_cast<std::size_t>(i)] != next_seen_[f]++) FAIL("out of order in flow " << f);
        message.destinations.erase(at);
        message.numbers.erase(message.numbers.begin() + i);
        if (message.destinations.empty() != arrival.last) FAIL("last copy of message " << arrival.message);
        ++arrivals_;
        --owed_;
    }

    Load load_;
    unsigned endpoints_;
    FlitNetwork network_;
    Transport transport_;
    hw::SplitMix64 random_;
    std::vector<Expected> expected_;
    std::vector<std::uint32_t> next_sent_, next_seen_;
    std::uint64_t copies_ = 0, arrivals_ = 0, owed_ = 0, ejected_flits_ = 0;
};

Config with_control(Config config) {
    config.control_vcs = config.torus ? 2 : 1;
    return config;
}

Config by_age(Config config, unsigned switch_iterations) {
    config.oldest_first = true;
    config.switch_iterations = switch_iterations;
    return config;
}

/// On grids with and without wraparound links, with and without ages.
void check_beyond_saturation(const Load& load) {
    const Config config = GENERATE(with_control(grid(true, 8, 8)), with_control(grid(true, 4, 4, 2)),
                                   with_control(grid(true, 5, 3)), grid(true, 4, 4), with_control(grid(false, 8, 8)),
                                   grid(false, 5, 4, 1), by_age(with_control(grid(true, 8, 8)), 2),
                                   by_age(grid(true, 4, 4, 2), 1), by_age(with_control(grid(false, 5, 4)), 3));
    Stress stress(config, one_each(config), load);
    stress.run();
    CHECK((stress.network().stats().copies > 0) == (load.multicast == Multicast::tree && load.multicast_percent > 0));
}

}  // namespace

TEST_CASE("flit: beyond saturation nothing is lost, doubled, misrouted or reordered", "[flit]") {
    check_beyond_saturation({Multicast::tree, 20, 12, 150000, 2});
}

TEST_CASE("flit: beyond saturation nothing is lost, whatever the share of multicast packets", "[.ci-long][flit]") {
    check_beyond_saturation(GENERATE(Load{Multicast::tree, 0, 2, 150000, 1}, Load{Multicast::tree, 100, 15, 60000, 3},
                                     Load{Multicast::source, 20, 12, 150000, 4}));
}

namespace {

void check_other_pipelines(bool by_age_too) {
    Config config = with_control(grid(true, 4, 3, 2));
    config.routing_cycles = GENERATE(0u, 2u);
    config.vc_alloc_cycles = GENERATE(1u, 2u);
    config.switch_alloc_cycles = GENERATE(1u, 3u);
    if (by_age_too) config = by_age(config, 2);
    config.switch_cycles = 2;
    config.credit_cycles = 1;
    config.link_cycles = 3;
    config.buffer_flits = GENERATE(8u, 3u);
    std::vector<unsigned> homes = one_each(config);
    homes.insert(homes.end(), {0, 0, 5, 11});
    Stress stress(config, homes, {Multicast::tree, 30, 9, 60000, 5});
    stress.run();
}

}  // namespace

TEST_CASE("flit: other pipelines, small buffers and several endpoints a router lose nothing either", "[flit]") {
    check_other_pipelines(true);
}

TEST_CASE("flit: other pipelines that do not look at ages lose nothing either", "[.ci-long][flit]") {
    check_other_pipelines(false);
}

TEST_CASE("flit: the same traffic moves in the same way twice", "[flit]") {
    const auto run = [] {
        Stress stress(with_control(grid(true, 6, 6)), one_each(grid(true, 6, 6)), {Multicast::tree, 20, 9, 100000, 6});
        stress.run();
        std::vector<std::uint64_t> seen{stress.network().cycle(), stress.transport().stats().max_parked};
        for (unsigned r = 0; r < 36; ++r)
            for (unsigned p = 0; p < 5; ++p) seen.push_back(stress.network().link_flits(r, p));
        return seen;
    };
    CHECK(run() == run());
}

TEST_CASE("flit: 10^8 flits beyond saturation", "[.flit-long]") {
    const Config config = GENERATE(with_control(grid(true, 8, 8)), by_age(with_control(grid(false, 8, 8)), 2));
    Stress stress(config, one_each(config), {Multicast::tree, 10, 12, 50'000'000, 7});
    stress.run();
    CHECK(stress.network().stats().injected_flits >= 50'000'000);
}
