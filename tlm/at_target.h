// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <functional>

#include <systemc>
#include <tlm>

#include "switchyard/tlm/memory_manager.h"

namespace switchyard {

/// The approximately-timed side of a target whose work is a blocking call: nb_transport_fw for its socket, and a thread
/// that makes the call for one request after another, in the order of their BEGIN_REQ.
///
/// A request is taken at once (TLM_UPDATED, END_REQ) while fewer than `requests` are held, answered ones included until
/// their END_RESP; otherwise its END_REQ comes when one of these has left (back-pressure). The response is sent as
/// BEGIN_RESP when the blocking call and the time that it annotates are over; the initiator may end it in any of the
/// three ways. With `completes_early` a request that finds nothing held is answered with TLM_COMPLETED, the blocking
/// call having been made in its BEGIN_REQ.
/// Phases that the base protocol lacks are ignored; one out of order is an SC_ERROR "switchyard/at_target/phase".
class AtTarget : public sc_core::sc_module {
public:
    using Payload = ::tlm::tlm_generic_payload;
    struct Config {
        unsigned requests = 4;  ///< at least 1
        bool completes_early = false;
    };
    /// As b_transport: adds to `delay`, may wait.
    using Serve = std::function<void(Payload&, sc_core::sc_time& delay)>;
    using Backward = std::function<::tlm::tlm_sync_enum(Payload&, ::tlm::tlm_phase&, sc_core::sc_time&)>;

    AtTarget(const sc_core::sc_module_name& name, const Config& config, Serve serve, Backward backward);

    ::tlm::tlm_sync_enum nb_transport_fw(Payload& payload, ::tlm::tlm_phase& phase, sc_core::sc_time& delay);
    /// Requests between their BEGIN_REQ and the end of their response.
    std::size_t held() const { return held_ + (blocked_ ? 1 : 0); }

private:
    struct Request {
        PooledPayload payload;
        sc_core::sc_time arrival;
    };

    ::tlm::tlm_sync_enum begin_request(Payload& payload, ::tlm::tlm_phase& phase, sc_core::sc_time& delay);
    void run();
    void respond(Payload& payload);
    void take_blocked();

    Config config_;
    Serve serve_;
    Backward backward_;
    std::deque<Request> requests_;  ///< not yet served; the last one may be `blocked_`
    std::size_t held_ = 0;
    Payload* blocked_ = nullptr;  ///< waits for its END_REQ
    sc_core::sc_time blocked_arrival_;
    Payload* responding_ = nullptr;  ///< waits for END_RESP
    sc_core::sc_event arrived_, response_ended_;
};

}  // namespace switchyard
