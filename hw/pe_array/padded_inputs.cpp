// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/pe_array/padded_inputs.h"

#include <algorithm>

namespace switchyard::hw {

bool PaddedInputs::needs_padding(const WindowRange& windows) const {
    const KernelAddresses& kernel = *steps_->kernel;
    return !windows.y.empty() &&
           (windows.y.first + steps_->y.first < 0 || windows.y.last + steps_->y.last >= kernel.rows ||
            windows.x.first + steps_->x.first < 0 || windows.x.last + steps_->x.last >= kernel.columns);
}

PaddedInputs::Layout PaddedInputs::layout_of(const WindowRange& windows) const {
    const KernelAddresses& kernel = *steps_->kernel;
    const AddressRange& y = steps_->y;
    const AddressRange& x = steps_->x;
    const auto zeros = [](std::int64_t count) { return std::max<std::int64_t>(count, 0); };
    Layout layout;
    layout.planes = (windows.planes.last + steps_->planes.last - windows.planes.first - steps_->planes.first) /
                        steps_->plane_bytes() +
                    1;
    layout.rows = kernel.rows;
    layout.columns = kernel.columns;
    layout.top = zeros(-(windows.y.first + y.first));
    layout.left = zeros(-(windows.x.first + x.first));
    const std::int64_t bottom = zeros(windows.y.last + y.last - kernel.rows + 1);
    const std::int64_t right = zeros(windows.x.last + x.last - kernel.columns + 1);
    layout.plane_rows = kernel.rows + std::max(layout.top, bottom);
    layout.row_elements = kernel.columns + std::max(layout.left, right);
    layout.size = layout.at(layout.planes - 1, kernel.rows - 1 + bottom, kernel.columns - 1 + right) + 1;
    return layout;
}

bool PaddedInputs::lay_out(const OperandRegion& inputs, const ReductionSteps& steps, const WindowRange& windows,
                           bool changed) {
    inputs_ = &inputs;
    steps_ = &steps;
    stale_ = stale_ || changed;
    padded_ = needs_padding(windows);
    if (!padded_) return true;
    if (!steps.planar) return false;
    const Layout layout = layout_of(windows);
    const std::int64_t begin = windows.planes.first + steps.planes.first;
    complete_ = inputs.has(begin, begin + layout.planes * steps.plane_bytes() - 2);
    if (layout != layout_)
        values_.assign(static_cast<std::size_t>(layout.size), 0.0F);
    else if (!stale_ && windows.planes.first == first_)
        return true;
    stale_ = false;
    layout_ = layout;
    first_ = plane_ = windows.planes.first;
    index_ = 0;
    find_offsets();
    copy_planes();
    return true;
}

void PaddedInputs::find_offsets() {
    offsets_.clear();
    for (const KernelAddresses::Step& step : steps_->kernel->steps) {
        const std::int64_t plane = (steps_->plane_of(step) - steps_->planes.first) / steps_->plane_bytes();
        offsets_.push_back(
            static_cast<std::int32_t>((plane * layout_.plane_rows + step.y) * layout_.row_elements + step.x));
    }
}

void PaddedInputs::copy_planes() {
    std::int64_t address = first_ + steps_->planes.first;
    for (std::int64_t plane = 0; plane < layout_.planes; ++plane)
        for (std::int64_t y = 0; y < layout_.rows; ++y, address += 2 * layout_.columns)
            inputs_->copy(address, layout_.columns, &values_[static_cast<std::size_t>(layout_.at(plane, y, 0))]);
}

std::int64_t PaddedInputs::index_of(std::int64_t plane) {
    if (plane == plane_) return index_;
    plane_ = plane;
    index_ = (plane - first_) % steps_->plane_bytes() == 0 ? (plane - first_) / steps_->plane_bytes() : kNone;
    return index_;
}

bool PaddedInputs::exist(const KernelAddresses::Row& row, std::int64_t plane) const {
    const std::int64_t top = std::max<std::int64_t>(row.y + steps_->y.first, 0),
                       bottom = std::min(row.y + steps_->y.last, layout_.rows - 1),
                       left = std::max<std::int64_t>(row.x + steps_->x.first, 0),
                       right = std::min(row.x + steps_->x.last, layout_.columns - 1);
    if (top > bottom || left > right) return true;
    return inputs_->has(plane + steps_->planes.first + 2 * (top * layout_.columns + left),
                        plane + steps_->planes.last + 2 * (bottom * layout_.columns + right));
}

const float* PaddedInputs::window(const KernelAddresses::Row& row) {
    if (!padded_) return inputs_->span(row.input, steps_->inputs.first, steps_->inputs.last);
    const std::int64_t plane = WindowRange::plane_of(row, *steps_->kernel), index = index_of(plane);
    if (index == kNone || (!complete_ && !exist(row, plane))) return nullptr;
    return values_.data() + layout_.at(index, row.y, row.x);
}

}  // namespace switchyard::hw
