// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace switchyard::hw::dram {

/// A file of configs/devices as it was when the library was built.
struct BuiltinDevice {
    const char* name;
    const char* text;
};

/// In the order of their names.
const std::vector<BuiltinDevice>& builtin_device_texts();

}  // namespace switchyard::hw::dram
