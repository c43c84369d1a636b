// SPDX-License-Identifier: Apache-2.0
#include "switchyard/tlm/at_target.h"
#include "switchyard/tlm/has_process.h"

#include <string>
#include <utility>

namespace switchyard {

using sc_core::sc_time;

AtTarget::AtTarget(const sc_core::sc_module_name& module_name, const Config& config, Serve serve, Backward backward)
    : sc_module(module_name),
      config_(config),
      serve_(std::move(serve)),
      backward_(std::move(backward)),
      arrived_("arrived"),
      response_ended_("response_ended") {
    SWITCHYARD_HAS_PROCESS(AtTarget);
    SC_THREAD(run);
}

::tlm::tlm_sync_enum AtTarget::nb_transport_fw(Payload& payload, ::tlm::tlm_phase& phase, sc_time& delay) {
    if (phase == ::tlm::BEGIN_REQ && !blocked_) return begin_request(payload, phase, delay);
    if (phase == ::tlm::END_RESP && responding_ == &payload) {
        responding_ = nullptr;
        response_ended_.notify(delay);
        return ::tlm::TLM_COMPLETED;
    }
    if (phase <= ::tlm::END_RESP)
        SC_REPORT_ERROR("switchyard/at_target/phase",
                        (std::string(name()) + ": expected " + (blocked_ ? "no request until END_REQ" : "BEGIN_REQ") +
                         (responding_ ? ", or END_RESP of the last response" : "") + ", found " + phase.get_name() +
                         " with " + std::to_string(held()) + " requests held")
                            .c_str());
    return ::tlm::TLM_ACCEPTED;
}

::tlm::tlm_sync_enum AtTarget::begin_request(Payload& payload, ::tlm::tlm_phase& phase, sc_time& delay) {
    if (config_.completes_early && held() == 0) {
        serve_(payload, delay);
        return ::tlm::TLM_COMPLETED;
    }
    const sc_time arrival = sc_core::sc_time_stamp() + delay;
    requests_.push_back({PooledPayload::share(payload), arrival});
    arrived_.notify(sc_core::SC_ZERO_TIME);
    if (held_ == config_.requests) {
        blocked_ = &payload;
        blocked_arrival_ = arrival;
        return ::tlm::TLM_ACCEPTED;
    }
    ++held_;
    phase = ::tlm::END_REQ;
    return ::tlm::TLM_UPDATED;
}

void AtTarget::run() {
    for (;;) {
        while (requests_.empty()) wait(arrived_);
        const Request request = std::move(requests_.front());
        requests_.pop_front();
        const sc_time now = sc_core::sc_time_stamp();
        if (request.arrival > now) wait(request.arrival - now);
        sc_time delay;
        serve_(*request.payload, delay);
        wait(delay);
        respond(*request.payload);
        --held_;
        if (blocked_) take_blocked();
    }
}

void AtTarget::respond(Payload& payload) {
    ::tlm::tlm_phase phase = ::tlm::BEGIN_RESP;
    sc_time delay;
    responding_ = &payload;
    const ::tlm::tlm_sync_enum sync = backward_(payload, phase, delay);
    if (sync == ::tlm::TLM_ACCEPTED) {
        wait(response_ended_);
        return;
    }
    responding_ = nullptr;
    if (delay > sc_core::SC_ZERO_TIME) wait(delay);
}

void AtTarget::take_blocked() {
    ++held_;
    Payload& payload = *std::exchange(blocked_, nullptr);
    ::tlm::tlm_phase phase = ::tlm::END_REQ;
    const sc_time now = sc_core::sc_time_stamp();
    sc_time delay = blocked_arrival_ > now ? blocked_arrival_ - now : sc_core::SC_ZERO_TIME;
    backward_(payload, phase, delay);
}

}  // namespace switchyard
