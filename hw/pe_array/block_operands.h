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

private:
    std::size_t index(std::int64_t address) const {
        const std::size_t index = static_cast<std::size_t>(address - first_) / 2;  // of one before the first: huge
        if (index >= count_) throw std::runtime_error(fmt::format("no operand at {:#x}", address));
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
    /// Steps at the same filter row and column.
    struct Place {
        std::int32_t y = 0, x = 0;
        std::vector<std::uint32_t> steps;
        // Where steps and their inputs lie as far apart from each one to the next: how far, 0 otherwise.
        std::uint32_t step_stride = 0;
        std::int32_t element_stride = 0;
    };
    const KernelAddresses* kernel = nullptr;
    AddressRange inputs, weights;               ///< offsets
    AddressRange y, x;                          ///< filter rows and columns
    std::vector<std::int32_t> elements;         ///< of each step, where its input lies from the window's corner
    std::vector<std::int32_t> weight_elements;  ///< and its weight from the column's
    std::vector<Place> places;
    bool rising = true;  ///< inputs of the steps of a place, in their order

    /// False if the last kernel had the same steps.
    bool read(const KernelAddresses& from);
    bool stored(const KernelAddresses::Row& row, const Place& place) const {
        const std::int32_t at_y = row.y + place.y, at_x = row.x + place.x;
        return at_y >= 0 && at_y < kernel->rows && at_x >= 0 && at_x < kernel->columns;
    }
    /// No step of the row meets the padding.
    bool all_stored(const KernelAddresses::Row& row) const {
        return row.y + y.first >= 0 && row.y + y.last < kernel->rows && row.x + x.first >= 0 &&
               row.x + x.last < kernel->columns;
    }

private:
    void find_strides(Place& place) const;

    std::vector<KernelAddresses::Step> steps_;  ///< those read
};

}  // namespace switchyard::hw
