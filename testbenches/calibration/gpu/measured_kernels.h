// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "switchyard/sw_scheduler/workload/gpu_operator.h"

namespace switchyard::calibration {

/// A kernel that others measured.
struct MeasuredKernel {
    std::string device;  ///< "A100-80GB"
    std::string label;   ///< of the operator, as the log has it
    sched::GpuOperator op;
    double us = 0;
    std::string line;  ///< of the file
};

/// Reads testbenches/calibration/gpu/a100_kernels.csv or a file like it. Throws InputError "file:line: ...".
std::vector<MeasuredKernel> read_measured_kernels(const std::string& path);

/// For tables: linear, convolution 1x1, convolution, depthwise, transposed, pooling.
std::string type_of(const sched::GpuOperator& op);

}  // namespace switchyard::calibration
