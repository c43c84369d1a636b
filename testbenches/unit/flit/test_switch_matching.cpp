// SPDX-License-Identifier: Apache-2.0
// The switch allocator's matching has short ways for what is frequent; they must find what the masks of ports find,
// which the RTL router confirms for turns alone.
#include <algorithm>
#include <cstdint>
#include <random>
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>

#include "switchyard/hw/noc/flit/switch_matching.h"

using switchyard::hw::flit::SwitchMatching;
using switchyard::hw::flit::SwitchTurns;

namespace {

using Passed = std::tuple<unsigned, unsigned, std::uint64_t, bool>;  ///< VC, accepted, granted, in the first iteration

struct Contest {
    std::vector<SwitchMatching::Rival> rivals;
    std::vector<SwitchTurns> turns;
};

/// Of a router with few ports, where most VCs are in each other's way. `ages`: cycles in which packets were sent.
Contest contest(std::mt19937& random, unsigned ages) {
    const auto below = [&random](unsigned n) { return static_cast<unsigned>(random() % n); };
    const unsigned ports = 2 + below(4), vcs = 1 + below(4);
    Contest made;
    for (unsigned port = 0; port < ports; ++port) {
        for (unsigned vc = 0; vc < vcs; ++vc) {
            if (below(3) == 0) continue;
            std::uint64_t wanted = std::uint64_t{1} << below(ports);
            if (below(3) == 0) wanted |= random() & ((std::uint64_t{1} << ports) - 1);
            made.rivals.push_back({below(ages), wanted, port * vcs + vc, port});
        }
        SwitchTurns turns;
        turns.granted = static_cast<std::uint8_t>(below(ports));
        turns.accepted = static_cast<std::uint8_t>(below(ports));
        turns.passed = static_cast<std::uint8_t>(port * vcs + below(vcs));
        made.turns.push_back(turns);
    }
    return made;
}

/// In the order of VCs. A multicast that is granted several outputs takes those of one parity, and what it accepts.
std::vector<Passed> passed(SwitchMatching matching, const Contest& contest, bool by_ports) {
    for (const SwitchMatching::Rival& rival : contest.rivals) matching.add(rival);
    std::vector<Passed> all;
    const auto pass = [&](unsigned vc, unsigned accepted, std::uint64_t granted, bool first) {
        CHECK((granted >> accepted & 1) == 1);
        all.emplace_back(vc, accepted, granted, first);
        return (granted & std::uint64_t{0x5555555555555555} << vc % 2) | std::uint64_t{1} << accepted;
    };
    if (by_ports)
        matching.match_ports(contest.turns.data(), pass);
    else
        matching.match(contest.turns.data(), pass);
    CHECK(matching.empty());
    std::sort(all.begin(), all.end());
    return all;
}

}  // namespace

TEST_CASE("flit: the short ways of the switch allocator match what masks of ports match", "[flit]") {
    const bool oldest_first = GENERATE(false, true);
    const unsigned iterations = GENERATE(1u, 2u, 3u), ages = GENERATE(1u, 2u, 4u, 1000u);
    std::mt19937 random(ages);
    const SwitchMatching matching(oldest_first, iterations);
    std::size_t several = 0;
    for (unsigned i = 0; i < 4000; ++i) {
        const Contest one = contest(random, ages);
        const auto& rivals = one.rivals;
        if (rivals.size() == 2 && rivals[0].input != rivals[1].input && (rivals[0].wanted & rivals[1].wanted) == 0)
            continue;  // not in each other's way
        CHECK(passed(matching, one, false) == passed(matching, one, true));
        several += one.rivals.size() > 2;
    }
    CHECK(several > 2000);
}
