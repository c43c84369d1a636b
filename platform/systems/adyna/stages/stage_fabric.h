// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/hw/messages/adyna_message.h"
#include "switchyard/hw/messages/tile_protocol.h"
#include "switchyard/platform/chip/platform_config.h"
#include "switchyard/platform/systems/adyna/stages/kernel_meter.h"
#include "switchyard/platform/systems/adyna/stages/stage_counters.h"
#include "switchyard/platform/systems/adyna/stages/timeline.h"
#include "switchyard/tlm/clock_period.h"
#include "switchyard/tlm/memory_manager.h"
#include "switchyard/tlm/sparse_memory.h"
#include "switchyard/tlm/timed_queue.h"

namespace switchyard::platform {

/// All tiles, the torus and HBM as one module: `chip.impl: stages`. It takes the packets that the host interface sends
/// (programs, segment starts, DMA) and answers them as the tiles and memory interfaces would, at the time at which they
/// would. Between a segment's start and its end it runs ahead of simulated time (temporal decoupling).
///
/// Modelled: what Timeline says: operators as pipeline stages, kernels as long as on the slowest tile and measured on
/// the platform's own dispatcher and PE array, all packets between two stages as one load on each link, memory
/// interfaces at their bandwidth. Every counter of the report: macs, bytes and packets are those of the tiles.
/// Accuracy: latency of a batch against `chip.impl: tiles` in testbenches/integration/test_stages.cpp.
/// Not modelled: tiles of a stage that are at different units, the order of packets on a
/// link, values.
///
/// Sockets: `from_host` and `to_host`, to be bound to HostInterface::noc_out and noc_in.
class StageFabric : public sc_core::sc_module {
public:
    tlm_utils::simple_target_socket<StageFabric> from_host;
    tlm_utils::simple_initiator_socket<StageFabric> to_host;

    StageFabric(const sc_core::sc_module_name& name, const PlatformConfig& platform, SimulationRegistry& registry);

    /// ChipModel::link_busy_cycles().
    std::vector<double> link_busy_cycles() {
        refresh();
        return counters_.link_busy_cycles();
    }

private:
    using Payload = ::tlm::tlm_generic_payload;
    /// A tile's program as it arrives, and as it is used from its commit on.
    struct TileMemory {
        std::vector<std::uint8_t> bytes;
        std::unique_ptr<const TileProgram> program;
        double ready_at = 0;  ///< its dispatcher knows the kernels, cycles
    };
    /// What depends on the programs of all tiles.
    struct Loaded {
        ProgramMap map;
        SampleCounts counts;
        TransferCosts transfers;
        Timeline timeline;

        Loaded(const PlatformConfig& platform, const std::vector<const TileProgram*>& programs,
               std::uint32_t batch_samples, KernelMeter& kernels, NetworkMeter& network, Resources& resources);
    };

    /// A packet from or to the host.
    struct Travel {
        PooledPayload payload;
        enum class State : std::uint8_t { departs, arrives } state = State::departs;
    };

    void accept(Payload& payload, sc_core::sc_time& delay);
    /// A packet that is sent `after` from now, behind all that was sent before.
    void depart(PooledPayload payload, const sc_core::sc_time& after = sc_core::SC_ZERO_TIME);
    void serve();
    void serve(Payload& payload);
    void write_config(const Payload& payload, Endpoint tile);
    void read_profile(Endpoint tile);
    void commit(Endpoint tile, std::size_t size);
    void read_memory(const Payload& payload, const PacketExtension& packet, const MemoryExtension& request);
    void write_memory(const Payload& payload, const PacketExtension& packet, const MemoryExtension& request);
    void begin_segment(const PacketExtension& packet, const AdynaMessage& start);
    /// Lets the pipelines run ahead of simulated time, and reports the segment's end to the host.
    void run_ahead(const sc_core::sc_time& lead);
    void end_segment();
    /// Makes one program of those of the tiles.
    void load();
    /// Takes the samples of the batch in the segment's order from now on.
    void sort_samples(unsigned segment, std::uint32_t batch);
    /// What the gates of these stages will decide.
    void read_masks(const std::vector<unsigned>& stages, std::uint32_t batch);
    /// A packet from `source` to the host.
    PooledPayload packet(Endpoint source, std::uint64_t address, std::uint64_t bytes);
    PooledPayload control_packet(Endpoint tile, ControlCode code);
    /// Sends it `after` from now, in the order of these times.
    void answer(PooledPayload payload, const sc_core::sc_time& after);
    /// A request by the host to memory that has arrived: until it is done.
    sc_core::sc_time access(std::uint64_t address, std::uint64_t bytes, bool write);
    void fetch(std::uint64_t address, void* values, std::uint64_t bytes);
    SparseMemory& stored(std::uint64_t address, std::uint64_t bytes);
    sc_core::sc_time cycles(double count) const;
    double now_cycles() const;
    /// Brings the counters up to date.
    void refresh();

    const PlatformConfig& platform_;
    SimulationRegistry& registry_;
    ClockPeriod clock_;
    Endpoint host_;
    TrafficBuilder packets_of_host_;
    Traffic of_packet_;  ///< scratch
    KernelMeter kernels_;
    NetworkMeter network_;
    StageCounters counters_;
    bool counted_ = true;  ///< the counters are up to date
    std::vector<TileMemory> tiles_;
    std::vector<SparseMemory> memory_;  ///< of each interface
    std::unique_ptr<Loaded> loaded_;
    Resources resources_;
    sc_core::sc_time quantum_, lead_;  ///< of the pipelines: while there is DMA; now
    std::uint32_t batch_ = 0;
    std::uint16_t segment_ = 0;
    std::vector<Endpoint> segment_tiles_;  ///< that tell the host of the segment's end
    AdynaPacketPool packets_;
    TimedQueue<Travel> travels_;
};

}  // namespace switchyard::platform
