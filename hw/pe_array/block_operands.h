// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "switchyard/hw/pe_array/operand_memory.h"
#include "switchyard/tlm/block_addresses.h"

/// What BlockMultiplier reads before it multiplies.
namespace switchyard::hw {

struct AddressRange {
    std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = std::numeric_limits<std::int64_t>::min();
    void include(std::int64_t value) {
        first = std::min(first, value);
        last = std::max(last, value);
    }
    bool empty() const { return first > last; }
};

/// Elements of an operand of all blocks of a command, read at once and widened.
class OperandRegion {
public:
    /// Begins the next command's.
    void clear() { addresses_ = {}; }
    void include(std::int64_t first, std::int64_t last) {
        addresses_.include(first);
        addresses_.include(last);
    }
    /// False if they lie where the last command's lay and are the same bits. Throws as OperandMemory::load().
    bool load(OperandMemory& memory);
    float operator[](std::int64_t address) const { return values_[index(address)]; }
    std::uint16_t bits(std::int64_t address) const { return bits_[index(address)]; }
    /// Of an element, if it and all from `before` bytes before it to `behind` bytes behind it are there; else null.
    const float* span(std::int64_t address, std::int64_t before, std::int64_t behind) const {
        const std::int64_t bytes = 2 * static_cast<std::int64_t>(count_);
        if (address + before < first_ || address + behind - first_ >= bytes) return nullptr;
        return values_.data() + (address - first_) / 2;
    }
    /// All elements from one address to another are there.
    bool has(std::int64_t first, std::int64_t last) const {
        return first >= first_ && last - first_ < 2 * static_cast<std::int64_t>(count_);
    }
    /// Those of `count` elements that are there.
    void copy(std::int64_t address, std::int64_t count, float* to) const {
        const std::int64_t index = (address - first_) / 2, begin = std::max<std::int64_t>(index, 0);
        const std::int64_t end = std::min(index + count, static_cast<std::int64_t>(count_));
        if (begin < end) std::copy(values_.data() + begin, values_.data() + end, to + (begin - index));
    }

private:
    std::size_t index(std::int64_t address) const {
        const std::size_t index = static_cast<std::size_t>(address - first_) / 2;  // of one before the first: huge
        if (index >= count_) throw std::runtime_error(fmt::format("expected an operand at {:#x}, found none", address));
        return index;
    }

    AddressRange addresses_;
    std::int64_t first_ = 0;
    std::size_t count_ = 0;  ///< elements, of vectors that may be longer
    std::vector<std::uint16_t> bits_, read_;
    std::vector<float> values_;
};

/// What the steps of a kernel have in common for all rows and columns.
struct ReductionSteps {
    const KernelAddresses* kernel = nullptr;
    AddressRange inputs, weights;               ///< offsets
    AddressRange y, x;                          ///< filter rows and columns
    std::vector<std::int32_t> elements;         ///< of each step, where its input lies from the window's corner
    std::vector<std::int32_t> weight_elements;  ///< and its weight from the column's
    /// Each step reads at its filter row and column in a plane of kernel.rows x kernel.columns elements.
    bool planar = true;
    AddressRange planes;  ///< offsets of the planes that they read

    /// False if the last kernel had the same steps and planes.
    bool read(const KernelAddresses& from);
    std::int64_t plane_bytes() const { return 2 * std::int64_t{rows_} * columns_; }
    /// Offset of the plane that a step reads.
    std::int64_t plane_of(const KernelAddresses::Step& step) const {
        return step.input - 2 * (std::int64_t{step.y} * columns_ + step.x);
    }

private:
    std::vector<KernelAddresses::Step> steps_;  ///< those read
    std::int32_t rows_ = 0, columns_ = 0;
};

}  // namespace switchyard::hw
