// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "switchyard/hw/dispatcher/kernel_nest.h"
#include "switchyard/hw/messages/operator_values.h"

namespace switchyard::hw {

/// The address generator: where the values of each block of one kernel invocation lie, in the layouts of
/// OperatorValues.
///
/// Rows of PEs take n, p, q and columns k, the last of them fastest; a PE's accumulators likewise.
class ValueAddresses {
public:
    /// `nest` must live as long. Throws std::domain_error if the kernel is not one of the operator's.
    ValueAddresses(const Kernel& kernel, const KernelNest& nest, const OperatorValues& values,
                   std::uint32_t weight_offset, std::uint32_t output_offset);
    ValueAddresses(const ValueAddresses&) = delete;
    ValueAddresses& operator=(const ValueAddresses&) = delete;

    /// Writes those of the block at `position` in the output box, which are valid as long as this object, over others.
    void find(const OutputIndex& position, BlockAddresses& block);

private:
    /// Along one axis: an output's place in the block's list, and in the box.
    struct Lane {
        std::uint32_t at = 0;
        bool wanted = true;
    };
    /// Outputs along an axis of a block, PE by PE: `lanes` PEs with `depth` accumulators each.
    struct Span {
        std::uint32_t first, extent, reg, lanes, depth;
        std::uint32_t size() const { return lanes * depth; }
        Lane at(std::uint32_t lane, std::uint32_t deep) const {
            const std::uint32_t in_block = lane * reg + deep;
            return {first + in_block, in_block < extent};
        }
    };

    /// Of distances between the elements of several sources, which are those of binary16 elsewhere.
    std::int32_t operand_scale() const { return kernel_.wide_inputs ? 2 : 1; }
    void make_steps(const Kernel& kernel, const OperatorValues& values);
    void make_attention(const Kernel& kernel);
    /// Rows and columns of the whole output box, if a step across channels needs them.
    void make_across();
    /// Rows and inputs of the block, into last_.
    void find_rows(const OutputIndex& position, const OutputIndex& extent);
    /// The same from those of the last block, which has the same extent.
    void move_rows(const OutputIndex& position);
    /// Columns of the block, into last_.
    void find_columns(const OutputIndex& position, const OutputIndex& extent);
    Span span(unsigned axis, const OutputIndex& position, const OutputIndex& extent) const;
    BlockAddresses::Row row(const Lane& n, const Lane& p, const Lane& q) const;
    BlockAddresses::Column column(const Lane& k) const;
    /// Several sources: where each step of this row reads.
    void add_inputs(const BlockAddresses::Row& row, std::vector<std::int32_t>& inputs) const;

    const KernelNest& nest_;
    const OperatorValues& values_;
    KernelAddresses kernel_;
    Box input_;
    std::array<std::uint32_t, 4> reg_{}, size_{};  ///< n, k, p, q: accumulators of a PE, outputs of the box
    std::uint32_t stride_ = 1, weight_offset_ = 0;
    std::int32_t pad_ = 0;
    std::int32_t sample_bytes_ = 0, channel_bytes_ = 0, row_bytes_ = 0;  ///< of the input slot
    bool channelwise_ = false;
    BlockAddresses last_;  ///< the block before
    OutputIndex last_position_{}, last_extent_{};
    std::vector<std::vector<std::int32_t>> samples_;  ///< several sources: where each has the samples of the box
};

}  // namespace switchyard::hw
