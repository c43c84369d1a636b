// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/collectives/program.h"
#include "switchyard/sw_scheduler/workload/kernel_stream.h"

namespace switchyard::sched::brainstorm {

/// Queues of a device.
enum DeviceQueue : unsigned { kMainQueue = 0, kCheckQueue = 1, kCopyQueue = 2, kDeviceQueues = 3 };

struct Speculation;

/// What load number `load` has brought to device memory.
struct LoadedWeights {
    std::uint64_t address = 0, bytes = 0;
    std::uint32_t load = 0;
};

/// What the host of a device does next.
struct HostStep {
    enum class Kind {
        launch,      ///< of a kernel, on `queue`
        read_back,   ///< copies `bytes` to the host behind what is on `queue`, and waits for them
        work,        ///< `us` of the host's own time
        fork,        ///< what follows on `queue` waits for all that is on the main queue so far
        load,        ///< copies `bytes` from the host to `address` on the copy queue, as load number `load`
        await_load,  ///< what follows on the main queue waits for load number `load`
        collective,  ///< takes part in a collective (its kernel may be null), behind what is on the main queue; what
                     ///< follows there waits for it
        speculate,   ///< see Speculation
    };
    Kind kind = Kind::work;
    unsigned queue = kMainQueue;
    std::shared_ptr<const GpuKernel> kernel;
    double us = 0;
    std::uint64_t bytes = 0, address = 0;
    std::uint32_t load = 0;
    std::uint32_t collective = 0;  ///< index in BatchProgram::collectives
    std::shared_ptr<const Speculation> speculation;
    std::vector<LoadedWeights> weights;  ///< functional runs: that the kernel reads
};
using HostSteps = std::vector<HostStep>;

/// Speculative routing (section 4.3): a thread of the host does `check`, which ends when the decision is known; the
/// main thread does `predicted` and goes on with what follows. If the prediction was wrong it stops, does `actual`,
/// which is what the decision wants and the prediction has not, and does again what follows.
struct Speculation {
    HostSteps check, predicted, actual;
    bool hit = true;
    /// Of a wrong prediction: the decision wants a part of `predicted`, which is done to its end.
    bool keeps = false;
    /// The predicted branch ends the network: nothing follows until the decision is known.
    bool ends = false;
};

/// Which cells a collective moves, and where they lie in the devices' buffers.
struct CellMoves {
    std::uint64_t cell_bytes = 0;
    bool sparse = true;                                          ///< sizes are sent first (SparseLayout)
    std::uint64_t capacity = 0;                                  ///< padded: cells between two devices
    std::uint64_t sizes_sent = 0, sizes_received = 0;            ///< sparse
    std::vector<std::vector<std::uint64_t>> send, receive;       ///< offsets, [from][to]
    std::vector<std::vector<std::vector<std::uint64_t>>> cells;  ///< [from][to] in the order of the buffer
};

/// Where a batch's cells are at its end.
struct CellEnd {
    std::size_t device = 0;
    std::size_t copies = 1;  ///< results of as many branches, which are added up
};

/// A batch on all devices.
struct BatchProgram {
    std::vector<HostSteps> devices;
    std::vector<CollectiveProgram> collectives;
    /// Functional runs only: of each collective, and of each cell.
    std::vector<CellMoves> moves;
    std::vector<CellEnd> ends;
    /// Functional runs only: that the decisions want and that read weights that come and go.
    std::uint64_t kernels_with_weights = 0;
    struct Counts {
        std::uint64_t decisions = 0, predicted = 0, hits = 0;  ///< of routers, as the paper counts
        std::uint64_t routed_cells = 0, padded_cells = 0;      ///< computed by branches, padding included
        std::uint64_t decided_cells = 0, dropped_cells = 0;    ///< at routers; dropped: by a branch that was full
        std::uint64_t crossing_cells = 0;                      ///< between devices, on the way to branches and back
        std::uint64_t crossing_bytes = 0;                      ///< with padding
        std::uint64_t loads = 0, loads_on_demand = 0, loads_in_vain = 0, loaded_bytes = 0;
        std::uint64_t profile_updates = 0;
    } counts;
    /// Of device 0: weights that are there at a time, at the most.
    std::uint64_t peak_weight_bytes = 0;
};

/// Packets that a program can write to a queue, at the most.
std::uint64_t packets_of(const HostSteps& steps);

inline HostStep launch_step(std::shared_ptr<const GpuKernel> kernel, unsigned queue = kMainQueue) {
    HostStep step;
    step.kind = HostStep::Kind::launch;
    step.kernel = std::move(kernel);
    step.queue = queue;
    return step;
}
inline HostStep read_back_step(std::uint64_t bytes, unsigned queue = kMainQueue) {
    HostStep step;
    step.kind = HostStep::Kind::read_back;
    step.bytes = bytes;
    step.queue = queue;
    return step;
}
inline HostStep work_step(double us) {
    HostStep step;
    step.us = us;
    return step;
}

}  // namespace switchyard::sched::brainstorm
