// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "switchyard/sw_scheduler/adyna/image/image.h"

namespace switchyard::platform {

/// The memory of a chip: `interfaces` regions of `region_bytes`, one behind the other.
struct MemoryMap {
    unsigned interfaces = 1;
    std::uint64_t region_bytes = 0;
};

/// Throws InputError that names `source`, the tensor or switch and the field if the image puts something beyond the
/// memory, or moves a tensor that no tile has.
void check_addresses(const Image& image, const MemoryMap& memory, const std::string& source);

}  // namespace switchyard::platform
