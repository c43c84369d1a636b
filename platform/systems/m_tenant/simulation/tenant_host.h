// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/platform/systems/m_tenant/simulation/operator_task.h"
#include "switchyard/platform/systems/m_tenant/tenant_batch.h"
#include "switchyard/tlm/clock_period.h"
#include "switchyard/tlm/simulation_registry.h"
#include "switchyard/tlm/timed_queue.h"

namespace switchyard::platform {

/// The host of a chip of tenants: begins each operator as a task on a group of tiles when its operands are in memory
/// and the index lists of its switches and merges are made (TenantOrder), and shares out the tiles anew whenever a task
/// begins or ends.
///
/// Sockets: `noc_out`, `noc_in` to the chip's network. A task is one multicast packet with a descriptor of 128 bytes.
/// Re-allocation: tasks whose group must change are stopped at a round that all of their tiles can reach, and go on
/// with another kernel for the samples that are left, rounded up to whole ones. A task gets more tiles only beyond
/// TenantConfig::reallocation_gain, and fewer only where others need them.
class TenantHost : public sc_core::sc_module {
public:
    /// What the chip has counted so far.
    struct Counted {
        std::uint64_t read_bytes = 0, written_bytes = 0;  ///< of memory
        std::uint64_t link_bytes = 0;
    };
    struct Job {
        const std::vector<BatchRouting>& routing;
        const TenantGraph& graph;
        TenantKernels& kernels;
        const TensorPlaces& places;
        TenantConfig config;
        double clock_ghz = 1;
        Endpoint host = 0;
        std::function<Counted()> counted;
    };

    tlm_utils::simple_initiator_socket<TenantHost> noc_out;
    tlm_utils::simple_target_socket<TenantHost> noc_in;

    TenantHost(const sc_core::sc_module_name& name, Job job, SimulationRegistry& registry);

    bool finished() const { return finished_; }
    /// One a batch.
    const std::vector<TenantBatch>& batches() const { return batches_; }

private:
    using Payload = ::tlm::tlm_generic_payload;
    /// An operator that waits for tiles, or what is left of it.
    struct Waiting {
        int op = 0;
        double remaining = 1;  ///< share of the operator's work
        unsigned target = 0;   ///< tiles
    };
    /// An operator on its tiles.
    struct Group {
        Waiting task;
        std::uint32_t number = 0;
        std::vector<Endpoint> tiles;
        std::shared_ptr<const OperatorTask> program;
        TenantBytes bytes;
        double cycles = 0;  ///< as the kernel's formula has it
        double begin = 0;
        bool stopping = false;
        std::size_t stopped = 0, done = 0;  ///< tiles that have said so
        std::uint32_t max_round = 0;        ///< that one of them has asked for
    };

    void b_transport(Payload& payload, sc_core::sc_time& delay);
    void run();
    void run_batch(const BatchRouting& routing);
    double now() const;
    void announce(const std::vector<TenantOrder::Ready>& list);
    /// Operators that have become ready by now.
    void take_ready();
    void take_messages();
    void take_stopped(Group& group, std::uint32_t round);
    /// Of a tile that was told to stop when it had finished.
    void take_late_answer(const TaskMessage& message);
    void end_group(Group& group, std::uint32_t rounds);
    void complete(int op);
    /// Decides on tiles for all tasks and stops those that are to have others.
    void reallocate();
    void start_waiting();
    void start(const Waiting& task, unsigned tiles);
    double work_left(const Waiting& task) const;
    double work_left(const Group& group) const;
    std::size_t free_tiles() const;
    void send(TaskCommand command, const Group& group, std::uint32_t round, std::uint64_t payload_bytes,
              std::shared_ptr<const TaskProgram> program = {});
    std::string waits() const;

    Job job_;
    ClockPeriod clock_;
    TaskPacketPool packets_;
    TimedQueue<PooledPayload> messages_;
    std::vector<bool> tile_used_;
    std::uint32_t next_task_ = 1;
    std::map<std::uint32_t, unsigned> late_answers_;  ///< missing, by task that has ended while it was told to stop
    bool finished_ = false;

    // Of the batch that runs.
    std::unique_ptr<TenantOrder> order_;
    sc_core::sc_time batch_begin_;
    std::set<TenantOrder::Ready> ready_;
    std::vector<Waiting> waiting_;
    std::vector<Group> groups_;
    bool changed_ = false;  ///< a task has come or ended since tiles were shared out
    double idle_since_ = 0;
    std::vector<double> begun_;  ///< by operator: the first start; < 0: none
    TenantBatch batch_;
    std::vector<TenantBatch> batches_;
};

}  // namespace switchyard::platform
