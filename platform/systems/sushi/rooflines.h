// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "switchyard/platform/systems/sushi/sushi_config.h"
#include "switchyard/sw_scheduler/sushi/supernet.h"

namespace switchyard::platform::sushi {

/// Closed form of a layer on a DPU (Xilinx PG338): pixels x input channels x output channels multiply-accumulates a
/// cycle, each rounded up, window position after window position; weights come from memory while it computes,
/// activations too where they are more than the buffers hold. Not modelled: instructions, the pipeline's fill,
/// elementwise layers.
double dpu_layer_us(const DpuConfig& config, const sched::Convolution& layer);
std::vector<double> dpu_layers_us(const DpuConfig& config, const sched::sushi::SubNet& subnet);

/// Roofline of a CPU: multiply-accumulates or bytes of weights, whatever takes longer, layer by layer.
double cpu_us(const CpuConfig& config, const sched::sushi::SubNet& subnet);

}  // namespace switchyard::platform::sushi
