// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/training_streams/operator_types.h"

#include <array>

namespace switchyard::sched {

const OperatorType& operator_type(OpType type) {
    // transpose, gather, scatter, reduction, stream, stencil
    static const std::array<OperatorType, static_cast<std::size_t>(OpType::kinds)> kTypes{{
        {"product", {1, 0, 0, 1, 1, 0}},                      // Fig. 3
        {"product.backward_data", {1, 0, 0, 1, 1, 0}},        // a product
        {"product.backward_weight", {2, 0, 0, 1, 1, 0}},      // a product of a transposed operand (counted)
        {"convolution", {0, 1, 0, 1, 2, 2}},                  // cuDNN convolution
        {"convolution.backward_data", {0, 1, 0, 1, 2, 2}},    // counted
        {"convolution.backward_weight", {0, 1, 0, 2, 2, 2}},  // counted
        {"add", {0, 1, 0, 0, 0, 0}},
        {"multiply", {0, 0, 0, 0, 1, 0}},           // as maximum
        {"multiply.backward", {0, 0, 0, 0, 2, 0}},  // counted
        {"sigmoid", {0, 0, 0, 0, 1, 0}},            // as elu
        {"sigmoid.backward", {0, 0, 0, 1, 1, 0}},
        {"tanh", {0, 0, 0, 0, 1, 0}},  // as elu
        {"tanh.backward", {0, 0, 0, 1, 1, 0}},
        {"relu", {0, 0, 0, 0, 1, 0}},           // as elu, not in place
        {"relu.backward", {0, 0, 0, 0, 1, 0}},  // counted
        {"gelu", {0, 0, 0, 0, 1, 0}},           // as elu
        {"gelu.backward", {0, 0, 0, 1, 1, 0}},
        {"dropout", {0, 0, 0, 0, 1, 0}},
        {"dropout.backward", {0, 0, 0, 0, 1, 0}},     // counted
        {"softmax", {0, 0, 0, 2, 1, 0}},              // counted: maximum and sum
        {"softmax.backward", {0, 0, 0, 1, 1, 0}},     // counted
        {"layer_norm", {0, 1, 0, 1, 0, 0}},           // as batch norm
        {"layer_norm.backward", {0, 1, 1, 1, 1, 0}},  // as batch norm's
        {"pool", {0, 0, 0, 1, 0, 1}},
        {"pool.backward", {0, 0, 1, 0, 0, 1}},  // counted
        {"gather", {0, 1, 0, 0, 0, 0}},         // its definition
        {"gather.backward", {0, 1, 1, 1, 0, 0}},
        {"concatenate", {0, 0, 0, 0, 0, 0}},
        {"transpose", {1, 0, 0, 0, 0, 0}},
        {"mean", {0, 0, 0, 1, 0, 0}},           // its definition
        {"mean.backward", {0, 0, 0, 0, 1, 0}},  // counted
        {"loss", {0, 1, 0, 2, 1, 0}},           // softmax and a gather (counted)
        {"loss.backward", {0, 0, 1, 0, 1, 0}},  // counted
        {"accumulate", {0, 1, 0, 0, 0, 0}},     // add
        {"adam", {0, 0, 0, 0, 3, 0}},           // counted: two moments and the parameter
    }};
    return kTypes[static_cast<std::size_t>(type)];
}

}  // namespace switchyard::sched
