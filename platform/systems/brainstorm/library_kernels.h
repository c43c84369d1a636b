// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "switchyard/sw_scheduler/workload/gpu_operator.h"
#include "switchyard/sw_scheduler/workload/kernel_stream.h"

namespace switchyard::platform::brainstorm {

/// The kernel of PyTorch or of cuBLAS and cuDNN for an operator (sw_scheduler/kernel_streams/launch_shapes.h), without
/// segments.
sched::GpuKernel library_kernel(const sched::GpuOperator& op);

}  // namespace switchyard::platform::brainstorm
