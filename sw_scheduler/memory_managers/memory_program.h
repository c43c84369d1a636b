// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/workload/training_stream.h"

namespace switchyard::memory_managers {

using sched::TensorId;

inline constexpr std::uint32_t kNoAction = 0xffffffff;

enum class ActionKind : std::uint8_t {
    compute,       ///< runs an operator; makes room for its results
    recompute,     ///< runs it again for results that were dropped
    fetch,         ///< host to device
    write_back,    ///< device to host; the device keeps its copy
    carry,         ///< from one half of device memory to the other
    drop,          ///< the device's copy is given up; takes no time
    host_compute,  ///< an operator of the optimiser, by the host
    manage,        ///< the manager's own work on the host, for which the device waits
    fault          ///< page faults are served; nothing moves yet
};

/// In-order queues, as CUDA streams: actions of one follow one another.
enum class Queue : std::uint8_t { compute, copy, host };
inline constexpr unsigned kQueues = 3;

/// One step of a memory manager. All that an action waits for stands before it in the program.
struct Action {
    ActionKind kind = ActionKind::compute;
    Queue queue = Queue::compute;
    std::uint8_t half = 0;   ///< of device memory: compute, fetch, write_back, drop; where `carry` goes
    bool on_demand = false;  ///< fetched because an operator needs it now
    std::uint32_t op = 0;    ///< compute, recompute, host_compute
    TensorId storage = sched::kNoTensor;
    std::uint64_t bytes = 0;
    std::uint32_t transfers = 1;      ///< fetch, write_back: pieces, each with its setup
    double ns = 0;                    ///< compute, recompute, host_compute, manage, fault
    std::uint32_t after = kNoAction;  ///< an action of another queue that has to be complete before
};

/// What a memory manager makes of one training step: which operators run, which tensors move, and what waits for what.
struct MemoryProgram {
    std::vector<TensorId> on_device;          ///< storages that are there when the step begins, in half 0
    std::vector<TensorId> in_second_half;     ///< the same, in half 1
    bool persistent_on_host = false;          ///< parameters, states and inputs lie in host memory when it begins,
    std::vector<TensorId> stale_on_host;      ///< but for these: the device has their present content
    std::array<std::uint64_t, 2> capacity{};  ///< of the halves; without halves all is in the first
    std::vector<Action> actions;

    std::string out_of_memory;  ///< why the step cannot run; empty: it can
    bool thrashing = false;     ///< out of memory because recomputation passed its limit
    std::uint64_t peak_bytes = 0, host_bytes = 0;
    std::uint64_t page_faults = 0, fault_batches = 0;
    std::uint64_t recomputed = 0, evictions = 0, on_demand = 0, fetched_in_vain_bytes = 0;
    std::uint64_t fragmented = 0;  ///< allocations for which bytes enough were free, but no gap was
    double examined = 0;           ///< DTR: candidates that its searches look at
    double recompute_ns = 0;
    bool mispredicted = false;
};

/// Times of everything that moves.
struct TransferTimes {
    double to_device_ns(std::uint64_t bytes) const {
        return setup_ns + static_cast<double>(bytes) / to_device_gb_per_s;
    }
    double to_host_ns(std::uint64_t bytes) const { return setup_ns + static_cast<double>(bytes) / to_host_gb_per_s; }
    double on_device_ns(std::uint64_t bytes) const {
        return on_device_setup_ns + 2 * static_cast<double>(bytes) / device_gb_per_s;
    }
    double setup_ns = 2000, to_device_gb_per_s = 12.8, to_host_gb_per_s = 12.8;
    double on_device_setup_ns = 1000, device_gb_per_s = 1400;
};

struct Timeline {
    double ns = 0;                            ///< of the step
    double compute_ns = 0, recompute_ns = 0;  ///< operators
    double carry_ns = 0, host_ns = 0, fault_ns = 0, manage_ns = 0;
    double waiting_ns = 0;  ///< the compute queue has nothing to do
    std::uint64_t to_device_bytes = 0, to_host_bytes = 0, carried_bytes = 0;
    std::vector<double> begin, end;  ///< of each action
};

/// Earliest times: an action begins when the one before it in its queue and the one that it waits for are complete.
Timeline estimate(const MemoryProgram& program, const TransferTimes& times);

/// Rules that a program has broken, the first few as sentences.
struct ProgramCheck {
    std::vector<std::string> broken;
    std::array<std::uint64_t, 2> peak_bytes{};  ///< of the halves, at any time
    std::uint64_t persistent_hash = 0;          ///< of parameters and optimiser states behind the step
};

/// Replays a program with contents: the content of a tensor is a hash of the operator that has made it and of what that
/// has read. Checked, at the times of `timeline`:
/// - an operator runs only when all operands are complete in device memory, in the half that it works in;
/// - each operand has the content that it has with unlimited memory (nothing stale, nothing lost);
/// - a copy moves complete contents; nothing is dropped while it is used;
/// - a half holds no more than its capacity, workspaces in it.
ProgramCheck check_program(const MemoryProgram& program, const sched::TrainingStream& stream, const Timeline& timeline);

/// Persistent contents behind the step with unlimited memory.
std::uint64_t unlimited_hash(const sched::TrainingStream& stream);

}  // namespace switchyard::memory_managers
