// SPDX-License-Identifier: Apache-2.0
// The phases of nb_transport at the configuration port: every way in which a request and a response may end.

#include "switchyard/testbenches/compliance/accelerator_rig.h"

using namespace switchyard;
using namespace switchyard::compliance;
using namespace switchyard::testing;
using Response = PortInitiator::Response;

namespace {

PortInitiator::Style style(Response response, double accept_ns = 0) {
    PortInitiator::Style at;
    at.at = true;
    at.response = response;
    at.accept = ns(accept_ns);
    return at;
}

std::string phases_of_a_read(const PortInitiator::Style& at, std::map<std::string, std::string> overrides) {
    std::string phases;
    AcceleratorRig rig(mini(std::move(overrides)), at);
    rig.run([](AcceleratorRig& r) { CHECK(r.read(regs::kId) == regs::kIdValue); });
    return rig.port.phases;
}

}  // namespace

TEST_CASE("an access takes one phase to four, as both sides choose", "[accelerator][at]") {
    struct Case {
        Response response;
        bool early;
        const char* phases;
    };
    // Q: BEGIN_REQ, u: TLM_UPDATED with, q: END_REQ, R: BEGIN_RESP, r: END_RESP, C: TLM_COMPLETED.
    for (const Case& c : {Case{Response::accepted, true, "QC"}, Case{Response::completed, false, "QuqR"},
                          Case{Response::updated, false, "QuqR"}, Case{Response::accepted, false, "QuqRr"}}) {
        in_child([&] {
            CHECK(phases_of_a_read(style(c.response), {{"host.port_completes_early", c.early ? "on" : "off"}}) ==
                  c.phases);
        });
    }
}

TEST_CASE("a port that holds all it can delays END_REQ until a response has ended", "[accelerator][at]") {
    struct Case {
        const char* requests;
        std::string phases;
    };
    // Three threads ask at once.
    for (const Case& c : {Case{"1", "QuqQRrqQRrqRr"}, Case{"2", "QuqQuqQRrqRrRr"}, Case{"3", "QuqQuqQuqRrRrRr"}}) {
        INFO(c.requests << " requests");
        in_child([&] {
            AcceleratorRig rig(mini({{"host.port_requests", c.requests}}), style(Response::accepted, 20));
            std::vector<double> ends;
            for (std::uint32_t i = 0; i < 3; ++i) {
                rig.drive([&, i](AcceleratorRig& r) {
                    r.write(regs::kDmaHostLow + 4 * i, i + 1);
                    ends.push_back(sc_core::sc_time_stamp() / ns(1));
                });
            }
            sc_core::sc_start();
            CHECK(rig.port.phases == c.phases);
            // In order, one after another: a cycle on the link and 20 ns until END_RESP.
            CHECK(ends == std::vector<double>{21, 42, 63});
            unsigned char data[12] = {};
            CHECK(rig.port.debug(::tlm::TLM_READ_COMMAND, regs::kDmaHostLow, data, 12) == 12);
            CHECK((data[0] == 1 && data[4] == 2 && data[8] == 3));
            CHECK_FALSE(sc_core::sc_pending_activity());
        });
    }
}

TEST_CASE("with early completion only a request that finds others waits for its phases", "[accelerator][at]") {
    in_child([] {
        PortInitiator::Style at = style(Response::completed);
        AcceleratorRig rig(mini({{"host.port_completes_early", "on"}}), at);
        rig.drive([](AcceleratorRig& r) {
            for (unsigned i = 0; i < 3; ++i) CHECK(r.read(regs::kId) == regs::kIdValue);
        });
        sc_core::sc_start();
        CHECK(rig.port.phases == "QCQCQC");
        CHECK(sc_core::sc_time_stamp() == ns(3));
    });
}

TEST_CASE("annotated times are kept: a request in the future is served in the future", "[accelerator][at]") {
    for (const Response response : {Response::completed, Response::updated, Response::accepted}) {
        in_child([&] {
            PortInitiator::Style at = style(response, 7);
            at.request_delay = ns(100);
            AcceleratorRig rig(mini(), at);
            rig.run([&](AcceleratorRig& r) {
                r.write(regs::kDmaHostLow, 5);
                const double accept = response == Response::accepted ? 7 : 0;
                CHECK(sc_core::sc_time_stamp() == ns(100 + 1 + accept));
                r.write(regs::kDmaHostLow, 6);
                CHECK(sc_core::sc_time_stamp() == ns(2 * (100 + 1 + accept)));
            });
        });
    }
}

TEST_CASE("blocking and non-blocking initiators may share a port", "[accelerator][at]") {
    in_child([] {
        // The same socket takes both kinds of call for different transactions.
        AcceleratorRig rig(mini(), style(Response::accepted, 4));
        rig.run([](AcceleratorRig& r) {
            r.write(regs::kDmaHostLow, 1);
            ::tlm::tlm_generic_payload payload;
            unsigned char data[4] = {};
            payload.set_read();
            payload.set_address(regs::kDmaHostLow);
            payload.set_data_ptr(data);
            payload.set_data_length(4);
            payload.set_streaming_width(4);
            sc_core::sc_time delay = ns(9);
            r.port.socket->b_transport(payload, delay);
            CHECK(payload.is_response_ok());
            CHECK(data[0] == 1);
            CHECK(delay == ns(10));
            CHECK(payload.get_address() == regs::kDmaHostLow);
        });
    });
}

SIM_TEST("a phase out of order is an error of the initiator's", "[accelerator][at]") {
    AcceleratorRig rig(mini(), style(Response::completed));
    for (const BaseProtocolRule rule : {BaseProtocolRule::transaction_unknown, BaseProtocolRule::phase_order})
        rig.port_checker.monitor().waive(rule);
    rig.run([](AcceleratorRig& r) {
        const ExpectReport report("switchyard/at_target/phase");
        PayloadPool pool("pool");
        const PooledPayload payload(pool);
        payload->set_read();
        unsigned char data[4] = {};
        payload->set_data_ptr(data);
        payload->set_data_length(4);
        payload->set_streaming_width(4);
        ::tlm::tlm_phase phase = ::tlm::END_RESP;
        sc_core::sc_time delay;
        CHECK_THROWS_AS(r.port.socket->nb_transport_fw(*payload, phase, delay), sc_core::sc_report);
    });
}
