// SPDX-License-Identifier: Apache-2.0
// The networks carry any system's traffic over any topology: a system whose message they do not know, and topologies
// that are defined here alone.

#include <map>
#include <set>

#include "switchyard/hw/noc/endpoint_map.h"
#include "switchyard/testbenches/unit/network/network_bench.h"
#include "switchyard/tlm/has_process.h"

using namespace switchyard;
using namespace switchyard::testing;

namespace {

/// What the endpoints of a video system say to each other.
struct Frame : ::tlm::tlm_extension<Frame> {
    std::uint32_t number = 0;
    std::string codec;

    void reset() {
        number = 0;
        codec.clear();
    }
    ::tlm::tlm_extension_base* clone() const override { return new Frame(*this); }
    void copy_from(const ::tlm::tlm_extension_base& other) override { *this = static_cast<const Frame&>(other); }
};

/// An endpoint that writes down what arrives.
struct Unit : sc_core::sc_module {
    tlm_utils::simple_initiator_socket<Unit> out{"out"};
    tlm_utils::simple_target_socket<Unit> in{"in"};
    ExtendedPayloadPool<PacketExtension, Frame> pool{"frames"};
    std::vector<std::string> got;
    std::function<void()> script;

    explicit Unit(const sc_core::sc_module_name& name) : sc_module(name) {
        in.register_b_transport(this, &Unit::arrive);
        SWITCHYARD_HAS_PROCESS(Unit);
        SC_THREAD(run);
    }
    void run() {
        if (script) script();
    }
    void arrive(::tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
        const auto& packet = *payload.get_extension<PacketExtension>();
        const auto* const frame = payload.get_extension<Frame>();
        if (packet.is_receipt)
            got.push_back("receipt " + std::to_string(packet.receipt_tag));
        else
            got.push_back(frame->codec + " " + std::to_string(frame->number) + " from " +
                          std::to_string(packet.source));
        payload.set_response_status(::tlm::TLM_OK_RESPONSE);
    }
    /// Whether a receipt will say when it has arrived.
    bool send(Endpoint source, std::vector<Endpoint> destinations, std::uint32_t number, const std::string& codec) {
        PooledPayload payload(pool);
        PacketExtension& packet = payload.packet();
        packet.source = source;
        packet.destinations = std::move(destinations);
        packet.payload_bytes = 1000 * number;
        packet.wants_receipt = true;
        packet.receipt_tag = 0xF0000000 + number;
        payload.extension<Frame>().number = number;
        payload.extension<Frame>().codec = codec;
        payload->set_command(::tlm::TLM_WRITE_COMMAND);
        payload->set_data_ptr(dummy_buffer(1));
        payload->set_data_length(1);
        payload->set_streaming_width(1);
        sc_core::sc_time delay;
        out->b_transport(*payload, delay);
        return packet.receipt_follows;
    }
};

/// A ring; both directions, the shorter one, clockwise if they are equally long.
class Ring : public hw::Topology {
public:
    explicit Ring(unsigned size) : size_(size) {}
    unsigned routers() const override { return size_; }
    unsigned router_ports() const override { return 2; }
    std::string port_name(unsigned port) const override { return port == 0 ? "clockwise" : "counterclockwise"; }
    std::optional<Far> behind(unsigned router, unsigned port) const override {
        return Far{(router + (port == 0 ? 1 : size_ - 1)) % size_, 1 - port};
    }
    unsigned hops(unsigned from, unsigned to) const override {
        const unsigned forward = (to + size_ - from) % size_;
        return std::min(forward, size_ - forward);
    }
    unsigned port_to(unsigned at, unsigned to, unsigned) const override {
        return 2 * ((to + size_ - at) % size_) <= size_ ? 0 : 1;
    }
    unsigned vc_classes() const override { return 2; }
    bool second_class(unsigned from, unsigned to, unsigned port) const override {
        return port == 0 ? to < from : to > from;
    }

private:
    unsigned size_;
};

/// A binary tree as of PCIe switches: point-to-point links between a router and its parent.
class Tree : public hw::Topology {
public:
    explicit Tree(unsigned levels) : routers_((1u << levels) - 1) {}
    unsigned routers() const override { return routers_; }
    unsigned router_ports() const override { return 3; }
    std::string port_name(unsigned port) const override { return port == 0 ? "up" : port == 1 ? "left" : "right"; }
    std::optional<Far> behind(unsigned router, unsigned port) const override {
        if (port == 0) {
            if (router == 0) return std::nullopt;
            return Far{(router - 1) / 2, 2 - router % 2};
        }
        const unsigned child = 2 * router + port;
        if (child >= routers_) return std::nullopt;
        return Far{child, 0};
    }
    unsigned hops(unsigned from, unsigned to) const override {
        unsigned count = 0;
        for (; from != to; from = behind(from, port_to(from, to, 0))->router) ++count;
        return count;
    }
    unsigned port_to(unsigned at, unsigned to, unsigned) const override {
        unsigned below = to;
        while (below > at) {
            if ((below - 1) / 2 == at) return 2 - below % 2;
            below = (below - 1) / 2;
        }
        return 0;
    }

private:
    unsigned routers_;
};

hw::NocConfig routers_of(const std::string& impl) {
    hw::NocConfig config;
    config.impl = impl;
    return config;
}

/// Each pair alone, then all at once with multicasts: everything arrives once, each flow in order.
void check_carries(const hw::TopologyPtr& topology, const std::string& impl) {
    NetworkBench bench(routers_of(impl), topology);
    const auto count = static_cast<Endpoint>(topology->routers());
    std::uint64_t expected = 0;
    bench.run([&] {
        for (Endpoint from = 0; from < count; ++from)
            for (Endpoint to = 0; to < count; ++to) {
                bench.ends.arrivals.clear();
                const std::uint64_t begin = bench.ends.now();
                bench.ends.send(from, {to}, 700);
                bench.ends.wait_cycles(500);
                REQUIRE(bench.ends.arrivals.size() == 1);
                CHECK(bench.ends.arrivals[0].at == to);
                CHECK(bench.ends.arrivals[0].cycle == begin + bench.torus.zero_load_cycles(from, to, 700));
            }
        bench.ends.arrivals.clear();
        std::vector<Endpoint> everybody(count);
        std::iota(everybody.begin(), everybody.end(), Endpoint{0});
        for (std::uint32_t round = 0; round < 40; ++round)
            for (Endpoint from = 0; from < count; ++from) {
                bench.ends.send(from, {static_cast<Endpoint>((from * 3 + round) % count)}, 3000, round);
                bench.ends.send(from, everybody, 100, round);
                expected += 1 + count;
            }
        bench.ends.wait_cycles(200000);
    });
    REQUIRE(bench.ends.arrivals.size() == expected);
    std::map<std::pair<Endpoint, Endpoint>, std::uint64_t> latest_cycle;
    std::map<std::pair<Endpoint, Endpoint>, std::uint32_t> latest_round;
    for (const Arrival& arrival : bench.ends.arrivals) {
        const std::pair<Endpoint, Endpoint> flow{arrival.source, arrival.at};
        CHECK(arrival.tag >= latest_round[flow]);
        CHECK(arrival.cycle >= latest_cycle[flow]);
        latest_round[flow] = arrival.tag;
        latest_cycle[flow] = arrival.cycle;
    }
    CHECK(bench.torus.stats().injected_packets > 0);
}

}  // namespace

