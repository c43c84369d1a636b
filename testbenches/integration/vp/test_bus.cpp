// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include "switchyard/testbenches/integration/vp/bus.h"
#include "switchyard/testbenches/sim_test.h"
#include "switchyard/tlm/base_protocol_checker.h"
#include "switchyard/tlm/has_process.h"

using namespace switchyard;
using namespace switchyard::testing;

namespace {

using Payload = ::tlm::tlm_generic_payload;
using Range = std::pair<std::uint64_t, std::uint64_t>;

/// Grants direct access to more than the bus shows of it.
struct Target : sc_core::sc_module {
    tlm_utils::simple_target_socket<Target> socket{"socket"};
    std::vector<std::uint64_t> addresses;
    unsigned char memory[64] = {};

    explicit Target(const sc_core::sc_module_name& name) : sc_module(name) {
        socket.register_b_transport(this, &Target::b_transport);
        socket.register_get_direct_mem_ptr(this, &Target::get_direct_mem_ptr);
        socket.register_transport_dbg(this, &Target::transport_dbg);
    }
    void b_transport(Payload& payload, sc_core::sc_time&) {
        addresses.push_back(payload.get_address());
        payload.set_response_status(::tlm::TLM_OK_RESPONSE);
    }
    bool get_direct_mem_ptr(Payload&, ::tlm::tlm_dmi& dmi) {
        dmi.set_start_address(0);
        dmi.set_end_address(0xFFFF);
        dmi.set_dmi_ptr(memory);
        dmi.allow_read_write();
        return true;
    }
    unsigned transport_dbg(Payload& payload) {
        addresses.push_back(payload.get_address());
        return payload.get_data_length();
    }
};

struct Initiator : sc_core::sc_module {
    tlm_utils::simple_initiator_socket<Initiator> socket{"socket"};
    std::vector<Range> invalidated;

    explicit Initiator(const sc_core::sc_module_name& name) : sc_module(name) {
        socket.register_invalidate_direct_mem_ptr(this, &Initiator::invalidate);
    }
    void invalidate(sc_dt::uint64 begin, sc_dt::uint64 end) { invalidated.emplace_back(begin, end); }
};

struct Rig : sc_core::sc_module {
    Initiator first{"first"}, second{"second"};
    Target low{"low"}, high{"high"};
    Bus bus{"bus", sc_core::sc_time(3, sc_core::SC_NS)};
    BaseProtocolChecker<> first_checker{"first_checker"}, high_checker{"high_checker"};
    std::vector<std::pair<::tlm::tlm_response_status, sc_core::sc_time>> answers;

    explicit Rig(const sc_core::sc_module_name& name = "rig") : sc_module(name) {
        first.socket.bind(first_checker.target_socket);
        first_checker.initiator_socket.bind(bus.from);
        second.socket.bind(bus.from);
        bus.to.bind(low.socket);
        bus.map("low", 0x1000, 0x1000);
        bus.to.bind(high_checker.target_socket);
        high_checker.initiator_socket.bind(high.socket);
        bus.map("high", 0x8000'0000, 0x100);
        SWITCHYARD_HAS_PROCESS(Rig);
        SC_THREAD(run);
    }
    void access(std::uint64_t address, unsigned bytes) {
        unsigned char data[8] = {};
        Payload payload;
        payload.set_write();
        payload.set_address(address);
        payload.set_data_ptr(data);
        payload.set_data_length(bytes);
        payload.set_streaming_width(bytes);
        sc_core::sc_time delay(1, sc_core::SC_NS);
        first.socket->b_transport(payload, delay);
        CHECK(payload.get_address() == address);
        answers.emplace_back(payload.get_response_status(), delay);
    }
    void run() {
        access(0x1010, 4);
        access(0x8000'00FC, 4);
        access(0x8000'00FE, 4);  // half of it is behind the end
        access(0x3000, 4);
    }
};

}  // namespace

SIM_TEST("the bus finds targets, restores addresses and refuses holes", "[vp][bus]") {
    Rig rig;
    sc_core::sc_start();
    const sc_core::sc_time after(4, sc_core::SC_NS);
    CHECK(rig.answers == decltype(rig.answers){{::tlm::TLM_OK_RESPONSE, after},
                                               {::tlm::TLM_OK_RESPONSE, after},
                                               {::tlm::TLM_ADDRESS_ERROR_RESPONSE, after},
                                               {::tlm::TLM_ADDRESS_ERROR_RESPONSE, after}});
    CHECK(rig.low.addresses == std::vector<std::uint64_t>{0x10});
    CHECK(rig.high.addresses == std::vector<std::uint64_t>{0xFC});
}

SIM_TEST("direct access through the bus ends where the target's range ends, and is taken back from all", "[vp][bus]") {
    Rig rig;
    sc_core::sc_start();
    Payload payload;
    payload.set_read();
    payload.set_address(0x8000'0010);
    ::tlm::tlm_dmi dmi;
    REQUIRE(rig.first.socket->get_direct_mem_ptr(payload, dmi));
    CHECK(payload.get_address() == 0x8000'0010);
    CHECK(Range(dmi.get_start_address(), dmi.get_end_address()) == Range(0x8000'0000, 0x8000'00FF));
    CHECK(dmi.get_dmi_ptr() == rig.high.memory);
    CHECK(dmi.get_read_latency() == sc_core::sc_time(3, sc_core::SC_NS));
    payload.set_address(0x3000);
    dmi.init();
    CHECK_FALSE(rig.first.socket->get_direct_mem_ptr(payload, dmi));

    rig.high.socket->invalidate_direct_mem_ptr(0x80, ~std::uint64_t{0});
    rig.high.socket->invalidate_direct_mem_ptr(0x100, 0x200);  // nobody sees that part
    CHECK(rig.first.invalidated == std::vector<Range>{{0x8000'0080, 0x8000'00FF}});
    CHECK(rig.second.invalidated == rig.first.invalidated);

    unsigned char data[4];
    payload.set_address(0x1004);
    payload.set_data_ptr(data);
    payload.set_data_length(4);
    CHECK(rig.second.socket->transport_dbg(payload) == 4);
    CHECK(rig.low.addresses.back() == 4);
    payload.set_address(0x3000);
    CHECK(rig.second.socket->transport_dbg(payload) == 0);
}
