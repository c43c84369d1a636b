// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace switchyard {

/// CRC-16/CCITT-FALSE of `size` bytes, which a kernel ends with (docs/image_format.md): polynomial 0x1021, initial
/// value 0xFFFF, most significant bit first.
std::uint16_t crc16_of(const std::uint8_t* bytes, std::size_t size);

}  // namespace switchyard
