// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "switchyard/hw/gpu/multiprocessors.h"
#include "switchyard/hw/scheduling_window/scheduling_window.h"
#include "switchyard/platform/systems/ace/ace_config.h"
#include "switchyard/sw_scheduler/ace/runtime.h"
#include "switchyard/sw_scheduler/kernel_streams/stream_model.h"

namespace switchyard::platform::ace {

/// An application and the inputs that it gets, one after another; one at least.
struct AceWork {
    sched::StreamModel model;
    std::vector<sched::GeneratedStream> inputs;
};

inline constexpr const char* kFullGraph = "gpu-full-graph";

/// The designs' names in reports and experiments, the baseline first.
const std::vector<std::string>& ace_designs();

/// What a run was like.
struct AceOutcome {
    struct Input {
        double us = 0;  ///< from the first call of the host until it has seen that all kernels are complete
        sched::ace::RuntimeStats host;
        bool memory_as_serial = true;   ///< functional runs: memory is that of execution one by one
        std::size_t longest_chain = 0;  ///< kernels, by their dependences
    };
    std::vector<Input> inputs;
    std::uint64_t completed_kernels = 0;
    double kernel_us = 0;  ///< from the first CTA of a kernel to its completion, summed
    hw::Multiprocessors::Stats multiprocessors;
    hw::SchedulingWindow::Stats window;
};

/// Elaborates the GPU and its host, and runs the inputs by one of ace_designs(). Once a process (SystemC). Throws
/// ModelError for what the GPU refuses, std::runtime_error if nothing goes on any more: the line says who waits for
/// what.
AceOutcome run_ace(const AceWork& work, const AceConfig& config, const std::string& design);

}  // namespace switchyard::platform::ace
