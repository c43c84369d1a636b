// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "switchyard/hw/messages/tile_protocol.h"
#include "switchyard/hw/numerics/vector_kernels.h"
#include "switchyard/hw/pe_array/block_operands.h"
#include "switchyard/hw/pe_array/operand_memory.h"
#include "switchyard/hw/pe_array/padded_inputs.h"
#include "switchyard/hw/pe_array/result_writer.h"

namespace switchyard::hw {

/// Multiplies the blocks of a command: reads the regions of its operands at once and multiplies in loops over many
/// sums, each of which adds its products in the order of the steps. What it has worked out of weights and steps is used
/// again by commands that come with the same.
class BlockMultiplier {
public:
    explicit BlockMultiplier(OperandMemory& memory) : memory_(memory) {}

    /// All blocks of a multiply-accumulate command. Throws std::runtime_error for an address that does not exist.
    void multiply(const PeWorkExtension& work, bool acc_fp16);

private:
    using Row = BlockAddresses::Row;
    using Column = BlockAddresses::Column;
    using Step = KernelAddresses::Step;

    static constexpr std::int64_t kZero = std::numeric_limits<std::int64_t>::min();

    /// Weights of a block's columns as the kernels of hw/numerics read them.
    struct Gathered {
        std::vector<std::int64_t> columns;  ///< addresses of their weights, or kZero
        std::vector<float> weights;         ///< [tile of columns][step][column of the tile]
    };

    void read_operands(const PeWorkExtension& work);
    void include(const BlockAddresses& block);
    void read_steps(const KernelAddresses& kernel);
    void multiply_block(const BlockAddresses& block);
    void gather_weights(const BlockAddresses& block);
    void gather(const BlockAddresses& block, Gathered& to, std::size_t size) const;
    bool find_windows(const BlockAddresses& block);
    void multiply_tile(const BlockAddresses& block, std::size_t first_row, std::size_t rows, std::size_t first_column,
                       ResultWriter& writer) const;
    void multiply_one_by_one(const BlockAddresses& block) const;

    OperandMemory& memory_;
    bool acc_fp16_ = false, channelwise_ = false;  ///< of the command
    OperandRegion inputs_, weights_;
    ReductionSteps steps_;
    std::vector<Gathered> gathered_;  ///< of weights_ and steps_
    std::size_t current_ = 0;         ///< of them: that of the block
    WindowRange window_range_;        ///< of the command
    PaddedInputs padded_;
    std::vector<const float*> windows_;  ///< of the block's rows, and of none up to a whole tile
    bool changed_ = false;               ///< inputs_ and steps_, since padded_ was laid out
    const KernelAddresses* laid_out_for_ = nullptr;
    bool laid_out_ = false;
};

}  // namespace switchyard::hw
