// SPDX-License-Identifier: Apache-2.0
// The guard is a macro because this header is precompiled. With `#pragma once`, g++ recognises a precompiled header by
// its bytes alone, and ccache may return one that was compiled before a comment here changed.
#ifndef SWITCHYARD_TESTBENCHES_CATCH_H
#define SWITCHYARD_TESTBENCHES_CATCH_H

/// Catch2 as Debian 12 (version 2) and newer systems (version 3) have it. Tests are written as for version 3, with
/// `Approx` in the global namespace. An assertion leaves exceptions to the test case around it, which fails with them
/// as well: version 2's own handlers are a quarter of the time that a test takes to compile.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>

using Catch::Approx;
#else
#define CATCH_CONFIG_FAST_COMPILE
#include <catch2/catch.hpp>

#include <string>

namespace Catch::Matchers {
// NOLINTNEXTLINE(readability-identifier-naming): as Catch2 3 calls it.
inline auto ContainsSubstring(const std::string& text, CaseSensitive::Choice sensitivity = CaseSensitive::Yes) {
    return Contains(text, sensitivity);
}
}  // namespace Catch::Matchers
#endif

#endif  // SWITCHYARD_TESTBENCHES_CATCH_H
