// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/dot_product_array/line_buffer.h"

#include <stdexcept>

#include "switchyard/sw_scheduler/base/config_check.h"

namespace switchyard::hw {

bool CycleLineBuffer::step(std::int8_t pixel, std::int8_t* window) {
    pixels_.push_back(pixel);
    const std::uint64_t number = pixels_.size() - 1;
    if (number < pass_.fill) return false;
    const std::uint64_t down = (number - pass_.fill) / pass_.width, across = (number - pass_.fill) % pass_.width;
    if (down % pass_.stride != 0 || across % pass_.stride != 0) return false;
    const std::int64_t padding = (pass_.side - 1) / 2;
    for (std::int64_t i = 0; i < pass_.side; ++i)
        for (std::int64_t j = 0; j < pass_.side; ++j) {
            const std::int64_t row = pass_.centre + static_cast<std::int64_t>(down) - padding + i;
            const std::int64_t column = static_cast<std::int64_t>(across) - padding + j;
            const bool within = row >= 0 && row < pass_.rows && column >= 0 && column < pass_.width;
            window[i * pass_.side + j] =
                within ? pixels_[static_cast<std::size_t>(row * pass_.width + column)] : pass_.zero;
        }
    return true;
}

std::unique_ptr<LineBufferCore> make_line_buffer(const std::string& impl, std::uint32_t, const std::string&) {
    if (impl == "cycle") return std::make_unique<CycleLineBuffer>();
    throw std::invalid_argument(
        not_made("array.impl", {"analytic", "cycle", "rtl", "lockstep"}, impl, "make_line_buffer"));
}

}  // namespace switchyard::hw
