// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace switchyard {

/// Where the data pointer of a payload points when only its size moves (PacketExtension::has_values is false): at
/// least `bytes` bytes, shared by everybody, whose contents nobody may rely on. Costs no memory until touched,
/// and address space only as far as was ever asked for.
/// Throws std::length_error beyond 4 GiB, the longest data array that a payload can have.
unsigned char* dummy_buffer(std::size_t bytes);

}  // namespace switchyard
