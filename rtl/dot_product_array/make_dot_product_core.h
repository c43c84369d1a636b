// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "switchyard/hw/dot_product_array/dot_product_core.h"
#include "switchyard/hw/dot_product_array/line_buffer.h"

namespace switchyard::rtl {

/// hw::DotProductCoreFactory with `rtl` and `lockstep`, for arrays of 4 x 4 and 3 x 6; otherwise
/// hw::make_dot_product_core(). Throws std::invalid_argument for another size.
std::unique_ptr<hw::DotProductCore> make_dot_product_core(const std::string& impl, const sched::DotProductShape& shape,
                                                          const std::string& module);

/// hw::LineBufferFactory with `rtl` and `lockstep`, for windows of 3, 5 and 7 and rows of at most 256 pixels; otherwise
/// hw::make_line_buffer(). Throws std::invalid_argument for another side.
std::unique_ptr<hw::LineBufferCore> make_line_buffer(const std::string& impl, std::uint32_t side,
                                                     const std::string& module);

}  // namespace switchyard::rtl
