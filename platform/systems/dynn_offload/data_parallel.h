// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/collectives/link_topology.h"
#include "switchyard/sw_scheduler/memory_managers/memory_program.h"

namespace switchyard::platform::dynn_offload_system {

/// Data-parallel training on several GPUs: each runs the step of its own sample, and gradients are summed over all of
/// them by ring all-reduce, bucket by bucket, as PyTorch's DistributedDataParallel does it: a bucket is full with
/// bucket_bytes of gradients, in the order in which the backward pass completes them, and goes when it is full and the
/// one before it is through. The optimiser waits for the last.
///
/// Times of all-reduces are those of hw::run_collective with NCCL's costs. Not modelled: that buckets and offloaded
/// tensors share PCI Express, what an all-reduce takes of a GPU from kernels, gradients that a manager has moved to the
/// host meanwhile.
class DataParallel {
public:
    /// Throws InputError for a topology with fewer devices.
    DataParallel(const std::string& topology_file, unsigned gpus, std::uint64_t bucket_bytes);

    unsigned gpus() const { return gpus_; }
    /// ns by which the optimiser begins later than without other GPUs.
    double exposed_ns(const sched::TrainingStream& stream, const memory_managers::MemoryProgram& program,
                      const memory_managers::Timeline& line);

private:
    double all_reduce_ns(std::uint64_t bytes);

    unsigned gpus_;
    std::uint64_t bucket_bytes_;
    std::shared_ptr<const sched::LinkTopology> topology_;
    std::map<std::uint64_t, double> known_ns_;
};

}  // namespace switchyard::platform::dynn_offload_system
