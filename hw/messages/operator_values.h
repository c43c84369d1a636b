// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "switchyard/sw_scheduler/adyna/image/partition.h"
#include "switchyard/tlm/block_addresses.h"

namespace switchyard {

/// What a dispatcher must know of an operator, beside its kernel, in order to say where the values of a unit lie. All
/// are binary16, or binary32 (OperatorShape, Fused::wide), in these layouts, of the part that the tile computes
/// (output_box()) or needs for it (input_box()):
///   input slot   [n][c][row][column]; columns: all of the tensor's
///   weights      [k][c][r][s]
///   output slot  [n][k][p][q]; a second operand of a fused step and a gate's logits likewise
///   parameters of fused steps (bias, scale): [k]; of a position: [k][token]
///   factor       [n][c]
struct OperatorValues {
    /// One tensor that is read.
    struct Source {
        std::uint32_t offset = 0;  ///< of its slot in the scratchpad
        /// Which samples come from here, by position among the operator's; the slot holds those alone. Empty: all.
        std::vector<bool> present;
    };

    OperatorShape shape;
    /// One; of a merge one an in-edge: added up if the kernel reduces as many, or else each sample from where it is.
    std::vector<Source> sources;
    KernelAddresses::Reduce reduce = KernelAddresses::Reduce::sum;  ///< pool: mean or maximum
    std::vector<KernelAddresses::Fused> epilogue;                   ///< in front of `across`, if there is one
    KernelAddresses::Across across;                                 ///< without its rows and columns
    /// With a position: the first token of each of the operator's samples.
    std::vector<std::uint32_t> first_tokens;
};

}  // namespace switchyard
