// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "switchyard/hw/pe_array/pe_array.h"

namespace switchyard::rtl {

/// The implementation that config.impl names: `rtl`, `lockstep` or one of hw::make_pe_array(). Throws
/// InputError for an array size or a number of registers of which there is no RTL.
std::unique_ptr<hw::PeArray> make_pe_array(const char* name, const hw::PeArray::Config& config,
                                           SimulationRegistry& registry);

}  // namespace switchyard::rtl
