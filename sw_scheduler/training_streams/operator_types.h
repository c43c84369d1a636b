// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "switchyard/sw_scheduler/workload/training_stream.h"

namespace switchyard::sched {

/// An operator type with the idioms that it is made of. The counts are those that the authors of DyNN-Offload publish
/// for PyTorch's operators (the list in their repository; a product: Fig. 3); where theirs has no entry, they are
/// counted by the same definitions and marked so in operator_types.cpp.
struct OperatorType {
    const char* name;
    Idioms idioms;
};

enum class OpType : std::uint8_t {
    product,
    product_backward_data,
    product_backward_weight,
    convolution,
    convolution_backward_data,
    convolution_backward_weight,
    add,
    multiply,
    multiply_backward,
    sigmoid,
    sigmoid_backward,
    tanh,
    tanh_backward,
    relu,
    relu_backward,
    gelu,
    gelu_backward,
    dropout,
    dropout_backward,
    softmax,
    softmax_backward,
    layer_norm,
    layer_norm_backward,
    pool,
    pool_backward,
    gather,
    gather_backward,
    concatenate,
    transpose,
    mean,
    mean_backward,
    loss,
    loss_backward,
    accumulate,
    adam,
    kinds
};

const OperatorType& operator_type(OpType type);

}  // namespace switchyard::sched
