// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/hw/memory/timed_dram.h"
#include "switchyard/tlm/simulation_registry.h"
#include "switchyard/tlm/sparse_memory.h"
#include "switchyard/tlm/timed_queue.h"

namespace switchyard::hw {

struct DramTargetConfig {
    std::string device = "ddr4_2400";             ///< see dram::read_device()
    std::map<std::string, std::string> settings;  ///< override keys of the device
    std::uint64_t bytes = 1ull << 30;             ///< address space, from 0 on; not more than the device has
    unsigned outstanding = 32;                    ///< transactions taken at a time through nb_transport
    bool check_timing = false;                    ///< check every command; slow
};

/// A DRAM on a bus of an SoC: one target socket of the base protocol, in front of the bank-level model
/// (dram::DramSystem).
///
/// AT: four phases. A request is accepted (END_REQ) when one of `outstanding` places is free: back-pressure. The
/// response begins when the last burst has been moved, one response at a time, not in the order of the requests.
/// END_RESP frees the place. LT: b_transport waits until the access is done; the delay that it is called with is waited
/// for first and returns as zero. It needs no place. Bytes: those of an access are read or written when its request is
/// accepted, so accesses to one address keep their order. Byte enables and streaming as the standard has them; a
/// streaming access takes the time of its width. transport_dbg: any time, no side effect. DMI is not offered: it would
/// go around the timing. Error responses: address (beyond `bytes`), byte enable, burst (no bytes, no streaming width).
/// An ignore command is answered at once. Modelled and not modelled: see dram::ChannelController. No bus width: data
/// take no time on the socket.
class DramTarget : public sc_core::sc_module {
public:
    using Config = DramTargetConfig;
    using Payload = ::tlm::tlm_generic_payload;

    struct Stats {
        std::uint64_t requests = 0, read_bytes = 0, write_bytes = 0;
        std::uint64_t refused = 0;  ///< requests that had to wait for a place
    };

    tlm_utils::simple_target_socket<DramTarget> socket;

    /// Throws InputError for a device that cannot be had, ModelError for a configuration that makes no sense.
    DramTarget(const sc_core::sc_module_name& name, const Config& config, SimulationRegistry& registry);

    const Stats& stats() const { return stats_; }
    dram::ChannelStats channel_stats() const { return dram_.stats(); }

private:
    using Tick = std::uint64_t;
    /// A transaction between request and completion.
    struct Transaction {
        Payload* payload = nullptr;         ///< AT
        sc_core::sc_event* done = nullptr;  ///< LT
    };

    ::tlm::tlm_sync_enum nb_transport_fw(Payload& payload, ::tlm::tlm_phase& phase, sc_core::sc_time& delay);
    void b_transport(Payload& payload, sc_core::sc_time& delay);
    unsigned debug_transport(Payload& payload);

    void serve();
    void take_completed();
    void begin_request(Payload& payload);
    /// Accepts the request that waits, if there is a place.
    void end_request();
    void begin_response();
    void end_response();
    void await();
    /// Reads or writes the bytes; false if the payload already has its response.
    bool access(Payload& payload);
    void submit(Payload& payload, const Transaction& transaction);

    Config config_;
    TimedDram dram_;
    SparseMemory memory_;
    TimedQueue<Payload*> requests_;   ///< BEGIN_REQ, due at their time
    TimedQueue<bool> response_ends_;  ///< END_RESP, due at their time
    sc_core::sc_event dram_event_;
    std::vector<Transaction> transactions_;
    std::vector<std::uint32_t> free_;  ///< of these
    Payload* blocked_ = nullptr;       ///< request that waits for a place
    std::deque<Payload*> responses_;   ///< done; the first may be on the socket
    bool responding_ = false;
    unsigned places_;
    Stats stats_;
};

}  // namespace switchyard::hw
