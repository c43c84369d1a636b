// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <utility>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/hw/link/collective_run.h"
#include "switchyard/hw/link/message_engine.h"
#include "switchyard/platform/systems/brainstorm/cell_contents.h"
#include "switchyard/sw_scheduler/collectives/program.h"
#include "switchyard/tlm/simulation_registry.h"

namespace switchyard::platform::brainstorm {

/// Collectives between devices: their messages on the links, started and ended by the devices' queues.
///
/// A device enters a collective when its queue has come there. A transfer starts when both of its devices have entered,
/// behind those that it waits for and its software's time. When all transfers from and to a device have arrived, the
/// word that its queue waits for is written to its memory. Several collectives may be under way.
///
/// Modelled: MessageEngine, devices that come at different times; with CellContents, bytes: read when a transfer
/// starts, written when it arrives. The kernels that move the data are the composer's: see Cluster.
class PeerExchange : public sc_core::sc_module {
public:
    struct Stats {
        std::uint64_t collectives = 0, messages = 0, bytes = 0;
        double waiting_ns = 0;  ///< of devices, from entering to the end, summed
    };

    sc_core::sc_vector<tlm_utils::simple_initiator_socket<PeerExchange>> memories;  ///< of each device

    PeerExchange(const sc_core::sc_module_name& name, std::shared_ptr<const sched::LinkTopology> topology,
                 const hw::MessageEngine::Config& config, SimulationRegistry& registry);

    /// The collectives of a batch; none of an earlier one is under way. Their ends are written to `word_address` of
    /// each device's memory as `first_value`, first_value + 1 and so on, collective by collective. `contents`: of the
    /// cells that move, or null.
    void begin(const std::vector<sched::CollectiveProgram>& collectives, std::uint64_t word_address,
               std::uint64_t first_value, CellContents* contents = nullptr);
    void enter(std::uint32_t collective, unsigned device);
    /// Called when all transfers from and to a device have arrived.
    void set_ended(std::function<void(std::uint32_t collective, unsigned device)> ended) { ended_ = std::move(ended); }

    const Stats& stats() const { return stats_; }
    unsigned channels() const { return topology_->channels(); }
    std::uint64_t channel_bytes(unsigned channel) const { return engine_.channel(channel).bytes; }

private:
    struct Running {
        const sched::CollectiveProgram* program = nullptr;
        std::vector<std::uint32_t> waits;                   ///< of each transfer: arrivals and entries of its devices
        std::vector<std::vector<std::uint32_t>> followers;  ///< of each transfer
        std::vector<std::uint32_t> missing;                 ///< of each device: transfers from and to it, its own entry
        std::vector<sc_core::sc_time> entered;
        hw::DeviceBuffers buffers;                      ///< of each device, with contents
        std::vector<std::vector<std::uint8_t>> moving;  ///< of each transfer
    };
    struct Start {
        std::uint64_t time_ps;
        std::uint32_t collective, transfer;
        bool operator<(const Start& o) const {
            if (time_ps != o.time_ps) return time_ps > o.time_ps;
            return collective != o.collective ? collective > o.collective : transfer > o.transfer;
        }
    };
    void advance();
    void release(std::uint32_t collective, std::uint32_t transfer);
    void arrived(std::uint32_t collective, std::uint32_t transfer);
    void count_down(std::uint32_t collective, unsigned device);
    void write_word(unsigned device);
    void read_contents(std::uint32_t collective, std::uint32_t transfer);
    void write_contents(std::uint32_t collective, std::uint32_t transfer);

    std::shared_ptr<const sched::LinkTopology> topology_;
    hw::MessageEngine engine_;
    CellContents* contents_ = nullptr;
    std::vector<Running> running_;
    std::priority_queue<Start> starts_;
    std::uint64_t word_address_ = 0, first_value_ = 0;
    std::vector<std::queue<std::uint64_t>> words_;  ///< of each device: values to be written
    std::vector<std::unique_ptr<sc_core::sc_event>> word_there_;
    sc_core::sc_event next_;
    std::function<void(std::uint32_t, unsigned)> ended_;
    Stats stats_;
};

}  // namespace switchyard::platform::brainstorm
