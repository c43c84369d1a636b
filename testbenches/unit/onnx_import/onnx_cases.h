// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "switchyard/testbenches/unit/onnx_import/onnx_model.h"

namespace switchyard::sched {

/// A network with one node of an operator, which is imported.
struct OnnxCase {
    OnnxModel model;
    onnx::NodeProto& node();
};

/// Of an operator that the importer converts, in an opset that has it.
OnnxCase base_case(const std::string& op, int opset);
/// Of `If`, or of `Switch` and `Merge` of the domain switchyard.
OnnxCase gated_case(int opset, const std::string& op);
/// Of an operator on constants: it makes the weights of a matmul.
OnnxCase computed_case(const std::string& op, int opset);

}  // namespace switchyard::sched
