// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/hw/host/host_registers.h"
#include "switchyard/hw/messages/adyna_message.h"
#include "switchyard/hw/messages/tile_protocol.h"
#include "switchyard/sw_scheduler/adyna/image/image.h"
#include "switchyard/tlm/activity_log.h"
#include "switchyard/tlm/address_map.h"
#include "switchyard/tlm/at_target.h"
#include "switchyard/tlm/clock_period.h"
#include "switchyard/tlm/demand_paged_memory.h"
#include "switchyard/tlm/memory_manager.h"
#include "switchyard/tlm/register_file.h"
#include "switchyard/tlm/simulation_registry.h"
#include "switchyard/tlm/timed_queue.h"

namespace switchyard::hw {

/// The chip's side of the host link: configuration port, image loader, sequencer of segments, DMA engine, interrupt.
///
/// Modelled: the registers of host_registers.h, bit by bit; the image is checked and sent to the tiles over the network
/// as real bytes; segments run one after another, each from a multicast start to the last segment_done; DMA moves
/// chunks through a link of `link_bytes_per_cycle` in each direction, host memory reads run ahead of the link; lists of
/// transfers are read from host memory.
/// Accuracy: a DMA of many chunks takes bytes / link rate plus one latency; accesses to the configuration port take
/// their share of the link and no more.
/// Not modelled: PCIe packets, credits and their overhead, address translation, message-signalled interrupts,
/// contention on the link between DMA and the configuration port. A reset does not stop the chip's other units in
/// mid-air: what they are at ends without a trace in registers, interrupt or host memory. The port answers meanwhile;
/// what an access starts begins when the units have come to rest.
///
/// Sockets: `config` (from the host's bus: LT, AT, DMI of the image window, debug), `host_memory` (to it), `noc_out`
/// and `noc_in` (to and from a router), `irq` (level, high while an enabled bit of IRQ_STATUS is set; with
/// `interrupt_rearm_ns` it has an edge for whatever a write to IRQ_STATUS leaves pending), `reset` (active high, may
/// stay unbound).
class HostInterface : public sc_core::sc_module {
public:
    struct Config {
        unsigned config_packet_bytes = 4096;
        unsigned dma_chunk_bytes = 16384;
        double link_bytes_per_cycle = 32;
        unsigned port_requests = 4;
        bool port_completes_early = false;
        unsigned interrupt_rearm_ns = 0;
        std::uint64_t image_window_bytes = std::uint64_t{64} << 20;
        double clock_ghz = 1.0;  ///< the chip's; set by the composer
    };
    /// What the composer knows of the chip around it.
    struct Chip {
        std::uint64_t platform_fingerprint = 0;
        unsigned tiles = 1;              ///< endpoints 0 .. tiles-1
        std::vector<Endpoint> memory;    ///< endpoints of the memory interfaces
        std::uint64_t region_bytes = 1;  ///< HBM address / region_bytes = memory interface
        Endpoint host = 2;               ///< own endpoint
    };
    struct Stats {
        std::uint64_t images_loaded = 0;
        std::uint64_t batches = 0, segments = 0;
        std::uint64_t busy_cycles = 0;   ///< sum of LAST_CYCLES
        std::uint64_t config_bytes = 0;  ///< tile programs sent over the network
        std::uint64_t dma_to_chip_bytes = 0, dma_from_chip_bytes = 0;
        std::uint64_t packets_sent = 0, packets_received = 0;
    };

    tlm_utils::simple_target_socket<HostInterface> config;
    tlm_utils::simple_initiator_socket<HostInterface> host_memory;
    tlm_utils::simple_initiator_socket<HostInterface> noc_out;
    tlm_utils::passthrough_target_socket<HostInterface> noc_in;
    sc_core::sc_out<bool> irq;
    sc_core::sc_port<sc_core::sc_signal_in_if<bool>, 1, sc_core::SC_ZERO_OR_MORE_BOUND> reset;

    HostInterface(const sc_core::sc_module_name& name, const Config& config, const Chip& chip,
                  SimulationRegistry& registry);

