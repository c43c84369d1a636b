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

/// store_result() of many results at once: a tile of them, step by step of the epilogue. Parameters of channels are
/// read once for all rows. The kernel must not change meanwhile, nor what its parameters' places hold.
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

    /// Results of rows[r] and columns[c], r < row_count <= numerics::kTileRows, c < count <= numerics::kTileColumns.
    struct Tile {
        const KernelAddresses::Row* rows;
        std::size_t row_count;
        const KernelAddresses::Column* columns;
        std::size_t count;
    };
    /// `values`: of the first row; those of the next one are `distance` behind them. Throws as store_result() does.
    void store(const Tile& tile, const float* values, std::size_t distance = numerics::kTileColumns);

private:
    /// Of a tile, row by row.
    using Values = std::array<float, std::size_t{numerics::kTileRows} * numerics::kTileColumns>;

    /// Binary16 parameters of a step's channels.
    struct Parameters {
        const KernelAddresses::Column* columns;
        std::size_t step;
        std::array<float, numerics::kTileColumns> values;
    };
    /// Where the results of the columns lie in a row: from `first` on.
    struct Extent {
        const KernelAddresses::Column* columns = nullptr;
        std::size_t count = 0;
        std::uint32_t first = 0, bytes = 0;
        bool all_wanted = false;
        std::array<std::uint32_t, numerics::kTileColumns> offsets{};
    };
    /// Where a tile's binary16 results lie in memory, or a second operand's elements.
    struct Place {
        unsigned char* at = nullptr;  ///< of the columns in the row with the least offset
        std::uint32_t least = 0;
    };
    void find_extent(const Tile& tile);
    /// `offset`: of a row behind `address`. Nowhere if one of the columns is not wanted, or without DMI.
    Place find(std::uint64_t address, const Tile& tile, std::uint32_t KernelAddresses::Row::*offset);
    const float* parameters(std::size_t step, const Tile& tile);
    /// True if the step has been carried out, false if it is one that goes result by result.
    bool fuse(std::size_t step, const Tile& tile, Values& values);
    void add(const KernelAddresses::Fused& fused, const Tile& tile, Values& values);
    void write(const Tile& tile, const Values& results);
    void write_wide(const Tile& tile, const Values& results);

    const std::vector<KernelAddresses::Fused>& epilogue_;
    OperandMemory& memory_;
    std::uint64_t output_ = 0;  ///< of the first row, which may be binary32 (wide)
    bool wide_ = false;
    boost::container::small_vector<Parameters, 2> known_;
    Extent extent_;  ///< of the last columns
};

}  // namespace switchyard::hw
