// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/noc/packet_network.h"
#include "switchyard/testbenches/unit/network/network_bench.h"

using namespace switchyard;
using namespace switchyard::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

void check_refused(NetworkBench& bench, PooledPayload payload, unsigned port, ::tlm::tlm_response_status status,
                   const std::string& text) {
    sc_core::sc_time delay;
    CHECK_THROWS_WITH(bench.ends.out[port]->b_transport(*payload, delay),
                      ContainsSubstring(text) && ContainsSubstring("network.router_" + std::to_string(port)));
    CHECK(payload->get_response_status() == status);
    CHECK(bench.ends.arrivals.empty());
}

}  // namespace

SIM_TEST("bad packets are refused with a line that says why", "[noc]") {
    NetworkBench bench(noc(3, 3));
    bench.run([&] {
        check_refused(bench, bench.ends.packet(0, {9}, 10), 0, ::tlm::TLM_ADDRESS_ERROR_RESPONSE,
                      "expected a destination below 9, found 9");
        check_refused(bench, bench.ends.packet(0, {1, 700, 2}, 10), 0, ::tlm::TLM_ADDRESS_ERROR_RESPONSE,
                      "expected a destination below 9, found 700");
        check_refused(bench, bench.ends.packet(0, {}, 10), 0, ::tlm::TLM_ADDRESS_ERROR_RESPONSE,
                      "with a destination, found none");
        check_refused(bench, bench.ends.packet(1, {2}, 10), 0, ::tlm::TLM_GENERIC_ERROR_RESPONSE,
                      "that sends it, found 1");
    });
}

SIM_TEST("a destination that stands twice is refused where it would be delivered", "[noc]") {
    NetworkBench bench(noc(3, 3));
    bench.run([&] {
        PooledPayload payload = bench.ends.packet(0, {5, 4, 5}, 10);
        sc_core::sc_time delay;
        CHECK_THROWS_WITH(bench.ends.out[0]->b_transport(*payload, delay),
                          ContainsSubstring("expected each destination of a packet once, found 5 twice"));
        CHECK(payload->get_response_status() == ::tlm::TLM_ADDRESS_ERROR_RESPONSE);
    });
}

SIM_TEST("a payload without routing is refused", "[noc]") {
    NetworkBench bench(noc(2, 2));
    bench.run([&] {
        ::tlm::tlm_generic_payload plain;
        sc_core::sc_time delay;
        CHECK_THROWS_WITH(bench.ends.out[0]->b_transport(plain, delay),
                          ContainsSubstring("expected a PacketExtension, found none"));
        CHECK(plain.get_response_status() == ::tlm::TLM_GENERIC_ERROR_RESPONSE);
        CHECK(bench.ends.out[0]->transport_dbg(plain) == 0);
        ::tlm::tlm_dmi dmi;
        CHECK_FALSE(bench.ends.out[0]->get_direct_mem_ptr(plain, dmi));
    });
}

SIM_TEST("an endpoint's error is the multicast's", "[noc]") {
    SimulationRegistry registry;
    hw::PacketNetwork torus("network", noc(2, 1), registry, {0, 1});
    Ends ends("ends", 1);
    struct Refuser : sc_core::sc_module {
        tlm_utils::simple_target_socket<Refuser> in{"in"};
        tlm_utils::simple_initiator_socket<Refuser> out{"out"};
        explicit Refuser(const sc_core::sc_module_name& name) : sc_module(name) {
            in.register_b_transport(this, &Refuser::refuse);
        }
        void refuse(::tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
            payload.set_response_status(::tlm::TLM_COMMAND_ERROR_RESPONSE);
        }
    } refuser("refuser");
    ends.out[0].bind(torus.inject[0]);
    torus.eject[0].bind(ends.in[0]);
    refuser.out.bind(torus.inject[1]);
    torus.eject[1].bind(refuser.in);
    ends.script = [&] {
        PooledPayload payload = ends.packet(0, {0, 1}, 10);
        sc_core::sc_time delay;
        ends.out[0]->b_transport(*payload, delay);
        CHECK(payload->get_response_status() == ::tlm::TLM_COMMAND_ERROR_RESPONSE);
        CHECK(ends.arrivals.size() == 1);
    };
    sc_core::sc_start();
}