    const Stats& stats() const { return stats_; }
    /// One line about what ERROR says, empty if nothing is wrong. Also in the error text window, by transport_dbg.
    const std::string& last_error_text() const { return error_text_; }
    /// Markdown of the registers.
    std::string register_map() const { return registers_.markdown(); }

private:
    using Payload = ::tlm::tlm_generic_payload;
    using ErrorCode = host_registers::ErrorCode;
    enum class Job { none, load, batch };
    enum Activity : unsigned { kJobActivity = 1u << 0, kDmaActivity = 1u << 1, kProfileActivity = 1u << 2 };
    /// What the registers said when DMA_CONTROL was written, or what a descriptor says.
    struct Transfer {
        std::uint64_t host_address = 0, chip_address = 0;
        std::uint32_t bytes = 0;
        std::uint32_t bits = 0;  ///< host_registers::DmaControl
    };
    /// A part of a transfer that memory has yet to answer for.
    struct Chunk {
        std::uint64_t host_address = 0, chip_address = 0;
        std::uint32_t bytes = 0;
        bool values = false;
        std::uint32_t received = 0;
    };

    // config_port.cpp: the configuration port, reset
    void define_windows();
    void config_transport(Payload& payload, sc_core::sc_time& delay);
    ::tlm::tlm_sync_enum config_forward(Payload& payload, ::tlm::tlm_phase& phase, sc_core::sc_time& delay);
    void access_config(Payload& payload, sc_core::sc_time& delay);
    unsigned config_debug(Payload& payload);
    bool config_dmi(Payload& payload, ::tlm::tlm_dmi& dmi);
    void reset_changed();
    /// Notifies the event when the access in progress takes effect, and once what a reset has left under way is over.
    void start(sc_core::sc_event& event);
    void begins(Activity activity) { activities_ |= activity; }
    void ends(Activity activity);

    // host_interface.cpp: packets, interrupt
    void noc_transport(Payload& payload, sc_core::sc_time& delay);
    void receive();
    void receive(Payload& payload);
    void receive_control(const PacketExtension& packet, const AdynaMessage& message);
    /// What a packet is sent with.
    struct Contents {
        MessageKind kind = MessageKind::data;
        MemoryOperation operation = MemoryOperation::none;
        ::tlm::tlm_command command = ::tlm::TLM_WRITE_COMMAND;
        std::uint64_t address = 0, bytes = 0;  ///< on the wire behind the header
    };
    /// A packet from the pool, addressed and of the right size.
    PooledPayload packet(std::vector<Endpoint> destinations, const Contents& contents);
    /// Gives the packet its values; they are the bytes on the wire.
    static void carry(PooledPayload& payload, std::vector<std::uint8_t> values);
    /// Injects the packet `after` from now.
    void send(const PooledPayload& packet, const sc_core::sc_time& after = sc_core::SC_ZERO_TIME);
    sc_core::sc_time link_time(std::uint64_t bytes) const;
    void drive_interrupt();
    /// SC_INFO of verbosity SC_HIGH, type switchyard/host_interface/`what`.
    void say(const std::string& what, const std::string& text) const;
    std::string waits() const;

    // host_register_map.cpp: what writing the registers of configs/registers/host.yaml starts
    void define_registers();
    void control_written(std::uint32_t bits);
    void forget_image();
    void doorbell_written(std::uint32_t batch);
    void dma_control_written(std::uint32_t bits);
    void profile_tile_written(std::uint32_t tile);
    void interrupt(std::uint32_t bits);
    void set_status(std::uint32_t bits, bool on);
    bool status(std::uint32_t bits) const { return (registers_.get(host_registers::kStatus) & bits) != 0; }
    void fail(ErrorCode code, std::uint32_t info, const std::string& text);
    void clear_error();
    std::uint64_t get64(std::uint64_t low_offset) const;

    // sequencer.cpp: images, batches, profiles
    void run_jobs();
    void load_image();
    /// False, with the error set, if what was committed is no good image for this chip.
    bool decode_committed(Image& image);
    void send_program(const TileProgram& program);
    void wait_for_tiles();
    void run_batch();
    void start_segment(const std::vector<Endpoint>& tiles);
    void run_profiles();

    // dma_engine.cpp
    void run_dma();
    /// What is wrong with a transfer, empty if nothing is.
    std::string validation_error(const Transfer& transfer) const;
    /// Transfers of the list at `list`, in order; none, with the error set, if the list is not sound.
    std::deque<Transfer> fetch_list(const Transfer& list);
    /// Moves the transfers in front that go this way.
    void dma_to_chip();
    void dma_from_chip();
    void store_reply();
    bool goes(std::uint32_t direction) const;
    bool dma_failed() const { return !dma_refusal_.empty(); }
    /// The next chunk of the transfer in front, cut at the chunk size and where a memory interface's region ends.
    Chunk next_chunk();
    bool access_host_memory(bool write, std::uint64_t address, unsigned char* data, std::uint32_t bytes, bool values,
                            sc_core::sc_time& delay);
    void dma_answer(Payload& payload, const PacketExtension& packet, const MemoryExtension& memory);
    Endpoint memory_of(std::uint64_t address) const;

