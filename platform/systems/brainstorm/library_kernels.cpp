// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/brainstorm/library_kernels.h"

#include "switchyard/sw_scheduler/kernel_streams/launch_shapes.h"

namespace switchyard::platform::brainstorm {

sched::GpuKernel library_kernel(const sched::GpuOperator& op) {
    using Kind = sched::GpuOperator::Kind;
    const bool reuse = op.kind != Kind::pooling && op.groups < op.out_channels;
    const sched::LaunchShape shape =
        reuse ? sched::matrix_product_shape(op.batch * op.out_height * op.out_width, op.out_channels, op.reduction())
        : op.kind == Kind::pooling ? sched::elementwise_shape(op.outputs())
                                   : sched::one_output_shape(op.outputs(), sched::kLargeCta);
    sched::GpuKernel kernel;
    kernel.name = op.name;
    kernel.grid = shape.grid;
    kernel.block = {shape.threads, 1, 1};
    kernel.registers_per_thread = shape.registers_per_thread;
    kernel.shared_bytes = shape.shared_bytes;
    kernel.schedule = shape.schedule;
    kernel.work.flops = op.flops();
    kernel.work.read_bytes = op.input_bytes() + op.weight_bytes();
    kernel.work.written_bytes = op.output_bytes();
    return kernel;
}

}  // namespace switchyard::platform::brainstorm
