// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <random>
#include <set>
#include <vector>

#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/tlm/transactors/axi_burst.h"

namespace switchyard {

/// The initiator's end of an AXI4 or AXI4-Lite link: transactions on `socket` become bursts on the wires.
///
/// Modelled: INCR bursts of up to 256 full-width beats that end at the 4 KiB boundaries, unaligned ends and byte
/// enables by strobes (of a write; of a read the bytes that are not enabled are fetched and dropped), streaming as one
/// burst after another, five independent channels. Transactions of several callers are on the way at a time, each with
/// an ID of its own; with AXI4-Lite, or no ID bits, one write and one read. DECERR is an address error, SLVERR a
/// generic error. b_transport waits until the response is there; nb_transport is served through it
/// (simple_target_socket). Not modelled: WRAP, FIXED and narrow bursts of its own, DMI and debug access.
class TlmToAxi : public sc_core::sc_module {
public:
    struct Config {
        unsigned stall_percent = 0;  ///< cycles in which VALID is raised late, and READY is held low, at random
        unsigned seed = 1;
    };
    sc_core::sc_in<bool> clock{"clock"}, aresetn{"aresetn"};
    tlm_utils::simple_target_socket<TlmToAxi> socket{"socket"};

    TlmToAxi(const sc_core::sc_module_name& name, AxiSignals& signals, const Config& config);
    TlmToAxi(const sc_core::sc_module_name& name, AxiSignals& signals) : TlmToAxi(name, signals, Config()) {}

private:
    struct WriteBeat {
        std::uint64_t data = 0;
        unsigned strobes = 0;
        bool last = false;
    };
    /// A burst whose response is awaited.
    struct Pending {
        AxiBurst burst;
        bool done = false;
        unsigned response = 0;
        std::vector<std::uint64_t> beats;  ///< of a read
    };
    using Outstanding = std::vector<Pending*>;  ///< by ID; null: free

    void b_transport(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    /// Bytes [begin, end) of the data array, at consecutive addresses.
    unsigned transfer(::tlm::tlm_generic_payload& payload, std::uint64_t address, unsigned begin, unsigned end);
    unsigned write_burst(const ::tlm::tlm_generic_payload& payload, Pending& pending, std::uint64_t address,
                         unsigned begin, unsigned end);
    unsigned read_burst(::tlm::tlm_generic_payload& payload, Pending& pending, std::uint64_t address, unsigned begin,
                        unsigned end);
    unsigned acquire_id(Outstanding& outstanding, Pending& pending);
    void clocked();
    void sample();
    void drive();
    void reset();
    bool stalls();

    AxiSignals& axi_;
    Config config_;
    std::mt19937 random_;
    std::deque<AxiBurst> writes_, reads_;  ///< to be sent, the first on the wires
    std::deque<WriteBeat> write_beats_;
    Outstanding outstanding_writes_, outstanding_reads_;
    sc_core::sc_event responded_{"responded"};
};

}  // namespace switchyard
