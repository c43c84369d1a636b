// SPDX-License-Identifier: Apache-2.0
// Faulty initiators and targets behind a protocol-repair adapter: a checker on the other side of it sees none of their
// faults, and one on their side sees them.

#include <functional>
#include <set>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include "switchyard/testbenches/sim_test.h"
#include "switchyard/tlm/base_protocol_checker.h"
#include "switchyard/tlm/has_process.h"
#include "switchyard/tlm/memory_manager.h"
#include "switchyard/tlm/protocol_repair_adapter.h"

using namespace switchyard;
using namespace switchyard::testing;
using Repair = BoundaryRepairs::Repair;
using Payload = ::tlm::tlm_generic_payload;

namespace {

const sc_core::sc_time kTen(10, sc_core::SC_NS);

/// Initiator, checker, boundary, checker, target; what each side does wrong is up to the test.
class RepairRig : public sc_core::sc_module {
public:
    tlm_utils::simple_initiator_socket<RepairRig> initiator{"initiator"};
    BaseProtocolChecker<> near{"near"};
    ProtocolRepairAdapter<> boundary{"boundary"};
    BaseProtocolChecker<> far{"far"};
    tlm_utils::simple_target_socket<RepairRig> target{"target"};

    std::function<void(Payload&)> spoil_request = [](Payload&) {};
    std::function<void(Payload&, sc_core::sc_time&)> spoil_response = [](Payload&, sc_core::sc_time&) {};
    bool phases = false;
    std::vector<unsigned char> seen;  ///< by the target
    std::set<BaseProtocolRule> broken_near, broken_far;

    explicit RepairRig(const sc_core::sc_module_name& name = "rig") : sc_module(name) {
        initiator.bind(near.target_socket);
        near.initiator_socket.bind(boundary.target_socket);
        boundary.initiator_socket.bind(far.target_socket);
        far.initiator_socket.bind(target);
        near.monitor().set_handler([this](const BaseProtocolViolation& v) { broken_near.insert(v.rule); });
        far.monitor().set_handler([this](const BaseProtocolViolation& v) { broken_far.insert(v.rule); });
        target.register_b_transport(this, &RepairRig::b_transport);
        target.register_nb_transport_fw(this, &RepairRig::nb_transport_fw);
        target.register_transport_dbg(this, &RepairRig::transport_dbg);
        initiator.register_nb_transport_bw(this, &RepairRig::nb_transport_bw);
        SWITCHYARD_HAS_PROCESS(RepairRig);
        SC_THREAD(run);
        SC_METHOD(respond);
        sensitive << respond_;
        dont_initialize();
    }

    ::tlm::tlm_response_status status = ::tlm::TLM_INCOMPLETE_RESPONSE;
    sc_core::sc_time delay;

private:
    void run() {
        PayloadPool pool("pool");
        for (unsigned repeat = 0; repeat < 3; ++repeat) {
            const PooledPayload payload(pool);
            unsigned char data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
            payload->set_write();
            payload->set_address(0x100);
            payload->set_data_ptr(data);
            payload->set_data_length(8);
            payload->set_streaming_width(8);
            spoil_request(*payload);
            const unsigned width = payload->get_streaming_width();
            const unsigned char* const enables = payload->get_byte_enable_ptr();
            delay = kTen;
            access(*payload);
            status = payload->get_response_status();
            CHECK(payload->get_address() == 0x100);
            CHECK(payload->get_streaming_width() == width);
            CHECK(payload->get_byte_enable_ptr() == enables);
        }
    }
    void access(Payload& payload) {
        if (!phases) return initiator->b_transport(payload, delay);
        ::tlm::tlm_phase phase = ::tlm::BEGIN_REQ;
        initiator->nb_transport_fw(payload, phase, delay);
        wait(done_);
    }
    void take(Payload& payload) {
        CHECK(payload.get_streaming_width() == 8);
        seen.assign(payload.get_data_ptr(), payload.get_data_ptr() + payload.get_data_length());
        payload.set_response_status(::tlm::TLM_OK_RESPONSE);
    }
    void b_transport(Payload& payload, sc_core::sc_time& time) {
        take(payload);
        spoil_response(payload, time);
    }
    ::tlm::tlm_sync_enum nb_transport_fw(Payload& payload, ::tlm::tlm_phase&, sc_core::sc_time&) {
        take(payload);
        responding_ = &payload;
        respond_.notify(kTen);
        return ::tlm::TLM_ACCEPTED;
    }
    void respond() {
        sc_core::sc_time time;
        spoil_response(*responding_, time);
        ::tlm::tlm_phase phase = ::tlm::BEGIN_RESP;
        target->nb_transport_bw(*responding_, phase, time);
    }
    ::tlm::tlm_sync_enum nb_transport_bw(Payload&, ::tlm::tlm_phase&, sc_core::sc_time&) {
        done_.notify(sc_core::SC_ZERO_TIME);
        return ::tlm::TLM_COMPLETED;
    }
    unsigned transport_dbg(Payload& payload) {
        sc_core::sc_time time;
        spoil_response(payload, time);
        return 0;
    }

