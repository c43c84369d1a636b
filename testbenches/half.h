// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace switchyard::testing {

/// The compiler's own binary16 (libgcc's conversions): an opinion that is not the library's.
#if defined(__FLT16_MAX__)
__extension__ using Half = _Float16;
#else
using Half = std::uint16_t;  // clang 14 has none here; it looks at the tests and does not run them
#endif

}  // namespace switchyard::testing
