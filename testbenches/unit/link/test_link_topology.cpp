// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/link/pcie_link.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/collectives/collectives.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::sched;
using Catch::Matchers::ContainsSubstring;

namespace {

LinkTopology file(const std::string& name) {
    return read_link_topology(std::string(SWITCHYARD_TOPOLOGIES) + "/" + name + ".yaml");
}

void refused(const std::string& text, const std::string& message) {
    CHECK_THROWS_WITH(parse_link_topology(text, "t.yaml"), ContainsSubstring(message));
    CHECK_THROWS_AS(parse_link_topology(text, "t.yaml"), InputError);
}

const std::string kHead = "name: t\ndevices: 2\nkinds:\n  l: {gb_per_s: 25}\nlinks:\n";

}  // namespace

TEST_CASE("the V100's hybrid cube mesh has six links a device, and pairs that meet over PCI Express", "[link]") {
    const LinkTopology mesh = file("dgx1v");
    // nvidia-smi topo -m
    const unsigned links[8][8] = {{0, 1, 1, 2, 2, 0, 0, 0}, {1, 0, 2, 1, 0, 2, 0, 0}, {1, 2, 0, 2, 0, 0, 1, 0},
                                  {2, 1, 2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 1, 1, 2}, {0, 2, 0, 0, 1, 0, 2, 1},
                                  {0, 0, 1, 0, 1, 2, 0, 2}, {0, 0, 0, 1, 2, 1, 2, 0}};
    for (unsigned a = 0; a < 8; ++a)
        for (unsigned b = 0; b < 8; ++b) {
            if (a == b) continue;
            const LinkTopology::Route& route = mesh.route(a, b);
            CHECK(mesh.route_over_pcie(a, b) == (links[a][b] == 0));
            if (links[a][b] > 0) {
                REQUIRE(route.size() == 1);
                CHECK(mesh.links()[route[0] / 2].count == links[a][b]);
            }
        }
    CHECK(mesh.route_gb_per_s(0, 3, LinkRate::copy) == Approx(2 * 25 * 256.0 / 272));
}

TEST_CASE("rates of PCI Express in the files are those of the host link", "[link]") {
    hw::PcieLink::Config config;
    config.generation = 3;
    for (const char* name : {"dgx1v", "dgx1p", "pcie_tree_8"}) {
        const LinkTopology topology = file(name);
        for (const LinkTopology::Link& link : topology.links())
            if (link.kind.name == "pcie3_x16")
                CHECK(link.kind.gb_per_s == Approx(hw::pcie_link_gb_per_s(config)).epsilon(1e-4));
    }
}

TEST_CASE("rings of the hybrid cube mesh", "[link]") {
    // Six links: six rings (NCCL plans 6 x 20 GB/s). Five devices: the fifth has one link to the others, no ring.
    CHECK(find_rings(file("dgx1v")).orders.size() == 6);
    CHECK(find_rings(file("dgx1p")).orders.size() == 4);
    CHECK_FALSE(find_rings(file("dgx1p").first_devices(5)).direct);
    CHECK(find_rings(file("dgx1p").first_devices(2)).orders.size() == 1);
    CHECK(find_rings(file("nvswitch_16")).orders.size() == 1);
    // Each ring passes each device once, and no link has more rings than it may.
    const LinkTopology mesh = file("dgx1v");
    std::vector<unsigned> uses(mesh.channels());
    for (const auto& order : find_rings(mesh).orders) {
        std::vector<bool> seen(8);
        for (unsigned i = 0; i < 8; ++i) {
            CHECK_FALSE(seen[order[i]]);
            seen[order[i]] = true;
            ++uses[mesh.route(order[i], order[(i + 1) % 8]).at(0)];
        }
    }
    for (unsigned c = 0; c < mesh.channels(); ++c) CHECK(uses[c] <= mesh.links()[c / 2].count);
}

TEST_CASE("channels of a layer close no ring", "[link]") {
    for (const std::string& family : link_families())
        for (const unsigned devices : {2u, 3u, 5u, 8u, 16u, 33u, 64u}) {
            const LinkTopology topology = make_link_topology(family, devices, {});
            for (unsigned layer = 0; layer < topology.layers(); ++layer) {
                // Channels without one behind them are taken away until none is left, or a ring is.
                std::vector<std::vector<unsigned>> before(topology.channels());
                std::vector<unsigned> after(topology.channels());
                for (unsigned a = 0; a < devices; ++a)
                    for (unsigned b = 0; b < devices; ++b) {
                        if (a == b || topology.layer(a, b) != layer) continue;
                        const LinkTopology::Route& route = topology.route(a, b);
                        for (std::size_t i = 0; i + 1 < route.size(); ++i) {
                            before[route[i + 1]].push_back(route[i]);
                            ++after[route[i]];
                        }
                    }
                std::vector<unsigned> open;
                for (unsigned c = 0; c < topology.channels(); ++c)
                    if (after[c] == 0) open.push_back(c);
                std::size_t gone = 0;
                while (!open.empty()) {
                    const unsigned c = open.back();
                    open.pop_back();
                    ++gone;
                    for (const unsigned earlier : before[c])
                        if (--after[earlier] == 0) open.push_back(earlier);
                }
                CHECK(gone == topology.channels());
            }
        }
    CHECK(make_link_topology("ring", 8, {}).layers() == 2);
}

TEST_CASE("a topology that makes no sense is refused with its line and key", "[link]") {
    refused("name: t\ndevices: 3\nkinds:\n  l: {gb_per_s: 25}\nlinks:\n  - {between: [gpu0, gpu1], kind: l}\n",
            "t.yaml:5: links: expected a way from gpu0 to gpu2, found none");
    refused(kHead + "  - {between: [gpu0, gpu7], kind: l}\n",
            "t.yaml:6: links[0].between: expected a known node, found gpu7");
    refused(kHead + "  - {between: [gpu0, gpu0], kind: l}\n",
            "t.yaml:6: links[0].between: expected two nodes, found the same twice");
    refused(kHead + "  - {between: [gpu0, gpu1], kind: m}\n",
            "t.yaml:6: links[0].kind: expected a known kind, found m");
    refused("name: t\ndevices: 2\nkinds:\n  l: {gb_per_s: 0}\nlinks:\n  - {between: [gpu0, gpu1], kind: l}\n",
            "t.yaml:4: kinds.l.gb_per_s: expected a rate above zero, found 0");
    refused("name: t\ndevices: 2\nkinds:\n  l: {gb_per_s: 1, rate: 2}\nlinks: []\n", "t.yaml:4: kinds.l.rate");
}
