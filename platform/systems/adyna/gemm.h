// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <nlohmann/json_fwd.hpp>

#include "switchyard/platform/chip/platform_config.h"

namespace switchyard::platform {

/// C[m x n] = A[m x k] * B[k x n], FP16.
struct GemmSize {
    std::uint64_t m = 1, n = 1, k = 1;
    unsigned tiles = 0;  ///< use the first N tiles; 0: all
};

/// Compiles a model of one matmul with m samples and runs one batch of it through the whole chain: image, configuration
/// port, weights and input to HBM, doorbell, interrupt. docs/report_format.md describes the result.
/// Throws InputError if the size does not fit the chip. At most once a process.
nlohmann::ordered_json run_gemm(const PlatformConfig& platform, const GemmSize& size);

}  // namespace switchyard::platform
