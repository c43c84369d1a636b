// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "switchyard/hw/numerics/vector_kernels.h"
#include "switchyard/hw/pe_array/operand_memory.h"
#include "switchyard/tlm/block_addresses.h"

namespace switchyard::hw {

/// store_result() of many results at once: a row of them, step by step of the epilogue. Parameters of channels are read
/// once for all rows. The kernel must not change meanwhile, nor what its parameters' places hold.
class ResultWriter {
public:
    /// What the values are: sums of a block, or what the step across channels has made of them (finish_across()).
    enum class Of { sums, across };

    ResultWriter(const KernelAddresses& kernel, OperandMemory& memory, Of values = Of::sums)
        : epilogue_(values == Of::across ? kernel.across.epilogue : kernel.epilogue), memory_(memory) {
        const bool kept = values == Of::sums && kernel.across.kind != KernelAddresses::Across::Kind::none;
        output_ = kept ? kernel.across.kept : kernel.output;
        wide_ = kept || kernel.wide_output;
    }

    /// The values[i] of `row` and columns[i], i < count <= numerics::kTileColumns. Throws as store_result() does.
    void store(const KernelAddresses::Row& row, const KernelAddresses::Column* columns, std::size_t count,
               const float* values);

private:
    /// Binary16 parameters of a step's channels.
    struct Parameters {
        const KernelAddresses::Column* columns;
        std::size_t step;
        std::array<float, numerics::kTileColumns> values;
    };
    /// Where the results of the columns lie in a row.
    struct Extent {
        const KernelAddresses::Column* columns = nullptr;
        std::size_t count = 0;
        std::uint32_t first = 0, bytes = 0;
        bool all_wanted = false;
    };
    const Extent& extent(const KernelAddresses::Column* columns, std::size_t count);
    /// Of a row whose results begin at `address`: where those of the columns lie in memory; null if one of them is not
    /// wanted, or without DMI.
    unsigned char* find(std::uint64_t address, const KernelAddresses::Column* columns, std::size_t count);
    const float* parameters(std::size_t step, const KernelAddresses::Column* columns, std::size_t count);
    /// True if the step has been carried out, false if it is one that goes result by result.
    bool fuse(std::size_t step, const KernelAddresses::Row& row, const KernelAddresses::Column* columns,
              std::size_t count, float* values);

    void write(std::uint64_t address, const KernelAddresses::Column* columns, std::size_t count, const float* results);
    void write_wide(std::uint64_t address, const KernelAddresses::Column* columns, std::size_t count,
                    const float* results);

    const std::vector<KernelAddresses::Fused>& epilogue_;
    OperandMemory& memory_;
    std::uint64_t output_ = 0;  ///< of the first row, which may be binary32 (wide)
    bool wide_ = false;
    boost::container::small_vector<Parameters, 2> known_;
    Extent extent_;  ///< of the last columns
};

}  // namespace switchyard::hw
