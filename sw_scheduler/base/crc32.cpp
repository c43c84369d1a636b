// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/base/crc32.h"

#include <zlib.h>

namespace switchyard {

std::uint32_t crc32_of(const void* bytes, std::size_t size, std::uint32_t before) {
    return static_cast<std::uint32_t>(crc32_z(before, static_cast<const unsigned char*>(bytes), size));
}

}  // namespace switchyard
