// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <random>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/tlm/transactors/axi_burst.h"

namespace switchyard {

/// The target's end of an AXI4 or AXI4-Lite link: what arrives on the wires becomes blocking transactions on `socket`.
///
/// Modelled: five independent channels, each with a queue of `depth` (so that READY falls when it is full), W ahead of
/// AW, INCR, WRAP and FIXED bursts, narrow and unaligned ones, strobes as byte enables, responses (an address error is
/// DECERR, any other SLVERR). A burst of INCR or WRAP is one transaction, in order of address; each beat of FIXED is
/// one. Reads and writes proceed side by side, each in the order of its addresses; the time that b_transport takes
/// passes before the response. `aresetn` low (synchronous) empties everything; a transaction that is under way ends
/// unanswered. Not modelled: exclusive accesses, interleaved read data, DMI and debug access (wires have neither).
class AxiToTlm : public sc_core::sc_module {
public:
    struct Config {
        unsigned depth = 4;          ///< bursts, or beats of W, in a queue
        unsigned stall_percent = 0;  ///< cycles in which READY is held low, and VALID is raised late, at random
        unsigned seed = 1;
    };
    sc_core::sc_in<bool> clock{"clock"}, aresetn{"aresetn"};
    tlm_utils::simple_initiator_socket<AxiToTlm> socket{"socket"};

    AxiToTlm(const sc_core::sc_module_name& name, AxiSignals& signals, const Config& config);
    AxiToTlm(const sc_core::sc_module_name& name, AxiSignals& signals) : AxiToTlm(name, signals, Config()) {}

private:
    struct WriteBeat {
        std::uint64_t data;
        unsigned strobes;
    };
    struct ReadBeat {
        std::uint64_t data;
        unsigned id, response;
        bool last;
    };
    struct WriteResponse {
        unsigned id, response;
    };

    void clocked();
    void sample();
    void drive();
    void clear();
    bool stalls();
    void run_writes();
    void run_reads();
    unsigned write_burst(const AxiBurst& burst, const std::vector<WriteBeat>& beats);
    unsigned read_burst(const AxiBurst& burst, std::vector<std::uint64_t>& beats);
    unsigned transact(::tlm::tlm_command command, std::uint64_t address, std::vector<unsigned char>& data,
                      std::vector<unsigned char>* byte_enables);

    AxiSignals& axi_;
    Config config_;
    std::mt19937 random_;
    std::deque<AxiBurst> writes_, reads_;
    std::deque<WriteBeat> write_beats_;
    std::deque<WriteResponse> write_responses_;
    std::deque<ReadBeat> read_beats_;
    sc_core::sc_event arrived_{"arrived"};
    std::uint64_t epoch_ = 0;  ///< resets seen
};

}  // namespace switchyard
