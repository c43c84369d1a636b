// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "switchyard/platform/systems/sushi/sushi_config.h"
#include "switchyard/sw_scheduler/sushi/supernet.h"

namespace switchyard::platform::sushi {

/// A layer on a DPU.
struct DpuLayer {
    double us = 0;
    std::uint64_t bytes = 0;  ///< through its data ports
};

/// Closed form of a SubNet on a DPU (Xilinx PG338), layer by layer. Its engines:
/// - Convolution: pixels x input channels x output channels multiply-accumulates a cycle, each rounded up; pixels are
///   those of one output row; window position after window position.
/// - ALU: depthwise kernels and residual additions, alu_pixels x input_channels a cycle, window position after window
///   position.
/// - Data ports: weights, and feature maps that are more than the banks hold; the network's input and output too.
/// With `overlaps` a layer takes what its first tile loads, then the slowest engine; without, all of them in turn.
/// Not modelled: instructions, the engines' pipelines, pooling, loads ahead of the layer, what PG338 does not publish
/// (time between layers).
std::vector<DpuLayer> dpu_layers(const DpuConfig& config, const sched::sushi::SubNet& subnet);
double dpu_us(const DpuConfig& config, const sched::sushi::SubNet& subnet);

/// Roofline of a CPU: multiply-accumulates or bytes from memory, whatever takes longer, layer by layer. Bytes are the
/// weights (a query's are in no cache when it begins), and inputs and outputs that the last-level cache does not hold.
/// A lower bound of the latency: not modelled are the framework, threads that wait for each other, packing of windows,
/// depthwise kernels that leave lanes of vectors empty, the lower clock of wide vectors, misses within the caches.
double cpu_us(const CpuConfig& config, const sched::sushi::SubNet& subnet);

}  // namespace switchyard::platform::sushi
