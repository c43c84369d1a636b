// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "switchyard/hw/numerics/vector_kernels.h"
#include "switchyard/hw/pe_array/operand_memory.h"
#include "switchyard/tlm/block_addresses.h"

namespace switchyard::hw {

/// store_result() of many results of a block at once: a row of them, step by step of the epilogue. Parameters of
/// channels are read once for all rows. The kernel must not change meanwhile, nor what its parameters' places hold.
class ResultWriter {
public:
    ResultWriter(const KernelAddresses& kernel, OperandMemory& memory) : kernel_(kernel), memory_(memory) {}

    /// The sums values[i] of `row` and columns[i], i < count <= numerics::kTileColumns. Throws as store_result() does.
    void store(const KernelAddresses::Row& row, const KernelAddresses::Column* columns, std::size_t count,
               const float* values);

private:
    /// Binary16 parameters of a step's channels.
    struct Parameters {
        const KernelAddresses::Column* columns;
        std::size_t step;
        std::array<float, numerics::kTileColumns> values;
    };
    const float* parameters(std::size_t step, const KernelAddresses::Column* columns, std::size_t count);
    /// True if the step has been carried out, false if it is one that goes result by result.
    bool fuse(std::size_t step, const KernelAddresses::Row& row, const KernelAddresses::Column* columns,
              std::size_t count, float* values);

    const KernelAddresses& kernel_;
    OperandMemory& memory_;
    std::vector<Parameters> known_;
};

}  // namespace switchyard::hw
