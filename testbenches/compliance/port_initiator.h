// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/tlm/memory_manager.h"

namespace switchyard::compliance {

/// An initiator of every kind that the standard allows on one socket; `access` looks the same for all of them.
/// LT: runs ahead of simulated time by up to `quantum`. AT: one request after another on the way, any number of threads
/// inside `access`, each ending its response as `response` says.
class PortInitiator : public sc_core::sc_module {
public:
    enum class Response {
        completed,  ///< nb_transport_bw returns TLM_COMPLETED
        updated,    ///< TLM_UPDATED with END_RESP, `accept` later
        accepted    ///< TLM_ACCEPTED, and END_RESP on the forward path `accept` later
    };
    struct Style {
        std::string name = "LT, quantum 0";
        bool at = false;
        sc_core::sc_time quantum;                 ///< LT
        bool dmi = false;                         ///< LT: direct access where it is granted
        Response response = Response::completed;  ///< AT
        sc_core::sc_time request_delay, accept;   ///< AT: annotated to BEGIN_REQ; see Response
    };
    struct Access {
        ::tlm::tlm_command command = ::tlm::TLM_READ_COMMAND;
        std::uint64_t address = 0;
        unsigned char* data = nullptr;
        unsigned length = 0;
        const std::vector<unsigned char>* byte_enables = nullptr;
        unsigned streaming_width = 0;  ///< 0: the length
    };
    struct Answer {
        ::tlm::tlm_response_status status = ::tlm::TLM_INCOMPLETE_RESPONSE;
        bool dmi_allowed = false;
    };

    tlm_utils::simple_initiator_socket<PortInitiator> socket;

    PortInitiator(const sc_core::sc_module_name& name, Style style);

    Answer access(const Access& access);
    unsigned debug(::tlm::tlm_command command, std::uint64_t address, unsigned char* data, unsigned length);
    /// DMI for the address, or false and the region for which it is refused.
    bool direct(std::uint64_t address, ::tlm::tlm_dmi& region);
    /// Simulated time catches up with this initiator's.
    void sync();

    std::uint32_t read(std::uint64_t address);
    void write(std::uint64_t address, std::uint32_t value);

    /// One letter a phase or return, AT: Q BEGIN_REQ, q END_REQ, R BEGIN_RESP, r END_RESP, C TLM_COMPLETED; lower and
    /// upper case as they came, "u" before a phase that came by TLM_UPDATED.
    std::string phases;
    unsigned invalidations = 0;
    std::uint64_t transactions = 0, direct_accesses = 0;

private:
    struct Pending {
        sc_core::sc_event responded;
        bool done = false;
        sc_core::sc_time end;  ///< of the response's delay
    };

    void fill(::tlm::tlm_generic_payload& payload, const Access& access) const;
    Answer access_lt(const Access& access);
    Answer access_at(const Access& access);
    bool access_directly(const Access& access);
    ::tlm::tlm_sync_enum backward(::tlm::tlm_generic_payload& payload, ::tlm::tlm_phase& phase,
                                  sc_core::sc_time& delay);
    void invalidate(sc_dt::uint64 start, sc_dt::uint64 end);
    void end_request(const ::tlm::tlm_generic_payload& payload);

    Style style_;
    sc_core::sc_time local_;
    PayloadPool pool_;
    std::map<const ::tlm::tlm_generic_payload*, Pending*> pending_;
    const ::tlm::tlm_generic_payload* requesting_ = nullptr;
    sc_core::sc_event request_ended_;
    bool granted_ = false;
    ::tlm::tlm_dmi region_;
};

/// LT with quanta of 0, 10, 1000 and 10,000 ns, LT with DMI, and AT that ends responses in each of the three ways.
std::vector<PortInitiator::Style> port_styles();

}  // namespace switchyard::compliance
