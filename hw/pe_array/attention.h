// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "switchyard/hw/pe_array/operand_memory.h"
#include "switchyard/tlm/block_addresses.h"

namespace switchyard::hw {

/// An attention's results of a block, of KernelAddresses::Attention: with a query q, keys k[j] and values v[j] of d
/// channels a head, the sum over tokens j of p[j] * v[j], p = softmax(q . k[j] / sqrt(d)).
///
/// Scores and results are accumulated like the array's products, in the order of channels and of tokens. Scores are
/// scaled and go through the softmax in binary32; probabilities are rounded to binary16, as operands of the array.
/// Throws std::runtime_error for an address that does not exist.
void attend_block(const BlockAddresses& block, bool acc_fp16, OperandMemory& memory);

}  // namespace switchyard::hw
