// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "switchyard/hw/messages/tile_protocol.h"
#include "switchyard/hw/pe_array/operand_memory.h"

/// What blocks compute (tlm/block_addresses.h), with the arithmetic of hw/numerics. All functions that touch memory
/// throw std::runtime_error for an address that does not exist.
namespace switchyard::hw {

/// "" or in what the addresses contradict the sizes.
std::string address_error(const PeWorkExtension& work);

/// Input of (row, column, step): zero outside the stored rows and columns, and for a result that is not wanted.
std::uint16_t load_input(const BlockAddresses& block, const BlockAddresses::Row& row, std::int32_t column_input,
                         const KernelAddresses::Step& step, OperandMemory& memory);

/// Weight of (column, step): zero for a result that is not wanted.
std::uint16_t load_weight(const BlockAddresses::Column& column, const KernelAddresses::Step& step,
                          OperandMemory& memory);

/// Epilogue, rounding and write of one result, unless it is not wanted; in front of a step across channels, epilogue
/// and write of what is kept for it.
void store_result(const KernelAddresses& kernel, const BlockAddresses::Row& row, const BlockAddresses::Column& column,
                  float value, OperandMemory& memory);

/// Of a vector whose sum is one, which a step of kind `factor` reads for a row: the probability of what was chosen.
float largest_factor(const KernelAddresses::Fused& fused, const BlockAddresses::Row& row, OperandMemory& memory);

/// `value` of (row, column) after the steps of an epilogue from `done` on.
float fused_result(const std::vector<KernelAddresses::Fused>& epilogue, const BlockAddresses::Row& row,
                   const BlockAddresses::Column& column, float value, OperandMemory& memory, std::size_t done = 0);

/// The step across channels of an invocation whose blocks are all done, and the epilogue behind it; nothing if
/// there is none.
void finish_across(const KernelAddresses& kernel, OperandMemory& memory);

/// One block of vector work.
void reduce_block(const BlockAddresses& block, bool acc_fp16, OperandMemory& memory);

}  // namespace switchyard::hw