TEST_CASE("a system of its own uses a network that does not know its messages", "[noc]") {
    const std::string impl = GENERATE("packet", "flit");
    in_child([&] {
        hw::EndpointMap map;
        const Endpoint camera = map.attach("camera", 0), filter = map.attach("filter", 4),
                       display = map.attach("display", 5);
        SimulationRegistry registry;
        const auto network = hw::make_network("network", noc(3, 2, "mesh", impl), registry, map.routers());
        Unit units[3] = {Unit("camera"), Unit("filter"), Unit("display")};
        for (std::size_t e = 0; e < map.size(); ++e) {
            units[e].out.bind(network->inject[e]);
            network->eject[e].bind(units[e].in);
        }
        bool receipt = false;
        units[camera].script = [&] {
            receipt = units[camera].send(camera, {filter, display}, 7, "av1");
            units[camera].send(camera, {display}, 8, "av1");
        };
        sc_core::sc_start();
        CHECK(receipt == (impl == "flit"));
        CHECK(units[filter].got == std::vector<std::string>{"av1 7 from 0"});
        CHECK(units[display].got == std::vector<std::string>{"av1 7 from 0", "av1 8 from 0"});
        std::multiset<std::string> receipts(units[camera].got.begin(), units[camera].got.end());
        if (receipt)
            CHECK(receipts == std::multiset<std::string>{"receipt " + std::to_string(0xF0000007u),
                                                         "receipt " + std::to_string(0xF0000008u)});
        else
            CHECK(receipts.empty());
    });
}

TEST_CASE("both networks carry packets over topologies that are not grids", "[noc]") {
    const std::string impl = GENERATE("packet", "flit");
    SECTION("a ring, whose links close a cycle") {
        in_child([&] { check_carries(std::make_shared<const Ring>(6), impl); });
    }
    SECTION("a tree of point-to-point links") {
        in_child([&] { check_carries(std::make_shared<const Tree>(3), impl); });
    }
}

TEST_CASE("what another topology cannot have is refused", "[noc]") {
    in_child([] {
        SimulationRegistry registry;
        const auto ring = std::make_shared<const Ring>(4);
        CHECK_THROWS_WITH(hw::make_network("beyond", routers_of("packet"), registry, ring, {0, 4}),
                          Catch::Matchers::ContainsSubstring("at routers below 4, found endpoint 1 at router 4"));
        hw::NocConfig odd = routers_of("flit");
        odd.vcs = 3;
        CHECK_THROWS_WITH(hw::make_network("odd", odd, registry, ring, {0}),
                          Catch::Matchers::ContainsSubstring("vcs: expected an even number"));
        hw::NocConfig exchanged = routers_of("flit");
        exchanged.impl_of_router = {"rtl", "flit", "flit", "flit"};
        const auto none = [](const hw::flit::Config&, unsigned, unsigned, const std::string&) {
            return std::unique_ptr<hw::flit::ExternalRouter>();
        };
        CHECK_THROWS_WITH(hw::make_network("exchanged", exchanged, registry, ring, {0}, none),
                          Catch::Matchers::ContainsSubstring("expected a grid for routers to be exchanged"));
    });
}
