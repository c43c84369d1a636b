// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/compliance/protocol_rig.h"

TLM_DECLARE_EXTENDED_PHASE(data_beat);

namespace switchyard::compliance {
namespace {

using ::tlm::BEGIN_REQ;
using ::tlm::BEGIN_RESP;
using ::tlm::END_REQ;
using ::tlm::END_RESP;

::tlm::tlm_sync_enum complete(Payload& payload, ::tlm::tlm_phase&, sc_time&) {
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
    return ::tlm::TLM_COMPLETED;
}

/// The target answers `called` with TLM_UPDATED and `answer`.
void answer(Rig& rig, ::tlm::tlm_phase_enum called, ::tlm::tlm_phase_enum reply) {
    rig.fw = [=](Payload& payload, ::tlm::tlm_phase& phase, sc_time&) {
        if (phase != called) return ::tlm::TLM_ACCEPTED;
        if (reply == BEGIN_RESP) payload.set_response_status(::tlm::TLM_OK_RESPONSE);
        phase = reply;
        return ::tlm::TLM_UPDATED;
    };
}

Payload& responding(Rig& rig) {
    Payload& payload = rig.pooled();
    rig.call_fw(payload, BEGIN_REQ);
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
    rig.call_bw(payload, BEGIN_RESP);
    return payload;
}

std::vector<Violation> call_violations() {
    return {
        {Rule::b_transport_in_method, [](Rig& rig) { rig.run_in_method([](Rig& r) { r.call_b(r.plain()); }); }},
        {Rule::b_transport_reentered,
         [](Rig& rig) {
             Payload& payload = rig.plain();
             rig.b = [&, depth = 0](Payload& p, sc_time&) mutable {
                 if (depth++ == 0) rig.call_b(p);
                 p.set_response_status(::tlm::TLM_OK_RESPONSE);
             };
             rig.call_b(payload);
         }},
        {Rule::b_and_nb_mixed,
         [](Rig& rig) {
             Payload& payload = rig.pooled();
             rig.call_fw(payload, BEGIN_REQ);
             rig.call_b(payload);
         }},
        {Rule::nb_nested,
         [](Rig& rig) {
             rig.fw = [&](Payload& p, ::tlm::tlm_phase&, sc_time&) {
                 rig.call_bw(p, END_REQ);
                 return ::tlm::TLM_ACCEPTED;
             };
             rig.call_fw(rig.pooled(), BEGIN_REQ);
         }},
        {Rule::wait_forbidden,
         [](Rig& rig) {
             rig.fw = [](Payload& p, ::tlm::tlm_phase& phase, sc_time& delay) {
                 sc_core::wait(kNs);
                 return complete(p, phase, delay);
             };
             rig.call_fw(rig.pooled(), BEGIN_REQ);
         }},
        {Rule::time_decreased,
         [](Rig& rig) {
             rig.b = [](Payload& p, sc_time& delay) {
                 p.set_response_status(::tlm::TLM_OK_RESPONSE);
                 sc_core::wait(3 * kNs);
                 delay = kNs;
             };
             rig.call_b(rig.plain(), 5 * kNs);
         }},
        {Rule::sync_value,
         [](Rig& rig) {
             rig.fw = [](Payload&, ::tlm::tlm_phase&, sc_time&) { return static_cast<::tlm::tlm_sync_enum>(3); };
             rig.call_fw(rig.pooled(), BEGIN_REQ);
         }},
        {Rule::accepted_but_changed,
         [](Rig& rig) {
             rig.fw = [](Payload&, ::tlm::tlm_phase& phase, sc_time&) {
                 phase = END_REQ;
                 return ::tlm::TLM_ACCEPTED;
             };
             rig.call_fw(rig.pooled(), BEGIN_REQ);
         }},
        {Rule::updated_phase,
         [](Rig& rig) {
             answer(rig, BEGIN_REQ, BEGIN_REQ);
             rig.call_fw(rig.pooled(), BEGIN_REQ);
         }},
        {Rule::completed_phase,
         [](Rig& rig) {
             Payload& payload = rig.pooled();
             rig.call_fw(payload, BEGIN_REQ);
             payload.set_response_status(::tlm::TLM_OK_RESPONSE);
             rig.bw = [](Payload&, ::tlm::tlm_phase&, sc_time&) { return ::tlm::TLM_COMPLETED; };
             rig.call_bw(payload, END_REQ);
         }},
    };
}

std::vector<Violation> phase_violations() {
    return {
        {Rule::phase_path,
         [](Rig& rig) {
             Payload& payload = rig.pooled();
             rig.call_fw(payload, BEGIN_REQ);
             rig.call_fw(payload, END_REQ);
         }},
        {Rule::phase_order,
         [](Rig& rig) {
             Payload& payload = rig.pooled();
             rig.call_fw(payload, BEGIN_REQ);
             rig.call_bw(payload, END_REQ);
             rig.call_fw(payload, END_RESP);
         }},
        {Rule::phase_repeated,
         [](Rig& rig) {
             Payload& payload = rig.pooled();
             rig.call_fw(payload, BEGIN_REQ);
             rig.call_bw(payload, END_REQ);
             rig.call_bw(payload, END_REQ);
         },
         {Rule::phase_order}},
        {Rule::transaction_unknown, [](Rig& rig) { rig.call_fw(rig.pooled(), END_RESP); }},
        {Rule::extended_phase, [](Rig& rig) { rig.call_fw(rig.pooled(), data_beat); }},
        {Rule::request_exclusion,
         [](Rig& rig) {
             rig.call_fw(rig.pooled(), BEGIN_REQ);
             rig.call_fw(rig.pooled(), BEGIN_REQ);
         }},
        {Rule::response_exclusion,
         [](Rig& rig) {
             responding(rig);
             responding(rig);
         }},
    };
}

}  // namespace

std::vector<Violation> transport_violations() {
    std::vector<Violation> all = call_violations();
    for (Violation& violation : phase_violations()) all.push_back(std::move(violation));
    return all;
}

TEST_CASE("each rule about transport calls and phases fires", "[compliance]") {
    expect_violations(transport_violations());
}

TEST_CASE("rules about transport fire in their other cases too", "[compliance]") {
    expect_violations({
        // nb_transport_fw inside nb_transport_bw.
        {Rule::nb_nested,
         [](Rig& rig) {
             Payload& payload = rig.pooled();
             rig.call_fw(payload, BEGIN_REQ);
             payload.set_response_status(::tlm::TLM_OK_RESPONSE);
             rig.bw = [&](Payload& p, ::tlm::tlm_phase&, sc_time&) {
                 rig.call_fw(p, END_RESP);
                 return ::tlm::TLM_ACCEPTED;
             };
             rig.call_bw(payload, BEGIN_RESP);
         }},
        // b_transport first, then nb_transport for the same transaction.
        {Rule::b_and_nb_mixed,
         [](Rig& rig) {
             rig.b = [&](Payload& p, sc_time&) {
                 rig.call_fw(p, BEGIN_REQ);
                 p.set_response_status(::tlm::TLM_OK_RESPONSE);
             };
             rig.call_b(rig.pooled());
         }},
        // Time runs backwards between two calls of one transaction, and between a call and its return.
        {Rule::time_decreased,
         [](Rig& rig) {
             Payload& payload = rig.pooled();
             rig.call_fw(payload, BEGIN_REQ, 10 * kNs);
             rig.call_bw(payload, END_REQ, 9 * kNs);
         }},
        {Rule::time_decreased,
         [](Rig& rig) {
             rig.fw = [](Payload& p, ::tlm::tlm_phase& phase, sc_time& delay) {
                 delay = kNs;
                 return complete(p, phase, delay);
             };
             rig.call_fw(rig.pooled(), BEGIN_REQ, 2 * kNs);
         }},
        {Rule::accepted_but_changed,
         [](Rig& rig) {
             rig.fw = [](Payload&, ::tlm::tlm_phase&, sc_time& delay) {
                 delay += kNs;
                 return ::tlm::TLM_ACCEPTED;
             };
             rig.call_fw(rig.pooled(), BEGIN_REQ);
         }},
        // A phase in the wrong direction comes back.
        {Rule::updated_phase,
         [](Rig& rig) {
             answer(rig, BEGIN_REQ, END_RESP);
             rig.call_fw(rig.pooled(), BEGIN_REQ);
         }},
        // Nothing is left to say after END_RESP.
        {Rule::updated_phase,
         [](Rig& rig) {
             answer(rig, END_RESP, BEGIN_RESP);
             rig.call_fw(responding(rig), END_RESP);
         }},
        {Rule::phase_path,
         [](Rig& rig) {
             Payload& payload = rig.pooled();
             rig.call_fw(payload, BEGIN_REQ);
             rig.call_bw(payload, END_RESP);
         }},
        // BEGIN_REQ again before the end; a phase that was never set.
        {Rule::phase_order,
         [](Rig& rig) {
             Payload& payload = rig.pooled();
             rig.call_fw(payload, BEGIN_REQ);
             rig.call_bw(payload, END_REQ);
             rig.call_fw(payload, BEGIN_REQ);
         }},
        {Rule::phase_order,
         [](Rig& rig) {
             Payload& payload = rig.pooled();
             rig.call_fw(payload, BEGIN_REQ);
             rig.call_fw(payload, ::tlm::UNINITIALIZED_PHASE);
         }},
        // END_REQ after the response has begun.
        {Rule::phase_order, [](Rig& rig) { rig.call_bw(responding(rig), END_REQ); }},
        // Calls after the transaction has been completed, on either path.
        {Rule::transaction_unknown,
         [](Rig& rig) {
             rig.fw = complete;
             Payload& payload = rig.pooled();
             rig.call_fw(payload, BEGIN_REQ);
             rig.call_fw(payload, END_RESP);
         }},
        {Rule::transaction_unknown,
         [](Rig& rig) {
             rig.fw = complete;
             Payload& payload = rig.pooled();
             rig.call_fw(payload, BEGIN_REQ);
             rig.call_bw(payload, BEGIN_RESP);
         }},
        {Rule::extended_phase,
         [](Rig& rig) {
             Payload& payload = responding(rig);
             rig.call_fw(payload, END_RESP);
             rig.call_fw(payload, data_beat);
         }},
        // TLM_COMPLETED is a response too, 15.2.3 i.
        {Rule::response_exclusion,
         [](Rig& rig) {
             responding(rig);
             rig.fw = complete;
             rig.call_fw(rig.pooled(), BEGIN_REQ);
         }},
        // The target must have set a status when it responds, however it does.
        {Rule::response_status_missing,
         [](Rig& rig) {
             rig.fw = [](Payload&, ::tlm::tlm_phase&, sc_time&) { return ::tlm::TLM_COMPLETED; };
             rig.call_fw(rig.pooled(), BEGIN_REQ);
         }},
        {Rule::response_status_missing,
         [](Rig& rig) {
             Payload& payload = rig.pooled();
             rig.call_fw(payload, BEGIN_REQ);
             rig.call_bw(payload, BEGIN_RESP);
         }},
        // Attributes are watched over the whole transaction, whoever changes them.
        {Rule::data_length_modified,
         [](Rig& rig) {
             Payload& payload = rig.pooled();
             rig.call_fw(payload, BEGIN_REQ);
             payload.set_data_length(8);
             rig.call_bw(payload, END_REQ);
         }},
        {Rule::address_not_restored,
         [](Rig& rig) {
             Payload& payload = rig.pooled();
             rig.call_fw(payload, BEGIN_REQ);
             payload.set_address(0);
             payload.set_response_status(::tlm::TLM_OK_RESPONSE);
             rig.call_bw(payload, BEGIN_RESP);
         }},
    });
}

}  // namespace switchyard::compliance
