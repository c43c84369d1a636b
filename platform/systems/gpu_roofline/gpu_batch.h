// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "switchyard/platform/systems/gpu_roofline/gpu_config.h"
#include "switchyard/sw_scheduler/workload/graph.h"
#include "switchyard/sw_scheduler/workload/trace.h"

namespace switchyard::platform {

/// What one batch took and did on a GPU.
struct GpuBatch {
    double us = 0;                            ///< from the first launch to the end of the last kernel
    double operators_us = 0, routing_us = 0;  ///< kernels at work; the rest of the time none is
    std::uint64_t operator_launches = 0, routing_launches = 0, synchronisations = 0;
    double macs = 0;
    double read_bytes = 0, written_bytes = 0;  ///< memory, not the cache
    std::vector<double> operator_us;           ///< kernels, index = operator id; a merge's are routing
};

/// Runs a batch kernel by kernel, in the order of the operators, with the samples that its routes send to each. An
/// operator without samples has no kernel, for the host knows the routes.
///
/// Convolutions and matmuls are GEMMs (best_tiling()), with their fused steps as epilogue; attention is one fused
/// kernel at the tensor cores' rate, a depthwise convolution runs outside them; all others, and a global pool, which is
/// a kernel of its own, take as long as their bytes. No kernel is quicker than its bytes. A switch is a ScatterRouter
/// and a merge a GatherRouter of Brainstorm (OSDI 2023): docs/baselines.md lists their kernels.
/// Throws InputError (sample_counts()).
GpuBatch run_gpu_batch(const sched::DynGraph& graph, const GpuConfig& gpu, const BatchRouting& routing);

}  // namespace switchyard::platform
