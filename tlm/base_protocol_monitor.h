// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <systemc>
#include <tlm>

#include "switchyard/tlm/base_protocol_rules.h"

namespace switchyard {

struct BaseProtocolViolation {
    BaseProtocolRule rule;
    std::string link;     ///< name of the checker
    std::string message;  ///< one line: rule, clause, payload
};

/// The rules of BaseProtocolChecker without its sockets: told of every call and return on one link, it reports what
/// breaks a rule and remembers what the next call must be compared with.
class BaseProtocolMonitor {
public:
    using Payload = ::tlm::tlm_generic_payload;
    using Phase = ::tlm::tlm_phase;
    using Handler = std::function<void(const BaseProtocolViolation&)>;

    /// Data and byte enable arrays are compared up to this length.
    static constexpr unsigned kComparedBytes = 4096;

    /// A call that has not returned.
    struct Call {
        Phase phase;
        sc_core::sc_time delay;
        sc_core::sc_time local_time;  ///< sc_time_stamp() + delay
        std::uint64_t delta = 0;
    };
    /// Attributes of a payload as the link saw them first.
    struct Attributes {
        ::tlm::tlm_command command = ::tlm::TLM_IGNORE_COMMAND;
        std::uint64_t address = 0;
        const unsigned char* data = nullptr;
        unsigned length = 0;
        const unsigned char* byte_enables = nullptr;
        unsigned byte_enable_length = 0, streaming_width = 0;
        ::tlm::tlm_gp_option option = ::tlm::TLM_MIN_PAYLOAD;
        bool has_mm = false;
        std::vector<unsigned char> constant_data, byte_enable_array;
        std::vector<const ::tlm::tlm_extension_base*> extensions;  ///< by id
    };

    explicit BaseProtocolMonitor(std::string link) : link_(std::move(link)) {}

    void set_handler(Handler handler) { handler_ = std::move(handler); }
    void waive(BaseProtocolRule rule) { waived_.insert(rule); }
    std::uint64_t violations(BaseProtocolRule rule) const { return counts_[static_cast<unsigned>(rule)]; }
    std::uint64_t transactions() const { return transactions_; }

    Attributes b_transport_called(Payload& payload, const Call& call);
    void b_transport_returned(Payload& payload, const Attributes& before, const Call& call,
                              const sc_core::sc_time& delay);

    void forward_called(Payload& payload, const Call& call);
    void forward_returned(Payload& payload, const Call& call, ::tlm::tlm_sync_enum sync, const Phase& phase,
                          const sc_core::sc_time& delay);
    void backward_called(Payload& payload, const Call& call);
    void backward_returned(Payload& payload, const Call& call, ::tlm::tlm_sync_enum sync, const Phase& phase,
                           const sc_core::sc_time& delay);

    Attributes dmi_called(const Payload& payload, const ::tlm::tlm_dmi& dmi);
    void dmi_returned(const Payload& payload, const Attributes& before, const Call& call, bool granted,
                      const ::tlm::tlm_dmi& dmi);
    void invalidate_called(std::uint64_t start, std::uint64_t end);
    void invalidate_returned(const Call& call);

    Attributes debug_called(const Payload& payload);
    void debug_returned(const Payload& payload, const Attributes& before, const Call& call, unsigned count);

private:
    enum class State { request, request_ended, response };
    struct Transaction {
        Attributes attributes;
        State state = State::request;
        Phase last_call;
        sc_core::sc_time local_time;
        bool responded = false;
        ::tlm::tlm_response_status response = ::tlm::TLM_INCOMPLETE_RESPONSE;
        bool dmi_allowed = false;
    };
    struct Region {
        std::uint64_t start, end;
        unsigned access;
        bool allowed;
    };

    // base_protocol_attributes.cpp
    void check_request(const Payload& payload);
    void check_unmodified(const Payload& payload, const Attributes& before);
    void check_constant_data(const Payload& payload, const Attributes& before, BaseProtocolRule rule);
    void check_response(const Payload& payload);
    void check_extensions(const Payload& payload, const Attributes& before);

    // base_protocol_phases.cpp
    void begin_request(Payload& payload, const Call& call);
    void continue_transaction(Payload& payload, const Call& call, bool forward);
    void begin_response(Payload& payload, Transaction& transaction);
    void next_phase(Payload& payload, Transaction& transaction, unsigned phase, bool forward);
    void check_time(const Payload& payload, Transaction& transaction, const sc_core::sc_time& delay);
    void check_between(const Payload& payload, const Transaction& transaction);
    void check_return(const Payload& payload, const Call& call, ::tlm::tlm_sync_enum sync, const Phase& phase,
                      const sc_core::sc_time& delay);
    void returned(Payload& payload, const Call& call, ::tlm::tlm_sync_enum sync, const Phase& phase,
                  const sc_core::sc_time& delay, bool forward);
    void finish(const Payload& payload);
    Transaction* find(const Payload& payload);

    void check_no_wait(const Call& call, const std::string& what);
    void report(BaseProtocolRule rule, const std::string& detail);

    std::string link_;
    Handler handler_;
    std::set<BaseProtocolRule> waived_;
    std::array<std::uint64_t, kBaseProtocolRules> counts_{};
    std::uint64_t transactions_ = 0;

    std::set<const Payload*> in_b_transport_;
    std::map<const Payload*, Transaction> in_nb_transport_;
    const Payload* requesting_ = nullptr;  ///< between BEGIN_REQ and the end of the request
    const Payload* responding_ = nullptr;  ///< between BEGIN_RESP and the end of the response
    unsigned forward_calls_ = 0, backward_calls_ = 0, invalidate_calls_ = 0;
    std::vector<Region> regions_;
};

BaseProtocolMonitor::Attributes attributes_of(const ::tlm::tlm_generic_payload& payload);
std::string describe(const ::tlm::tlm_generic_payload& payload);

}  // namespace switchyard
