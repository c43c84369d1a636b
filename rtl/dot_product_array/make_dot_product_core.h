// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "switchyard/hw/dot_product_array/dot_product_core.h"

namespace switchyard::rtl {

/// hw::DotProductCoreFactory with `rtl` and `lockstep`, for arrays of 4 x 4 and 3 x 6; otherwise
/// hw::make_dot_product_core(). Throws std::invalid_argument for another size.
std::unique_ptr<hw::DotProductCore> make_dot_product_core(const std::string& impl, const sched::DotProductShape& shape,
                                                          const std::string& module);

}  // namespace switchyard::rtl
