// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "switchyard/sw_scheduler/kernel_streams/stream_builder.h"

namespace switchyard::sched {

/// How the libraries that ACE's workloads use divide work into CTAs. They choose by rules that are public (PyTorch,
/// XLA) or by measurement (cuDNN, cuBLAS); for the latter, one rule stands for all GPUs. Files of PyTorch are those of
/// aten/src/ATen/native/cuda.

/// PyTorch's element-wise kernels: 128 threads, four elements each (CUDALoops.cuh).
LaunchShape elementwise_shape(std::uint64_t elements);

/// One output a thread. PyTorch's max pooling has 256 threads (DilatedMaxPool2d.cu); average pooling (AveragePool2d.cu)
/// and depthwise convolutions (DepthwiseConv2d.cu) have kLargeCta.
LaunchShape one_output_shape(std::uint64_t outputs, std::uint32_t threads = 256);
inline constexpr std::uint32_t kLargeCta = 1024;

/// One pixel of all channels a thread: PyTorch's bilinear interpolation, kLargeCta threads (UpSampleBilinear2d.cu).
LaunchShape one_pixel_shape(std::uint64_t pixels);

/// A CTA for each channel, with a thread for four of its pixels, 64 to 512 threads: PyTorch's batch norm of one image
/// (Normalization.cuh). It stands for cuDNN's too, which PyTorch prefers and whose grids are not public.
LaunchShape batch_norm_shape(std::uint32_t channels, std::uint64_t pixels);

/// XLA's loop fusions: one element a thread, 128 threads (xla/service/gpu/launch_dimensions.cc: the smallest CTA with
/// which an SM of 1536 or 2048 threads and 16 CTAs is full).
LaunchShape loop_fusion_shape(std::uint64_t elements);

/// Reductions: a warp makes one output, 16 a CTA (aten/src/ATen/native/cuda/Reduce.cuh: 32 x 16 threads).
LaunchShape reduction_shape(std::uint64_t outputs);

/// A matrix product of rows x depth by depth x columns, also a convolution as implicit matrix product. A CTA makes a
/// tile of the result: the largest of 128x128, 128x64, 64x64, 64x32 and 32x32 (the tiles of CUTLASS's and cuDNN's FP32
/// kernels) with which there are kWantedCtas or more. If there is none, the tile is 32x32 and the depth is divided into
/// parts of kMinPartDepth or more, so that there are kWantedCtas if possible; each part adds its sums to the result in
/// the L2 (split-K). A CTA reads its rows and columns through the L2. The test `calibration_gpu` holds this against
/// measured kernels.
LaunchShape matrix_product_shape(std::uint64_t rows, std::uint64_t columns, std::uint64_t depth);
inline constexpr std::uint64_t kWantedCtas = 40, kMinPartDepth = 64;

}  // namespace switchyard::sched