    sc_core::sc_event done_{"done"}, respond_{"due"};
    Payload* responding_ = nullptr;
};

struct Fault {
    Repair repair;
    BaseProtocolRule rule;  ///< of the side that is at fault
    bool by_target, blocking_only;
    std::function<void(Payload&)> request;
    std::function<void(Payload&, sc_core::sc_time&)> response;
};

std::vector<Fault> faults() {
    const auto well = [](Payload&) {};
    const auto answered = [](Payload&, sc_core::sc_time&) {};
    static unsigned char enable = TLM_BYTE_ENABLED;
    return {
        {Repair::streaming_width_zero, BaseProtocolRule::streaming_width_zero, false, false,
         [](Payload& p) { p.set_streaming_width(0); }, answered},
        {Repair::byte_enable_length_zero, BaseProtocolRule::byte_enable_length_zero, false, false,
         [](Payload& p) {
             p.set_byte_enable_ptr(&enable);
             p.set_byte_enable_length(0);
         },
         answered},
        {Repair::response_status_initial, BaseProtocolRule::response_status_initial, false, false,
         [](Payload& p) { p.set_response_status(::tlm::TLM_OK_RESPONSE); }, answered},
        {Repair::dmi_hint_initial, BaseProtocolRule::dmi_hint_initial, false, false,
         [](Payload& p) { p.set_dmi_allowed(true); }, answered},
        {Repair::response_status_missing, BaseProtocolRule::response_status_missing, true, false, well,
         [](Payload& p, sc_core::sc_time&) { p.set_response_status(::tlm::TLM_INCOMPLETE_RESPONSE); }},
        {Repair::address_not_restored, BaseProtocolRule::address_not_restored, true, false, well,
         [](Payload& p, sc_core::sc_time&) { p.set_address(p.get_address() - 0x100); }},
        {Repair::time_decreased, BaseProtocolRule::time_decreased, true, true, well,
         [](Payload&, sc_core::sc_time& delay) { delay = sc_core::SC_ZERO_TIME; }},
    };
}

}  // namespace

TEST_CASE("a boundary repairs what one side does wrong, and reports it once", "[protocol_repair]") {
    for (const Fault& fault : faults()) {
        for (const bool phases : {false, true}) {
            if (phases && fault.blocking_only) continue;
            INFO(to_string(fault.repair) << (phases ? ", AT" : ", LT"));
            in_child([&] {
                INFO(to_string(fault.repair) << (phases ? ", AT" : ", LT"));
                RepairRig rig;
                rig.phases = phases;
                rig.spoil_request = fault.request;
                rig.spoil_response = fault.response;
                {
                    const ExpectReport warning(std::string("switchyard/protocol_repair_adapter/") +
                                               to_string(fault.repair));
                    sc_core::sc_start();
                    CHECK(warning.messages().size() == 1);
                }
                CHECK(rig.boundary.count(fault.repair) == 3);
                CHECK(rig.boundary.summary() ==
                      "rig.boundary: " + std::string(to_string(fault.repair)) + ", 3 times\n");
                CHECK(rig.status == ::tlm::TLM_OK_RESPONSE);
                CHECK(rig.delay == kTen);
                CHECK(rig.seen == std::vector<unsigned char>{1, 2, 3, 4, 5, 6, 7, 8});
                std::set<BaseProtocolRule> at_fault{fault.rule}, none;
                // Until its response a request on the way carries what was repaired.
                if (phases && fault.repair == Repair::streaming_width_zero)
                    at_fault.insert(BaseProtocolRule::streaming_width_modified);
                if (phases && fault.repair == Repair::byte_enable_length_zero)
                    at_fault.insert(BaseProtocolRule::byte_enable_modified);
                CHECK((rig.broken_near == (fault.by_target ? none : at_fault)));
                CHECK((rig.broken_far == (fault.by_target ? at_fault : none)));
            });
        }
    }
}

TEST_CASE("what is well passes a boundary unchanged", "[protocol_repair]") {
    for (const bool phases : {false, true}) {
        in_child([&] {
            RepairRig rig;
            rig.phases = phases;
            sc_core::sc_start();
            CHECK(rig.status == ::tlm::TLM_OK_RESPONSE);
            CHECK(rig.boundary.summary().empty());
            CHECK(rig.broken_near.empty());
            CHECK(rig.broken_far.empty());
            CHECK(rig.near.monitor().transactions() == 3);
        });
    }
}

SIM_TEST("an address that a debug access left changed is restored", "[protocol_repair]") {
    RepairRig rig;
    rig.spoil_response = [](Payload& p, sc_core::sc_time&) { p.set_address(1); };
    const ExpectReport warning("switchyard/protocol_repair_adapter/address_not_restored");
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    Payload payload;
    unsigned char data[4] = {};
    payload.set_read();
    payload.set_address(0x40);
    payload.set_data_ptr(data);
    payload.set_data_length(4);
    rig.initiator->transport_dbg(payload);
    CHECK(payload.get_address() == 0x40);
}
