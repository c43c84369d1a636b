// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/hw/gpu/packet.h"
#include "switchyard/tlm/activity_log.h"
#include "switchyard/tlm/register_file.h"
#include "switchyard/tlm/simulation_registry.h"
#include "switchyard/tlm/timed_queue.h"

namespace switchyard::hw {

/// Registers of the command processor: 32 bits each, those of queue q from kGpuQueueRegisters + q * kGpuQueueStride on.
namespace gpu_registers {
inline constexpr std::uint64_t kQueues = 0x0;  ///< ro: how many there are
inline constexpr std::uint64_t kGpuQueueRegisters = 0x1000, kGpuQueueStride = 0x20;
inline constexpr std::uint64_t kBaseLow = 0x0, kBaseHigh = 0x4;  ///< of the ring in device memory
inline constexpr std::uint64_t kPackets = 0x8;                   ///< of the ring; a power of two; 0: the queue is off
inline constexpr std::uint64_t kWriteIndex = 0xc;  ///< doorbell: packets written since the beginning, modulo 2^32
inline constexpr std::uint64_t kReadIndex = 0x10;  ///< ro: packets that were taken
inline constexpr std::uint64_t kCompleted = 0x14;  ///< ro: packets that are complete
inline constexpr std::uint64_t kInterrupt = 0x18;  ///< w1c: bit 0, a packet with `interrupt` is complete
inline constexpr std::uint64_t queue(unsigned index, std::uint64_t offset) {
    return kGpuQueueRegisters + index * kGpuQueueStride + offset;
}
}  // namespace gpu_registers

/// Reads packets from queues in device memory, and sees to them.
///
/// A queue is a ring of packets; the host writes packets there and then WRITE_INDEX. Each queue takes its packets one
/// after another; `in_order` packets wait until all earlier ones of their queue are complete. A kernel starts launch_ns
/// after its packet was read, and dependent_launch_ns after what it had to wait for; kernels of a graph graph_launch_ns
/// after both; over all queues one kernel in kernel_interval_ns. Kernels go to `kernels` and copies to `copies` as
/// packets, with a handle as address; a write to the handle on `completed` tells of the completion. Then the packet's
/// event is written, and COMPLETED counts it.
///
/// Errors (ModelError, one line with queue and packet): a packet that is none, a kernel that fits no multiprocessor,
/// memory that does not answer, an index beyond the ring. Queues that wait for events that nobody signals, cyclic or
/// not: stall().
/// Not modelled: time slices of processes, priorities, preemption, what firmware does besides, page faults.
class CommandProcessor : public sc_core::sc_module {
public:
    struct Config {
        unsigned queues = 32;
        double doorbell_ns = 100;
        double launch_ns = 1500;
        double dependent_launch_ns = 700;
        double graph_launch_ns = 400;
        double kernel_interval_ns = 100;
        double event_ns = 100;
    };
    struct Stats {
        std::uint64_t packets = 0, kernels = 0, copies = 0, event_waits = 0, event_signals = 0, barriers = 0;
        std::uint64_t doorbells = 0;
    };

    tlm_utils::simple_target_socket<CommandProcessor> registers;  ///< from the host's bus
    tlm_utils::simple_initiator_socket<CommandProcessor> memory;  ///< device memory: queues and events
    tlm_utils::simple_initiator_socket<CommandProcessor> kernels, copies;
    tlm_utils::simple_target_socket<CommandProcessor> completed;
    sc_core::sc_out<bool> irq;  ///< level: an INTERRUPT bit is set

    CommandProcessor(const sc_core::sc_module_name& name, const Config& config, SimulationRegistry& registry);
    ~CommandProcessor() override;

    /// Somebody else wrote to device memory: events are looked at again.
    void memory_written() { written_.notify(sc_core::SC_ZERO_TIME); }
    /// All queues are empty and all their packets complete.
    bool idle() const;
    /// "" if idle; otherwise one line: which queue waits for what, who would bring it about, and whether that is a
    /// cycle.
    std::string stall() const;
    const Stats& stats() const { return stats_; }

private:
    struct Queue {
        std::uint64_t base = 0;
        std::uint32_t packets = 0, read = 0, written = 0, completed = 0;
        bool waits_for_event = false;
        GpuPacket packet;  ///< the one under way
        sc_core::sc_time last_completion;
        bool any_completion = false;
        sc_core::sc_event doorbell, done;
        std::uint32_t unfinished() const { return read - completed; }
    };
    struct InFlight {
        unsigned queue = 0;
        GpuPacket packet;
        sc_core::sc_time since;
    };

    void define_registers();
    void access_registers(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    unsigned debug_registers(::tlm::tlm_generic_payload& payload);
    void take_completion(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    void ring(unsigned queue, std::uint32_t index);
    void run(unsigned queue);
    void retire();
    void process(unsigned queue, const sc_core::sc_time& fetched);
    void dispatch(unsigned queue, tlm_utils::simple_initiator_socket<CommandProcessor>& socket);
    void await_earlier(Queue& queue);
    void await_event(Queue& queue);
    void await_turn(Queue& queue, const sc_core::sc_time& fetched);
    void complete(unsigned queue, const GpuPacket& packet);
    void update_irq();

    GpuPacket fetch(unsigned queue);
    void access(bool write, std::uint64_t address, void* data, unsigned bytes, const std::string& what);
    std::uint64_t debug_word(std::uint64_t address) const;
    GpuPacket debug_packet(unsigned queue, std::uint32_t index) const;
    /// The queue that would write the word to the value or beyond, and its packet; false if none.
    bool signaller(std::uint64_t address, std::uint64_t value, unsigned& queue, std::uint32_t& index) const;
    std::string reason(unsigned queue, int& next) const;
    [[noreturn]] void fail(unsigned queue, const std::string& message) const;

    Config config_;
    SimulationRegistry& registry_;
    RegisterFile file_;
    std::vector<std::unique_ptr<Queue>> queues_;
    std::map<std::uint64_t, InFlight> in_flight_;  ///< by handle
    TimedQueue<std::uint64_t> completions_;        ///< handles
    std::uint64_t handles_ = 0;
    sc_core::sc_event written_, irq_changed_;
    sc_core::sc_time next_kernel_;
    Stats stats_;
    ActivityLog* const log_ = ActivityLog::current();
    std::vector<ActivityLanes> lanes_;  ///< by queue
};

template <class V>
void describe(V& v, CommandProcessor::Config& c) {
    v.field("queues", c.queues, 1, 1024, "queues that run side by side");
    v.field("doorbell_ns", c.doorbell_ns, 0, 1e6, "from a doorbell of an idle queue until its packets are read");
    v.field("launch_ns", c.launch_ns, 0, 1e6, "from a kernel's packet to its first CTA");
    v.field("dependent_launch_ns", c.dependent_launch_ns, 0, 1e6,
            "from the completion that a kernel had to wait for to its first CTA");
    v.field("graph_launch_ns", c.graph_launch_ns, 0, 1e6, "takes the place of both for the kernels of a graph");
    v.field("kernel_interval_ns", c.kernel_interval_ns, 0, 1e6, "between two kernels, whatever their queues");
    v.field("event_ns", c.event_ns, 0, 1e6, "to write an event, and to go on after one");
}

}  // namespace switchyard::hw
