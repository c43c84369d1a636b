// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/hw/memory/bandwidth_timing.h"
#include "switchyard/hw/memory/hbm_config.h"
#include "switchyard/hw/memory/sender_extensions.h"
#include "switchyard/hw/memory/timed_dram.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/tlm/memory_manager.h"
#include "switchyard/tlm/memory_request.h"
#include "switchyard/tlm/simulation_registry.h"
#include "switchyard/tlm/sparse_memory.h"
#include "switchyard/tlm/stat_counters.h"
#include "switchyard/tlm/timed_queue.h"

namespace switchyard::hw {

/// One memory interface: the pseudo-channels of HBM2 behind one port of the network, for the addresses
/// [index * region_bytes, (index + 1) * region_bytes).
///
/// Packets in (MemoryExtension): read (requested_bytes from the payload's address to `reply_to`), write (payload_bytes
/// at the payload's address). Packets out: read_data, cut at max_packet_bytes, each with the HBM address of its first
/// byte in the payload; write_done to the writer, of the control class. Both have the request's tag, and copies of all
/// other extensions that its sender has put on the request (SenderExtensions). A packet leaves at the time at which it
/// is ready, by an event of its own, never ahead of time. has_values: the data array of a write is stored; a read
/// returns what had been stored when the request arrived.
///
/// Two models of what lies behind, exchangeable by `impl`:
/// bandwidth (BandwidthTiming): addresses interleave over the pseudo-channels, each of which moves whole bursts at its
/// pin bandwidth less the refresh share; a request's first byte is ready read_latency_ns after its channel turns to it,
/// a write is done write_latency_ns after its last byte. Rows and turnarounds cost what BankCosts says.
/// Requests take turns by chunks of max_packet_bytes. A request has its place on the channels only for the chunks that
/// lie less than lookahead_bytes() beyond those it has got, and gets a place for the next one, behind all that has been
/// given away, when one of its chunks is ready. So a request alone keeps its channels busy, large ones share evenly,
/// and a chunk waits for no more than lookahead_bytes() + max_packet_bytes of each other request.
/// Accuracy: within 5 % of `bank` on the traffic of all networks in configs/workloads; the latency of a closed page.
/// Not modelled: commands, single refreshes, the order in which a controller serves what waits.
/// bank (TimedDram): the same turns, but each chunk goes to the controllers of the interface's channels burst by
/// burst, and is ready when its last burst is, though never before the chunks of its request that came first. Modelled
/// and not modelled there: see dram::ChannelController.
///
/// Bad packets (no requests, no bytes, nobody to reply to, addresses beyond the region) set an error response and throw
/// ModelError. DMI is not offered: the sockets carry packets, whose timing is the model. transport_dbg reads and writes
/// the bytes at the payload's address.
class MemoryInterface : public sc_core::sc_module {
public:
    using Config = HbmConfig;
    using Payload = ::tlm::tlm_generic_payload;

    struct Stats {
        std::uint64_t requests = 0;
        std::uint64_t read_bytes = 0, write_bytes = 0;  ///< asked for; bursts move more where they are not filled
        double busy_cycles = 0;                         ///< mean of the pseudo-channels, refresh share included
    };
    /// Those that reports have.
    static constexpr StatCounter<Stats> kCounters[] = {{"requests", "1", &Stats::requests},
                                                       {"read_bytes", "bytes", &Stats::read_bytes},
                                                       {"write_bytes", "bytes", &Stats::write_bytes},
                                                       {"busy_cycles", "cycles", &Stats::busy_cycles}};

    tlm_utils::passthrough_target_socket<MemoryInterface> in;
    tlm_utils::simple_initiator_socket<MemoryInterface> out;

    /// `costs`: of the banks, for impl bandwidth; `device`: interface_device(), for impl bank, else nullptr; `index` of
    /// all interfaces; `endpoint`: its number on the network.
    MemoryInterface(const sc_core::sc_module_name& name, const Config& config, const BankCosts& costs,
                    const dram::Device* device, SimulationRegistry& registry, unsigned index, Endpoint endpoint);
    ~MemoryInterface() override;

    Stats stats() const;
    /// The request log is whole and takes its name. Throws InputError if it cannot be written. What nobody has finished
    /// is finished at the end, unless that is an exception.
    void finish_log();
    /// What a request must have in flight so that it keeps all channels busy by itself: a chunk, what the channels move
    /// during the latency with which that is reported, and what they are apart. Bytes. `device`: as above.
    static std::uint64_t lookahead_bytes(const Config& config, const dram::Device* device);

private:
    using Tick = std::uint64_t;  ///< simulated time in units of the time resolution

    /// A request on its way through the channels. Its bytes are done when they have been sent or written, given when
    /// they have their time on the channels.
    struct Request {
        std::uint32_t number = 0;  ///< among requests_
        bool arrived = false;
        std::uint64_t address = 0, bytes = 0, given = 0, done = 0;
        BandwidthTiming::Progress progress;   ///< impl bandwidth
        std::vector<std::uint8_t> completed;  ///< impl bank: of the chunks in flight, by chunk number modulo its size
        // What all reply packets have in common.
        bool read = false, has_values = false;
        std::uint32_t tag = 0;
        std::vector<Endpoint> destinations;
        SenderExtensions sender;

        std::vector<std::uint8_t> values;                    ///< to be written, or as read; empty without values
        std::shared_ptr<const std::vector<MemoryRun>> runs;  ///< where the values lie; none: together
    };

    void b_transport(Payload& payload, sc_core::sc_time& delay);
    unsigned debug_transport(Payload& payload);
    /// Arrivals, and chunks that have become ready.
    void serve();
    /// The request has arrived: its values are stored or read.
    void start(Request& request);
    /// Gives the request's next chunks their time on the channels.
    void reserve(Request& request);
    /// The oldest chunk in flight is ready: sent if it is read, acknowledged if it is the last one to be written.
    void finish_chunk(Request& request);
    void send_reply(Request& request, std::uint64_t bytes);
    /// Size of the request's chunk from `begin` on.
    std::uint64_t chunk_bytes(const Request& request, std::uint64_t begin) const;
    /// impl bank: pieces that are done by now; when to look again.
    void take_completed_chunks();
    void await_banks();
    void log(const Request& request, const sc_core::sc_time& delay);

    Request& accept(Payload& payload, const PacketExtension& packet, const MemoryExtension& asked);
    bool owns(std::uint64_t address, std::uint64_t bytes) const;
    [[noreturn]] void fail(Payload& payload, ::tlm::tlm_response_status status, const std::string& message) const;
    /// Calls visit(address in memory_, bytes) for each run of a request's values.
    template <class Visit>
    void for_each_run(const Request& request, Visit&& visit);

    Config config_;
    Endpoint endpoint_;
    std::uint64_t base_;  ///< first address
    BandwidthTiming bandwidth_;
    std::unique_ptr<TimedDram> banks_;  ///< impl bank
    sc_core::sc_event banks_event_;
    std::uint64_t lookahead_bytes_;
    SparseMemory memory_;
    ExtendedPayloadPool<PacketExtension, MemoryExtension, SenderExtensions> pool_;
    TimedQueue<Request*> queue_;  ///< due when they arrive, and when a chunk of theirs is ready
    std::deque<Request> requests_;
    std::vector<Request*> spare_;  ///< of these, to be used again
    std::optional<OutputFile> log_;
    Stats stats_;
};

}  // namespace switchyard::hw
