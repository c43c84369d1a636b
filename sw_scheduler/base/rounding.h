// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

namespace switchyard {

/// a / b, rounded up, of unsigned integers. Here since everything that may not include the scheduler sees formats/.
template <class A, class B>
constexpr auto ceil_div(A a, B b) {
    static_assert(std::is_unsigned_v<A> && std::is_unsigned_v<B>);
    using Result = std::common_type_t<A, B, std::uint32_t>;
    // a + b - 1 might not fit.
    return static_cast<Result>(Result{a} / b + (Result{a} % b != 0 ? 1 : 0));
}

/// The next multiple of `unit` from `a` on.
template <class A, class B>
constexpr auto round_up(A a, B unit) {
    return ceil_div(a, unit) * unit;
}

/// A size that is known to fit the 16 bits that images have for it.
constexpr std::uint16_t narrow(std::uint32_t value) {
    return static_cast<std::uint16_t>(value);
}

}  // namespace switchyard
