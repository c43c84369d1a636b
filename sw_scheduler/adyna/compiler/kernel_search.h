// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <unordered_map>
#include <vector>

#include "switchyard/sw_scheduler/adyna/compiler/cost_model.h"

namespace switchyard::sched {

/// Finds the best template nest for a tile's work. Results are kept: networks repeat their layers.
class KernelSearch {
public:
    explicit KernelSearch(const HardwareDescription& hardware);

    struct Result {
        Blocking blocking;
        NestCost cost;
    };
    /// The blocking with the fewest cycles, then the fewest scratchpad bytes, of all whose pe factors fit the array and
    /// whose reg factors fit the PEs' registers. Exhaustive for multiply-accumulate work (blockings that a lower bound
    /// rules out are not costed); vector work tries the largest block of each register shape.
    const Result& best(const TileWork& work);
    const HardwareDescription& hardware() const { return hardware_; }

private:
    struct Hash {
        std::size_t operator()(const TileWork& work) const;
    };
    Result search(const TileWork& work) const;

    HardwareDescription hardware_;
    struct RegisterBlock {
        std::array<std::uint16_t, 4> reg;
        unsigned row_outputs, column_outputs;
    };
    std::vector<RegisterBlock> register_blocks_;  ///< that fit pe_register_bytes
    std::unordered_map<TileWork, Result, Hash> known_;
};

/// TileWork::size (outputs: n, k, p, q) of what the fullest tile computes when an operator runs `partition.dyn_dim`
/// samples on k_factor x n x p tiles.
std::array<std::uint16_t, 4> block_size(const OperatorShape& shape, const Partition& partition, unsigned k_factor);
/// What the fullest tile computes when an operator runs `partition.dyn_dim` samples on k_factor x n x p tiles.
TileWork tile_work(const OperatorShape& shape, unsigned operands, const Partition& partition, unsigned k_factor);

/// The kernel of operator `op_id` for `units` units that have the partition: loops, orders, strides and totals.
/// Throws InputError if a size does not fit the format's 16 bits.
Kernel make_kernel(KernelSearch& search, const OperatorShape& shape, unsigned operands, const Partition& partition,
                   unsigned k_factor, std::uint16_t op_id, unsigned units = 1);

}  // namespace switchyard::sched
