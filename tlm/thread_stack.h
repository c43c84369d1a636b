// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>

#include <alloca.h>

namespace switchyard {

/// Runs the body of a thread process on a stack that begins a little below the one before it.
///
/// SystemC maps the stacks of its threads at equal distances, a multiple of the distance at which addresses share a set
/// of the processor's caches. Hundreds of threads that begin at the same place of their stacks evict each other's from
/// these few sets.
template <class Body>
void run_on_shifted_stack(Body&& body) {
    constexpr std::size_t kStep = 17 * 64, kLargest = 32 * 1024;  // bytes: an odd number of cache lines
    static std::size_t next = 0;
    const std::size_t shift = next;
    next = (next + kStep) % kLargest;
    volatile char* const space = static_cast<char*>(alloca(shift + 1));
    *space = 0;
    std::forward<Body>(body)();
}

}  // namespace switchyard
