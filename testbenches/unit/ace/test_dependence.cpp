// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "switchyard/sw_scheduler/ace/dependence.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard::sched;
using namespace switchyard::sched::ace;

namespace {

constexpr std::uint64_t kRing = 24;

/// Addresses 0 .. 23 of a small ring stand for the last 12 and the first 12 of the address space.
std::uint64_t address(std::uint64_t place) {
    return (place + kAddressSpace - kRing / 2) % kAddressSpace;
}

bool share_a_byte(std::uint64_t a, std::uint64_t a_size, std::uint64_t b, std::uint64_t b_size) {
    for (std::uint64_t i = 0; i < a_size; ++i)
        for (std::uint64_t j = 0; j < b_size; ++j)
            if (a + i == b + j) return true;
    return false;
}

}  // namespace

TEST_CASE("segments overlap if they have a byte in common, across the end of the address space too", "[ace]") {
    for (std::uint64_t a = 0; a < kRing; ++a)
        for (std::uint64_t b = 0; b < kRing; ++b)
            for (std::uint64_t a_size = 0; a + a_size <= kRing; ++a_size)
                for (std::uint64_t b_size = 0; b + b_size <= kRing; ++b_size)
                    REQUIRE(overlap({address(a), a_size}, {address(b), b_size}) == share_a_byte(a, a_size, b, b_size));
    CHECK(overlap({5, kAddressSpace}, {3, 1}));
    CHECK_FALSE(overlap({5, kAddressSpace}, {3, 0}));
    CHECK_FALSE(overlap({4096, 4096}, {8192, 4096}));  // they touch
    CHECK(overlap({4096, 4097}, {8192, 4096}));        // one byte
    CHECK(overlap({kAddressSpace - 1, 2}, {0, 1}));
}

TEST_CASE("three hazards are dependences, two reads are none", "[ace]") {
    const MemorySegment here{100, 10}, there{200, 10};
    const Footprint reads_here{{here}, {}}, writes_here{{}, {here}}, reads_there{{there}, {}}, nothing;
    const auto all = DependenceRule::all_hazards, printed = DependenceRule::as_printed;
    CHECK(depends_on(reads_here, writes_here, all));   // read after write
    CHECK(depends_on(writes_here, reads_here, all));   // write after read
    CHECK(depends_on(writes_here, writes_here, all));  // write after write
    CHECK_FALSE(depends_on(reads_here, reads_here, all));
    CHECK_FALSE(depends_on(reads_there, writes_here, all));
    CHECK_FALSE(depends_on(nothing, writes_here, all));

    // Algorithm 1 as printed compares the new kernel's writes only.
    CHECK_FALSE(depends_on(reads_here, writes_here, printed));
    CHECK(depends_on(writes_here, reads_here, printed));
    CHECK(depends_on(writes_here, writes_here, printed));
}
