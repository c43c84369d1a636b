// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "switchyard/sw_scheduler/adyna/image/partition.h"

namespace switchyard::sched {

/// How the tiles of one operator write a tensor in HBM or read it, a micro-batch at a time.
struct TensorAccess {
    OperatorShape shape;
    Partition partition;    ///< of the kernel for a whole unit
    unsigned requests = 1;  ///< of the tiles with the same samples and rows: one for all, or one each
    std::uint32_t units = 1;
    bool writes = false;
    bool all_rows = false;        ///< reads every row: flattened, attention, partial sums
    bool second_operand = false;  ///< reads what a fused step adds
};

/// Cuts a tensor of `samples` ids and `rows` into pieces that lie on `interfaces` memory interfaces in turn: as n x p
/// factors of a partition. Of the cuts that keep the interfaces evenly busy over two micro-batches (one is read ahead),
/// the one with the fewest requests a batch. No access: the host alone uses it.
Partition cut_tensor(std::uint32_t samples, std::uint32_t rows, std::uint32_t interfaces,
                     const std::vector<TensorAccess>& accesses);

/// Requests a batch that an access makes of a tensor with pieces of `block` samples and `piece_rows` of `rows` rows.
std::uint64_t requests_of(const TensorAccess& access, std::uint32_t rows, std::uint32_t block,
                          std::uint32_t piece_rows);

}  // namespace switchyard::sched
