// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "switchyard/tlm/base_protocol_monitor.h"

namespace switchyard {

using Rule = BaseProtocolRule;
using sc_core::sc_time;
using sc_core::sc_time_stamp;

namespace {

bool is_extended(unsigned phase) {
    return phase > ::tlm::END_RESP;
}

std::string name(unsigned phase) {
    switch (phase) {
        case ::tlm::UNINITIALIZED_PHASE:
            return "UNINITIALIZED_PHASE";
        case ::tlm::BEGIN_REQ:
            return "BEGIN_REQ";
        case ::tlm::END_REQ:
            return "END_REQ";
        case ::tlm::BEGIN_RESP:
            return "BEGIN_RESP";
        case ::tlm::END_RESP:
            return "END_RESP";
    }
    return fmt::format("extended phase {}", phase);
}

}  // namespace

void BaseProtocolMonitor::forward_called(Payload& payload, const Call& call) {
    if (backward_calls_ > 0) report(Rule::nb_nested, "nb_transport_fw inside nb_transport_bw, " + describe(payload));
    ++forward_calls_;
    if (!payload.has_mm()) report(Rule::memory_manager_missing, describe(payload));
    if (call.phase == ::tlm::BEGIN_REQ && find(payload) == nullptr) {
        begin_request(payload, call);
    } else {
        continue_transaction(payload, call, true);
    }
}

void BaseProtocolMonitor::backward_called(Payload& payload, const Call& call) {
    if (forward_calls_ > 0) report(Rule::nb_nested, "nb_transport_bw inside nb_transport_fw, " + describe(payload));
    ++backward_calls_;
    if (!payload.has_mm()) report(Rule::memory_manager_missing, describe(payload));
    continue_transaction(payload, call, false);
}

void BaseProtocolMonitor::continue_transaction(Payload& payload, const Call& call, bool forward) {
    const unsigned phase = call.phase;
    Transaction* const transaction = find(payload);
    if (!transaction) {
        report(is_extended(phase) ? Rule::extended_phase : Rule::transaction_unknown,
               name(phase) + ", " + describe(payload));
        return;
    }
    check_between(payload, *transaction);
    check_time(payload, *transaction, call.delay);
    if (transaction->last_call == call.phase) report(Rule::phase_repeated, name(phase) + ", " + describe(payload));
    transaction->last_call = call.phase;
    next_phase(payload, *transaction, phase, forward);
}

void BaseProtocolMonitor::begin_request(Payload& payload, const Call& call) {
    ++transactions_;
    if (in_b_transport_.count(&payload)) report(Rule::b_and_nb_mixed, describe(payload));
    check_request(payload);
    if (requesting_) report(Rule::request_exclusion, describe(payload));
    requesting_ = &payload;
    Transaction& transaction = in_nb_transport_[&payload];
    transaction.attributes = attributes_of(payload);
    transaction.last_call = call.phase;
    transaction.local_time = call.local_time;
}

/// A phase that the caller passes (not BEGIN_REQ of a new transaction) or that comes back with TLM_UPDATED.
void BaseProtocolMonitor::next_phase(Payload& payload, Transaction& transaction, unsigned phase, bool forward) {
    if (is_extended(phase)) return;
    const std::string text = name(phase) + ", " + describe(payload);
    const bool travels_forward = phase == ::tlm::BEGIN_REQ || phase == ::tlm::END_RESP;
    if (phase != ::tlm::UNINITIALIZED_PHASE && travels_forward != forward) {
        report(Rule::phase_path, text);
        return;
    }
    const State state = transaction.state;
    if (phase == ::tlm::END_REQ && state == State::request) {
        transaction.state = State::request_ended;
        requesting_ = nullptr;
    } else if (phase == ::tlm::BEGIN_RESP && state != State::response) {
        if (state == State::request) requesting_ = nullptr;
        transaction.state = State::response;
        begin_response(payload, transaction);
    } else if (phase != ::tlm::END_RESP || state != State::response) {
        report(Rule::phase_order, text);
    }
}

void BaseProtocolMonitor::begin_response(Payload& payload, Transaction& transaction) {
    if (responding_) report(Rule::response_exclusion, describe(payload));
    responding_ = &payload;
    check_response(payload);
    transaction.responded = true;
    transaction.response = payload.get_response_status();
    transaction.dmi_allowed = payload.is_dmi_allowed();
    if (payload.get_address() != transaction.attributes.address) report(Rule::address_not_restored, describe(payload));
}

void BaseProtocolMonitor::forward_returned(Payload& payload, const Call& call, ::tlm::tlm_sync_enum sync,
                                           const Phase& phase, const sc_time& delay) {
    --forward_calls_;
    returned(payload, call, sync, phase, delay, true);
}

void BaseProtocolMonitor::backward_returned(Payload& payload, const Call& call, ::tlm::tlm_sync_enum sync,
                                            const Phase& phase, const sc_time& delay) {
    --backward_calls_;
    returned(payload, call, sync, phase, delay, false);
}

void BaseProtocolMonitor::returned(Payload& payload, const Call& call, ::tlm::tlm_sync_enum sync, const Phase& phase,
                                   const sc_time& delay, bool forward) {
    check_no_wait(call, "nb_transport");
    check_return(payload, call, sync, phase, delay);
    Transaction* const transaction = find(payload);
    if (!transaction) return;
    if (forward) check_between(payload, *transaction);  // after the other way the initiator may have freed its arrays
    if (sync != ::tlm::TLM_ACCEPTED) check_time(payload, *transaction, delay);

    const unsigned called = call.phase;
    const unsigned now = phase;
    const std::string text = fmt::format("{} -> {}, {}", name(called), name(now), describe(payload));
    if (sync == ::tlm::TLM_UPDATED) {
        // END_REQ and END_RESP leave nothing to the callee; a phase that it is not its turn to send is no update.
        const bool travels_forward = now == ::tlm::BEGIN_REQ || now == ::tlm::END_RESP;
        const bool answers = called != ::tlm::END_REQ && called != ::tlm::END_RESP;
        const bool legal = now != called && (is_extended(now) || (answers && travels_forward != forward && now != 0));
        if (legal)
            next_phase(payload, *transaction, now, !forward);
        else
            report(Rule::updated_phase, text);
        if (legal && now == ::tlm::END_RESP) finish(payload);
    } else if (sync == ::tlm::TLM_COMPLETED) {
        const bool allowed =
            forward ? called == ::tlm::BEGIN_REQ || called == ::tlm::END_RESP : called == ::tlm::BEGIN_RESP;
        if (!allowed) report(Rule::completed_phase, text);
        if (!transaction->responded) begin_response(payload, *transaction);
        finish(payload);
    }
    if (forward && called == ::tlm::END_RESP) finish(payload);
}

void BaseProtocolMonitor::check_return(const Payload& payload, const Call& call, ::tlm::tlm_sync_enum sync,
                                       const Phase& phase, const sc_time& delay) {
    if (sync != ::tlm::TLM_ACCEPTED && sync != ::tlm::TLM_UPDATED && sync != ::tlm::TLM_COMPLETED)
        report(Rule::sync_value, fmt::format("{}, {}", static_cast<int>(sync), describe(payload)));
    if (sync == ::tlm::TLM_ACCEPTED && (phase != call.phase || delay != call.delay))
        report(Rule::accepted_but_changed, name(call.phase) + ", " + describe(payload));
}

void BaseProtocolMonitor::check_time(const Payload& payload, Transaction& transaction, const sc_time& delay) {
    const sc_time local_time = sc_time_stamp() + delay;
    if (local_time < transaction.local_time) {
        report(Rule::time_decreased, fmt::format("from {} to {}, {}", transaction.local_time.to_string(),
                                                 local_time.to_string(), describe(payload)));
    }
    transaction.local_time = local_time;
}

/// Between the first call and the last return of a transaction.
void BaseProtocolMonitor::check_between(const Payload& payload, const Transaction& transaction) {
    check_unmodified(payload, transaction.attributes);
    const bool changed =
        payload.get_response_status() != transaction.response || payload.is_dmi_allowed() != transaction.dmi_allowed;
    if (transaction.responded && changed) report(Rule::response_modified_late, describe(payload));
}

void BaseProtocolMonitor::finish(const Payload& payload) {
    if (requesting_ == &payload) requesting_ = nullptr;
    if (responding_ == &payload) responding_ = nullptr;
    in_nb_transport_.erase(&payload);
}

BaseProtocolMonitor::Transaction* BaseProtocolMonitor::find(const Payload& payload) {
    const auto found = in_nb_transport_.find(&payload);
    return found == in_nb_transport_.end() ? nullptr : &found->second;
}

}  // namespace switchyard