    Config config_;
    Chip chip_;
    ClockPeriod clock_;
    Stats stats_;
    ActivityLog* const log_ = ActivityLog::current();
    ActivityLog::Track segments_track_ = 0, dma_track_ = 0, profiles_track_ = 0;
    std::map<std::pair<std::uint64_t, std::uint16_t>, std::uint64_t> segment_cycles_;  ///< by image and segment
    RegisterFile registers_;
    AddressMap windows_;
    DemandPagedMemory image_window_;
    std::vector<std::uint8_t> committed_;  ///< of the window, when CONTROL was written
    std::uint32_t committed_bytes_ = 0;
    std::vector<std::uint8_t> profile_;
    std::string error_text_;
    sc_core::sc_time access_delay_;  ///< of the configuration access in progress: when it takes effect
    AdynaPacketPool packets_;
    PayloadPool messages_;
    AtTarget at_;
    TimedQueue<PooledPayload> arrivals_;
    sc_core::sc_event irq_changed_;
    bool irq_rearms_ = false;         ///< IRQ_STATUS or IRQ_ENABLE was written: the line goes low first
    sc_core::sc_time irq_low_until_;  ///< whatever is pending

    bool in_reset_ = false;
    unsigned activities_ = 0;  ///< whose threads are at work
    bool discarding_ = false;  ///< what is under way is from before a reset
    std::vector<std::pair<sc_core::sc_event*, sc_core::sc_time>>
        held_starts_;  ///< what is to begin then, and not before

    Job requested_job_ = Job::none;  ///< that the registers show
    std::uint32_t requested_batch_ = 0;
    Job job_ = Job::none;  ///< under way
    sc_core::sc_event job_started_, tile_answered_;
    ChipProgram program_;
    std::set<Endpoint> pending_tiles_;
    std::set<Endpoint> programmed_tiles_;  ///< that have operators
    std::set<Endpoint> rejecting_tiles_;
    std::uint32_t batch_ = 0;
    std::uint16_t segment_ = 0;

    sc_core::sc_event profile_started_, profile_arrived_;
    Endpoint requested_profile_tile_ = 0, profile_tile_ = 0;

    sc_core::sc_event dma_started_, dma_answered_;
    std::map<std::uint32_t, Chunk> chunks_;  ///< by tag
    std::deque<PooledPayload> replies_;      ///< data from HBM, to be stored in host memory
    std::uint32_t next_tag_ = 0;
    sc_core::sc_time link_free_, stored_;  ///< towards the host: when the link is free, the last chunk is stored
    Transfer request_;                     ///< as the registers had it
    std::deque<Transfer> transfers_;       ///< of the DMA under way what is left of them
    std::uint32_t direction_ = 0;          ///< of what memory has yet to answer for
    std::uint32_t moved_ = 0;              ///< bytes of this DMA that crossed the port to host memory
    std::string dma_refusal_;              ///< what host memory did not serve; empty: nothing
};

template <class V>
void describe(V& v, HostInterface::Config& c) {
    v.field("config_packet_bytes", c.config_packet_bytes, 64, 1 << 20, "largest packet of a tile's program");
    v.field("dma_chunk_bytes", c.dma_chunk_bytes, 64, 1 << 20, "bytes that the DMA engine moves in one packet");
    v.field("link_bytes_per_cycle", c.link_bytes_per_cycle, 0.001, 65536,
            "host link, each direction (PCIe 4.0 x16 at 1 GHz: 32)");
    v.field("port_requests", c.port_requests, 1, 1024,
            "requests of nb_transport that the configuration port holds; the next one's END_REQ waits");
    v.field("port_completes_early", c.port_completes_early,
            "the configuration port answers nb_transport with TLM_COMPLETED when it holds no request");
    v.field("image_window_bytes", c.image_window_bytes, 4096, static_cast<double>(host_registers::kImageWindowBytes),
            "the largest kernel image that the chip takes (IMAGE_CAPACITY)");
    v.field("interrupt_rearm_ns", c.interrupt_rearm_ns, 0, 1000000,
            "for edge-triggered interrupt controllers: the interrupt goes low for so long after each write to "
            "IRQ_STATUS or IRQ_ENABLE, then high if something is pending; 0: a level");
}

}  // namespace switchyard::hw
