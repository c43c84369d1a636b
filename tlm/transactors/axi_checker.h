// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <systemc>

#include "switchyard/tlm/transactors/axi_burst.h"

namespace switchyard {

enum class AxiRule : unsigned {
    valid_in_reset,
    valid_dropped,
    payload_changed,
    burst_type_reserved,
    burst_crosses_4k,
    size_too_wide,
    wrap_length,
    wrap_unaligned,
    fixed_length,
    write_last,
    strobe_outside_beat,
    write_response_unasked,
    write_response_early,
    exclusive_okay,
    read_data_unasked,
    read_last,
    lite_burst
};
inline constexpr unsigned kAxiRules = 17;

struct AxiRuleText {
    const char* id;      ///< "valid_dropped"
    const char* clause;  ///< of ARM IHI 0022H
    const char* text;    ///< what must be so
};
const AxiRuleText& rule_text(AxiRule rule);

struct AxiViolation {
    AxiRule rule;
    std::string message;
};

/// Watches the wires of an AXI4 or AXI4-Lite link, drives none. A broken rule is an SC_ERROR of type
/// "switchyard/axi/<rule>", or a call of the handler. Signals are sampled at the rising edge.
/// Not checked: exclusive accesses, the order of accesses to one address, interleaving depth.
class AxiChecker : public sc_core::sc_module {
public:
    using Handler = std::function<void(const AxiViolation&)>;
    sc_core::sc_in<bool> clock{"clock"}, aresetn{"aresetn"};

    AxiChecker(const sc_core::sc_module_name& name, const AxiSignals& signals);

    void set_handler(Handler handler) { handler_ = std::move(handler); }
    std::uint64_t writes() const { return writes_; }  ///< responses seen
    std::uint64_t reads() const { return reads_; }    ///< last beats seen
    /// Cycles in which a channel had VALID without READY.
    std::uint64_t stalled_cycles() const { return stalled_; }
    unsigned max_outstanding() const { return max_outstanding_; }

private:
    struct Handshake {
        bool valid = false, ready = false;
        std::vector<std::uint64_t> payload;
    };
    struct WriteBeat {
        unsigned strobes;
        bool last;
    };

    void clocked();
    void check_handshakes();
    void check_channel(const std::string& channel, const Handshake& now);
    void check_address(const std::string& channel, const AxiSignals::Address& wires, const AxiBurst& burst);
    void match_writes();
    void take_write_response();
    void take_read_data();
    void report(AxiRule rule, const std::string& detail);

    const AxiSignals& axi_;
    Handler handler_;
    std::map<std::string, Handshake> before_;
    bool was_running_ = false;

    std::deque<AxiBurst> write_addresses_;                           ///< data not complete
    std::deque<WriteBeat> write_beats_;                              ///< address not known, or burst not complete
    std::map<unsigned, unsigned> awaited_writes_, complete_writes_;  ///< by ID: addresses; addresses with data
    struct ReadBurst {
        AxiBurst burst;
        unsigned beats = 0;
    };
    std::map<unsigned, std::deque<ReadBurst>> awaited_reads_;  ///< by ID
    std::uint64_t writes_ = 0, reads_ = 0, stalled_ = 0;
    unsigned outstanding_ = 0, max_outstanding_ = 0;
};

}  // namespace switchyard
