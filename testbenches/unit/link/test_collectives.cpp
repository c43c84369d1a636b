// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <numeric>
#include <set>

#include "switchyard/hw/link/collective_run.h"
#include "switchyard/sw_scheduler/base/random_source.h"
#include "switchyard/sw_scheduler/collectives/collectives.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::sched;
using hw::DeviceBuffers;
using hw::MessageEngine;
using Topology = std::shared_ptr<const LinkTopology>;

namespace {

LinkKind plain(double gb_per_s, double latency_ns) {
    LinkKind kind;
    kind.gb_per_s = gb_per_s;
    kind.latency_ns = latency_ns;
    kind.overhead_bytes = 0;
    return kind;
}

Topology family(const std::string& name, unsigned devices, double gb_per_s = 10, double latency_ns = 100) {
    return std::make_shared<LinkTopology>(make_link_topology(name, devices, plain(gb_per_s, latency_ns)));
}

Topology named(const std::string& name) {
    return std::make_shared<LinkTopology>(
        read_link_topology(std::string(SWITCHYARD_TOPOLOGIES) + "/" + name + ".yaml"));
}

std::vector<Topology> all_topologies() {
    std::vector<Topology> all;
    for (const char* name : {"dgx1v", "dgx1p", "fully_connected_8", "pcie_tree_8", "nvswitch_16", "ring_8"})
        all.push_back(named(name));
    for (const std::string& name : link_families())
        for (const unsigned devices : {2u, 3u, 5u}) all.push_back(family(name, devices));
    return all;
}

DeviceBuffers buffers_for(const CollectiveProgram& program) {
    return DeviceBuffers(program.devices, std::vector<std::uint8_t>(program.buffer_bytes));
}

CellCounts uniform(unsigned devices, std::uint64_t cells) {
    return CellCounts(devices, std::vector<std::uint64_t>(devices, cells));
}

/// A cell that no other one is like.
std::uint64_t cell_of(unsigned from, unsigned to, std::uint64_t number) {
    return (std::uint64_t{from + 1} << 48) + (std::uint64_t{to + 1} << 32) + number + 1;
}

void put(std::vector<std::uint8_t>& buffer, std::uint64_t at, std::uint64_t value) {
    REQUIRE(at + 8 <= buffer.size());
    std::memcpy(buffer.data() + at, &value, 8);
}

std::uint64_t get(const std::vector<std::uint8_t>& buffer, std::uint64_t at) {
    std::uint64_t value = 0;
    std::memcpy(&value, buffer.data() + at, 8);
    return value;
}

/// Random cells by both all-to-alls: every cell arrives once, unchanged, where it belongs, and nothing else does.
void random_matrices(const Topology& topology, unsigned matrices, std::uint64_t seed) {
    const unsigned n = topology->devices();
    RandomSource random(seed, n);
    MessageEngine::Config config;
    config.chunk_bytes = 64;
    config.buffer_chunks = 1;
    std::uint64_t wrong = 0;
    for (unsigned matrix = 0; matrix < matrices; ++matrix) {
        CellCounts cells = uniform(n, 0);
        std::uint64_t largest = 1, off_device = 0, pairs = 0;
        for (unsigned a = 0; a < n; ++a)
            for (unsigned b = 0; b < n; ++b) {
                cells[a][b] = random.chance(0.3) ? 0 : random.integer(0, 20);
                largest = std::max(largest, cells[a][b]);
                if (a != b) off_device += topology->route(a, b).size() * cells[a][b];
                if (a != b) pairs += topology->route(a, b).size();
            }
        const auto sum = [](const hw::CollectiveResult& result) {
            std::uint64_t bytes = 0;
            for (const std::uint64_t channel : result.channel_bytes) bytes += channel;
            return bytes;
        };
        {
            const CollectiveProgram program = padded_all_to_all(*topology, cells, 8, largest);
            DeviceBuffers buffers = buffers_for(program);
            for (unsigned a = 0; a < n; ++a)
                for (unsigned b = 0; b < n; ++b)
                    for (std::uint64_t i = 0; i < cells[a][b]; ++i)
                        put(buffers[a], (b * largest + i) * 8, cell_of(a, b, i));
            const hw::CollectiveResult result = hw::run_collective(topology, config, program, &buffers);
            wrong += sum(result) != pairs * largest * 8;
            for (unsigned b = 0; b < n; ++b)
                for (unsigned a = 0; a < n; ++a)
                    for (std::uint64_t i = 0; i < largest; ++i)
                        wrong +=
                            get(buffers[b], ((n + a) * largest + i) * 8) != (i < cells[a][b] ? cell_of(a, b, i) : 0);
        }
        {
            const CollectiveProgram program = sparse_all_to_all(*topology, cells, 8);
            const SparseLayout layout = sparse_layout(cells, 8);
            DeviceBuffers buffers = buffers_for(program);
            for (unsigned a = 0; a < n; ++a)
                for (unsigned b = 0; b < n; ++b) {
                    put(buffers[a], layout.sizes_sent + 8 * b, cells[a][b]);
                    for (std::uint64_t i = 0; i < cells[a][b]; ++i)
                        put(buffers[a], layout.send[a][b] + 8 * i, cell_of(a, b, i));
                }
            const hw::CollectiveResult result = hw::run_collective(topology, config, program, &buffers);
            wrong += sum(result) != (pairs + off_device) * 8;
            for (unsigned b = 0; b < n; ++b) {
                std::uint64_t end = layout.receive[0][b];
                for (unsigned a = 0; a < n; ++a) {
                    if (a != b) wrong += get(buffers[b], layout.sizes_received + 8 * a) != cells[a][b];
                    for (std::uint64_t i = 0; i < cells[a][b]; ++i)
                        wrong += get(buffers[b], layout.receive[a][b] + 8 * i) != cell_of(a, b, i);
                    end = layout.receive[a][b] + 8 * cells[a][b];
                }
                for (; end + 8 <= program.buffer_bytes; end += 8) wrong += get(buffers[b], end) != 0;
            }
        }
    }
    CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("a message in an idle network takes the closed form", "[link]") {
    for (const Topology& topology : all_topologies())
        for (const char* switching : {"cut_through", "store_and_forward"})
            for (const std::uint64_t bytes : {64ull, 65536ull, 1ull << 20, 1ull << 24}) {
                MessageEngine::Config config;
                config.switching = switching;
                for (unsigned to = 1; to < topology->devices(); ++to) {
                    MessageEngine engine(topology, config);
                    engine.send(0, 0, to, bytes, 7);
                    std::uint64_t arrived = 0;
                    while (!engine.idle()) {
                        engine.advance(engine.next_event());
                        for (const auto& delivery : engine.deliveries()) arrived = delivery.time_ps;
                    }
                    const double expected = hw::idle_message_ns(*topology, config, 0, to, bytes);
                    CHECK(static_cast<double>(arrived) / 1000 == Approx(expected).epsilon(0.002));
                }
            }
}

TEST_CASE("messages share a link by halves", "[link]") {
    const Topology topology = family("switch", 3);
    MessageEngine engine(topology, {});
    engine.send(0, 0, 2, 1 << 24, 0);
    engine.send(0, 1, 2, 1 << 24, 1);
    std::vector<double> ns;
    while (!engine.idle()) {
        engine.advance(engine.next_event());
        for (const auto& delivery : engine.deliveries()) ns.push_back(static_cast<double>(delivery.time_ps) / 1000);
    }
    REQUIRE(ns.size() == 2);
    CHECK(ns[0] == Approx(ns[1]).epsilon(0.01));
    CHECK(ns[1] == Approx((2 << 24) / 10.0).epsilon(0.01));
}

TEST_CASE("bytes of the busiest link are those of a count by hand", "[link]") {
    const std::uint64_t cell = 16, cells = 4, part = cell * cells;
    const auto busiest = [&](const Topology& topology, const CollectiveProgram& program) {
        return hw::run_collective(topology, {}, program).busiest_bytes();
    };
    const auto padded = [&](const Topology& t) {
        return busiest(t, padded_all_to_all(*t, uniform(t->devices(), cells), cell));
    };
    // Each pair has a link of its own; a switch: all that a device sends to three others.
    CHECK(padded(family("fully_connected", 4)) == part);
    CHECK(padded(family("switch", 4)) == 3 * part);
    // A ring of 4: both ways from 0 to 2 are as short; by the number of the destination 0->2 goes over 1, and 3->1 over
    // 0. With 0->1 itself that makes three.
    CHECK(padded(family("ring", 3)) == part);
    CHECK(padded(family("ring", 4)) == 3 * part);
    CHECK(padded(family("ring", 5)) == 3 * part);
    // Two switches of two devices: 2 x 2 pairs each way over the links to the bridge.
    CHECK(padded(family("pcie_tree", 4)) == 4 * part);
    // Hybrid cube mesh: 2 x 3 pairs of 0, 1, 2, 3 have no link to 4, 5, 6, 7 each: 12 over QPI each way.
    CHECK(padded(named("dgx1v")) == 12 * part);
    CHECK(padded(named("pcie_tree_8")) == 16 * part);
    CHECK(padded(named("nvswitch_16")) == 64 * part);

    // All-reduce over rings: 2 (n - 1) / n of the bytes on each link, by all rings together.
    const Topology four = family("switch", 4), mesh = named("dgx1v");
    CHECK(busiest(four, ring_all_reduce(*four, 4096)) == 2 * 3 * 1024);
    CHECK(busiest(mesh, ring_all_reduce(*mesh, 6 * 8 * 1024)) == 2 * 2 * 7 * 1024);  // a pair of links: two rings
    CHECK(busiest(four, all_gather(*four, 1024)) == 3 * 1024);
    CHECK(busiest(four, gather(*four, 1, 1000)) == 3000);
    CHECK(busiest(four, scatter(*four, 1, 1000)) == 3000);

    // What is not there is not sent: one cell beside sizes of 8 bytes from each of the others.
    CellCounts one = uniform(4, 0);
    one[0][1] = 1;
    one[2][3] = 1;
    CHECK(busiest(four, sparse_all_to_all(*four, one, cell)) == 3 * 8 + cell);
}

TEST_CASE("random cells arrive once and unchanged", "[link]") {
    std::uint64_t seed = 1;
    for (const Topology& topology : all_topologies())
        random_matrices(topology, topology->devices() > 5 ? 10 : 50, seed++);
}

TEST_CASE("a million random matrices of cells arrive once and unchanged", "[.link-long]") {
    std::uint64_t seed = 100;
    for (const std::string& name : link_families())
        for (const unsigned devices : {2u, 3u}) random_matrices(family(name, devices), 125000, seed++);
}

TEST_CASE("saturated links with room for one chunk do not deadlock", "[link]") {
    MessageEngine::Config config;
    config.chunk_bytes = 64;
    config.buffer_chunks = 1;
    for (const char* switching : {"cut_through", "store_and_forward"}) {
        config.switching = switching;
        for (const std::string& name : link_families())
            for (const unsigned devices : {4u, 8u, 15u}) {
                const Topology topology = family(name, devices);
                const CollectiveProgram program = padded_all_to_all(*topology, uniform(devices, 64), 64);
                const hw::CollectiveResult result = hw::run_collective(topology, config, program);
                CHECK(result.ns > 0);
            }
    }
}

TEST_CASE("gather, scatter, all-gather and all-reduce give each device what is its own", "[link]") {
    for (const Topology& topology : all_topologies()) {
        const unsigned n = topology->devices();
        const std::uint64_t bytes = 1000;
        CollectiveProgram program = gather(*topology, n - 1, bytes);
        DeviceBuffers buffers = buffers_for(program);
        for (unsigned d = 0; d < n; ++d) std::fill_n(buffers[d].begin(), bytes, static_cast<std::uint8_t>(d + 1));
        std::fill_n(buffers[n - 1].begin() + (n - 1) * bytes, bytes, static_cast<std::uint8_t>(n));
        hw::run_collective(topology, {}, program, &buffers);
        for (std::uint64_t i = 0; i < n * bytes; ++i)
            if (buffers[n - 1][i] != i / bytes + 1) FAIL("gather: byte " << i);

        program = scatter(*topology, 0, bytes);
        DeviceBuffers scattered = buffers_for(program);
        for (std::uint64_t i = 0; i < n * bytes; ++i) scattered[0][i] = static_cast<std::uint8_t>(i / bytes + 1);
        hw::run_collective(topology, {}, program, &scattered);
        for (unsigned d = 1; d < n; ++d)
            for (std::uint64_t i = 0; i < bytes; ++i)
                if (scattered[d][i] != d + 1) FAIL("scatter: device " << d);

        program = all_gather(*topology, bytes);
        DeviceBuffers gathered = buffers_for(program);
        for (unsigned d = 0; d < n; ++d)
            std::fill_n(gathered[d].begin() + static_cast<std::ptrdiff_t>(d * bytes), bytes,
                        static_cast<std::uint8_t>(d + 1));
        hw::run_collective(topology, {}, program, &gathered);
        for (unsigned d = 0; d < n; ++d)
            for (std::uint64_t i = 0; i < n * bytes; ++i)
                if (gathered[d][i] != i / bytes + 1) FAIL("all-gather: device " << d);

        for (const bool tree : {false, true})
            for (const std::uint64_t count : {1ull, 7ull, 1000ull}) {
                program = tree ? tree_all_reduce(*topology, 4 * count, 256) : ring_all_reduce(*topology, 4 * count);
                DeviceBuffers values = buffers_for(program);
                for (unsigned d = 0; d < n; ++d)
                    for (std::uint64_t i = 0; i < count; ++i) {
                        const auto value = static_cast<float>((d + 1) * (i % 100 + 1));
                        std::memcpy(values[d].data() + 4 * i, &value, 4);
                    }
                hw::run_collective(topology, {}, program, &values);
                const std::uint64_t sum = std::uint64_t{n} * (n + 1) / 2;
                for (unsigned d = 0; d < n; ++d)
                    for (std::uint64_t i = 0; i < count; ++i) {
                        float value = 0;
                        std::memcpy(&value, values[d].data() + 4 * i, 4);
                        // Whole numbers below 2^24: no rounding.
                        if (value != static_cast<float>(sum * (i % 100 + 1))) FAIL("all-reduce " << d);
                    }
            }
    }
}

TEST_CASE("a large all-reduce takes what its links' rate says", "[link]") {
    const std::uint64_t bytes = 64 << 20;
    for (const unsigned n : {2u, 4u, 8u}) {
        const Topology topology = family("switch", n);
        const double ns = hw::run_collective(topology, {}, ring_all_reduce(*topology, bytes)).ns;
        CHECK(ns == Approx(2.0 * (n - 1) / n * static_cast<double>(bytes) / 10).epsilon(0.02));
    }
}

TEST_CASE("a program that makes no sense is refused", "[link]") {
    const Topology topology = family("ring", 4);
    CollectiveProgram program = gather(*topology, 0, 100);
    program.transfers[1].after = {2};
    CHECK_THROWS_AS(hw::run_collective(topology, {}, program), std::invalid_argument);
    CHECK_THROWS_AS(padded_all_to_all(*topology, uniform(3, 1), 8), std::invalid_argument);
    CHECK_THROWS_AS(padded_all_to_all(*topology, uniform(4, 9), 8, 8), std::invalid_argument);
}

TEST_CASE("cells of Zipf's law: shares of the ranks, shared by the sources or their own", "[link]") {
    constexpr unsigned kDevices = 8;
    constexpr std::uint64_t kCells = 20000;
    const double first = 1 / (1 + 1 / 2. + 1 / 3. + 1 / 4. + 1 / 5. + 1 / 6. + 1 / 7. + 1 / 8.);
    for (const bool own : {false, true}) {
        const CellCounts cells = skewed_cells(kDevices, kCells, 1, 3, own);
        std::set<std::size_t> hottest;
        for (const auto& row : cells) {
            CHECK(std::accumulate(row.begin(), row.end(), std::uint64_t{0}) == kCells);
            const auto most = std::max_element(row.begin(), row.end());
            CHECK(static_cast<double>(*most) / kCells == Approx(first).epsilon(0.05));
            hottest.insert(static_cast<std::size_t>(most - row.begin()));
        }
        CHECK((hottest.size() == 1) == !own);
        CHECK(cells == skewed_cells(kDevices, kCells, 1, 3, own));
        CHECK(cells != skewed_cells(kDevices, kCells, 1, 4, own));
    }
    const CellCounts uniform = skewed_cells(kDevices, kCells, 0, 3);
    for (const std::uint64_t count : uniform.front())
        CHECK(static_cast<double>(count) == Approx(kCells / kDevices).epsilon(0.1));
    CHECK_THROWS_AS(skewed_cells(0, 1, 1, 1), std::invalid_argument);
    CHECK_THROWS_AS(skewed_cells(2, 1, -1, 1), std::invalid_argument);
}
