// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "switchyard/hw/dispatcher/dispatcher.h"

namespace switchyard::rtl {

/// The implementation that config.impl names: `rtl`, `lockstep` or one of hw::make_kernel_dispatcher(), which throws
/// InputError for any other name.
std::unique_ptr<hw::KernelDispatcher> make_kernel_dispatcher(const char* name,
                                                             const hw::KernelDispatcher::Config& config,
                                                             SimulationRegistry& registry);

}  // namespace switchyard::rtl
