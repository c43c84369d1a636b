// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace switchyard {

/// CRC-32/ISO-HDLC of `size` bytes, as zlib and Ethernet have it. `before`: that of the bytes in front of them.
std::uint32_t crc32_of(const void* bytes, std::size_t size, std::uint32_t before = 0);

}  // namespace switchyard
