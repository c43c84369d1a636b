// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "switchyard/hw/scheduling_window/window_core.h"

namespace switchyard::rtl {

/// hw::WindowCoreFactory with `rtl` and `lockstep`, for windows of 4, 16, 32 and 64 slots; otherwise
/// hw::make_window_core(). Throws std::invalid_argument for another size.
std::unique_ptr<hw::WindowCore> make_window_core(const std::string& impl, const hw::WindowShape& shape,
                                                 const std::string& module);

}  // namespace switchyard::rtl
