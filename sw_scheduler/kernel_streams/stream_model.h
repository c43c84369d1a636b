// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/workload/kernel_stream.h"

namespace switchyard::sched {

/// Which input of an application. Inputs of one seed are independent draws.
struct StreamRequest {
    std::uint64_t seed = 1, input = 0;
};

struct GeneratedStream {
    std::vector<GpuKernel> kernels;
    /// Of convolutions and linear layers, as publications count them; 0 for what is no neural network.
    std::uint64_t multiply_accumulates = 0, parameters = 0;
};

using StreamGenerator = std::function<GeneratedStream(const StreamRequest&)>;

/// An application that launches kernels, read from a description (docs/kernel_stream.md).
struct StreamModel {
    std::string name, generator;
    bool input_dependent = false;  ///< another input has another stream
    /// The application does not know the graph before it runs (ACE, section 2.3), whether or not it comes out the same.
    bool graph_changes = false;
    StreamGenerator generate;  ///< throws InputError
};

/// Throws InputError.
StreamModel read_stream_model(const std::string& path);

}  // namespace switchyard::sched
