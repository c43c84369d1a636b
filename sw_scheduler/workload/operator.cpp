// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/workload/operator.h"

namespace switchyard {

std::uint32_t filter_elements(const OperatorShape& shape) {
    switch (shape.kind) {
        case OpKind::convolution:
            return std::uint32_t{shape.in_channels} * shape.filter_rows * shape.filter_columns;
        case OpKind::depthwise:
            return std::uint32_t{shape.filter_rows} * shape.filter_columns;
        case OpKind::matmul:
            if (shape.in_rows == shape.out_rows) return shape.in_channels;
            return std::uint32_t{shape.in_channels} * shape.in_rows * shape.in_columns;  // flattens its input
        case OpKind::attention:
        case OpKind::elementwise:
        case OpKind::pool:
        case OpKind::norm:
        case OpKind::merge:
            break;
    }
    return 0;
}

}  // namespace switchyard
