// SPDX-License-Identifier: Apache-2.0
// A batch on several chips against counts by hand and closed forms.
#include <algorithm>
#include <numeric>

#include "switchyard/platform/systems/expert_parallel/expert_batch.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::platform::expert_parallel;

namespace {

using Topology = std::shared_ptr<const sched::LinkTopology>;

/// Four chips, a link between each pair, without headers.
Topology four_chips(double gb_per_s, double latency_ns) {
    sched::LinkKind kind;
    kind.gb_per_s = gb_per_s;
    kind.latency_ns = latency_ns;
    kind.overhead_bytes = 0;
    return std::make_shared<sched::LinkTopology>(sched::make_link_topology("fully_connected", 4, kind));
}

Exchange exchange() {
    Exchange e;
    e.counts = {{7, 3, 0, 2}, {1, 5, 6, 0}, {4, 4, 2, 2}, {0, 9, 1, 2}};
    e.cell_bytes = 1000;
    e.result_bytes = 40;
    return e;
}

ChipTimes chips() {
    return {{10, 3}, {{5, 20, 8, 6}}};
}

std::uint64_t bytes_between(const sched::LinkTopology& topology, const BatchTimes& times, unsigned from, unsigned to) {
    return times.bytes_of_channel.at(topology.route(from, to).at(0));
}

std::uint64_t on_channels(const BatchTimes& times) {
    return std::accumulate(times.bytes_of_channel.begin(), times.bytes_of_channel.end(), std::uint64_t{0});
}

}  // namespace

TEST_CASE("bytes on each link are those of a count by hand", "[expert_parallel]") {
    const Topology topology = four_chips(10, 100);
    Exchange e = exchange();
    const BatchTimes sparse = time_batch(topology, {}, chips(), {e});
    std::uint64_t all = 0;
    for (unsigned from = 0; from < 4; ++from)
        for (unsigned to = 0; to < 4; ++to) {
            if (from == to) continue;
            // 8 bytes say how many cells come; results of those that came the other way return.
            const std::uint64_t bytes = 8 + e.counts[from][to] * 1000 + e.counts[to][from] * 40;
            INFO(from << " to " << to);
            CHECK(bytes_between(*topology, sparse, from, to) == bytes);
            all += bytes;
        }
    CHECK(sparse.link_bytes == all);
    CHECK(on_channels(sparse) == all);
    CHECK(sparse.expected_channel_bytes == all);

    e.padded = true;
    e.padded_cells = 12;
    const BatchTimes padded = time_batch(topology, {}, chips(), {e});
    for (unsigned from = 0; from < 4; ++from)
        for (unsigned to = 0; to < 4; ++to)
            if (from != to) CHECK(bytes_between(*topology, padded, from, to) == 12 * (1000 + 40));
    CHECK(padded.latency_us > sparse.latency_us);
}

TEST_CASE("a batch takes what its chips and its messages take", "[expert_parallel]") {
    // 10 GB/s, 100 ns. Chip 1 is the slowest by far; the last of its cells are 9 of chip 3.
    const Topology topology = four_chips(10, 100);
    const BatchTimes times = time_batch(topology, {}, chips(), {exchange()});
    // Sizes: 8 bytes and 100 ns; then 9000 bytes and 100 ns.
    const double cells_us = (0.8 + 100 + 900 + 100) * 1e-3;
    CHECK(times.dispatch_us == Approx(cells_us));
    // Its results: 9 of 40 bytes to chip 3.
    const double results_us = (36 + 100) * 1e-3;
    CHECK(times.return_us == Approx(results_us));
    CHECK(times.chips_us == Approx(10 + 20 + 3));
    CHECK(times.latency_us == Approx(10 + cells_us + 20 + results_us + 3));
}

TEST_CASE("with links that take no time a batch takes what the slowest chip takes", "[expert_parallel]") {
    const Topology topology = four_chips(1e9, 0);
    for (const bool padded : {false, true}) {
        Exchange e = exchange();
        e.padded = padded;
        e.padded_cells = 12;
        const BatchTimes times = time_batch(topology, {}, chips(), {e});
        CHECK(times.latency_us == Approx(33).epsilon(1e-6));
        CHECK(times.chips_us == 33);
    }
    CHECK(time_batch(nullptr, {}, {{10, 3}, {{5}}}, {exchange()}).latency_us == 18);
}

TEST_CASE("slower links and software make a batch longer, never shorter", "[expert_parallel]") {
    double before = 0;
    for (const double gb_per_s : {1000.0, 100.0, 10.0, 1.0, 0.1}) {
        const double now = time_batch(four_chips(gb_per_s, 100), {}, chips(), {exchange()}).latency_us;
        CHECK(now > before);
        before = now;
    }
    Exchange slow = exchange();
    slow.costs.step_ns = 3000;
    const Topology topology = four_chips(10, 100);
    const double added = time_batch(topology, {}, chips(), {slow}).latency_us -
                         time_batch(topology, {}, chips(), {exchange()}).latency_us;
    // Three messages follow one another, and a step contains the latency of its route.
    CHECK(added == Approx(3 * 2.9));
}

TEST_CASE("layers of experts follow one another: bytes by hand, times chip by chip", "[expert_parallel]") {
    const Topology topology = four_chips(10, 100);
    Exchange second = exchange();
    second.counts = {{0, 0, 4, 0}, {0, 2, 0, 1}, {0, 0, 0, 0}, {3, 0, 0, 8}};
    second.cell_bytes = 500;
    second.result_bytes = 20;
    const ChipTimes times{{10, 7, 3}, {{5, 20, 8, 6}, {4, 4, 9, 4}}};
    const BatchTimes both = time_batch(topology, {}, times, {exchange(), second});
    const BatchTimes first = time_batch(topology, {}, chips(), {exchange()});
    std::uint64_t all = 0;
    for (unsigned from = 0; from < 4; ++from)
        for (unsigned to = 0; to < 4; ++to) {
            if (from == to) continue;
            const std::uint64_t bytes = 8 + second.counts[from][to] * 500 + second.counts[to][from] * 20;
            CHECK(bytes_between(*topology, both, from, to) == bytes_between(*topology, first, from, to) + bytes);
            all += bytes;
        }
    CHECK(both.link_bytes == first.link_bytes + all);
    CHECK(on_channels(both) == both.expected_channel_bytes);
    CHECK(both.chips_us == Approx(10 + 20 + 7 + 9 + 3));
    // Links that take no time: the slowest chain of chips. All wait for chip 1, which sends results to all others; then
    // chip 2 has the slowest experts and returns to chip 0 what it got from there.
    const Topology fast = four_chips(1e9, 0);
    CHECK(time_batch(fast, {}, times, {exchange(), second}).latency_us == Approx(10 + 20 + 7 + 9 + 3).epsilon(1e-6));
    CHECK(time_batch(nullptr, {}, {{10, 7, 3}, {{5}, {4}}}, {exchange(), second}).latency_us == 29);
    CHECK(both.latency_us > both.chips_us);
}
