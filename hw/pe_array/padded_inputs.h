// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "switchyard/hw/pe_array/block_operands.h"

namespace switchyard::hw {

/// Where the windows of a command's rows lie in the stored inputs. A plane is a channel of a sample.
struct WindowRange {
    AddressRange planes;  ///< address of the first plane of a row
    AddressRange y, x;    ///< top left corners, which may lie in the padding

    void include(const KernelAddresses::Row& row, const KernelAddresses& kernel) {
        planes.include(plane_of(row, kernel));
        y.include(row.y);
        x.include(row.x);
    }
    static std::int64_t plane_of(const KernelAddresses::Row& row, const KernelAddresses& kernel) {
        return row.input - 2 * (std::int64_t{row.y} * kernel.columns + row.x);
    }
};

/// The inputs of a command with the zeros that windows find around the stored rows and columns, so that all windows
/// read alike. Where none reaches beyond them, the inputs stay where they are.
class PaddedInputs {
public:
    /// Both must stay as they are until the next call. `changed`: they are not those of the last call. False if there
    /// is padding and the steps are not planar.
    bool lay_out(const OperandRegion& inputs, const ReductionSteps& steps, const WindowRange& windows, bool changed);
    /// The top left corner of the row's window in the first channel; null if an input that it needs does not exist or
    /// its planes do not follow those of the first row.
    const float* window(const KernelAddresses::Row& row);
    /// Of each step, from that corner on.
    const std::int32_t* offsets() const { return padded_ ? offsets_.data() : steps_->elements.data(); }

private:
    /// In elements. The zeros behind a row are also those before the next one, and between planes likewise.
    struct Layout {
        std::int64_t planes = 0, rows = 0, columns = 0;  ///< stored
        std::int64_t top = 0, left = 0;                  ///< zeros before them
        std::int64_t plane_rows = 0, row_elements = 0;   ///< from one to the next
        std::int64_t size = 0;

        std::int64_t at(std::int64_t plane, std::int64_t y, std::int64_t x) const {
            return (plane * plane_rows + y + top) * row_elements + x + left;
        }
        bool operator!=(const Layout& o) const {
            return planes != o.planes || rows != o.rows || columns != o.columns || top != o.top || left != o.left ||
                   plane_rows != o.plane_rows || row_elements != o.row_elements || size != o.size;
        }
    };

    Layout layout_of(const WindowRange& windows) const;
    bool needs_padding(const WindowRange& windows) const;
    void find_offsets();
    void copy_planes();
    static constexpr std::int64_t kNone = -1;
    /// The number of a row's first plane, which rows that follow each other often share; kNone if there is none.
    std::int64_t index_of(std::int64_t plane);
    /// All stored inputs in the row's window are there.
    bool exist(const KernelAddresses::Row& row, std::int64_t plane) const;

    const OperandRegion* inputs_ = nullptr;
    const ReductionSteps* steps_ = nullptr;
    bool padded_ = false;
    bool complete_ = false;  ///< all elements of all planes are there
    bool stale_ = true;      ///< what was copied last is not of these inputs and steps
    Layout layout_;
    std::int64_t first_ = 0;  ///< WindowRange::planes
    std::vector<float> values_;
    std::vector<std::int32_t> offsets_;
    std::int64_t plane_ = 0, index_ = 0;  ///< what index_of() returned last, and for what
};

}  // namespace switchyard::hw
