// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/tlm/address_map.h"

using Catch::Matchers::ContainsSubstring;
using switchyard::AddressMap;
using switchyard::InputError;

namespace {

AddressMap two_ranges() {
    AddressMap map;
    map.add({"sram", 0x1000, 0x1000, 3});
    map.add({"rom", 0x4000, 0x100, 5});
    return map;
}

}  // namespace

TEST_CASE("an address is found in its range", "[tlm][address_map]") {
    const AddressMap map = two_ranges();
    CHECK(map.find(0x0FFF) == nullptr);
    REQUIRE(map.find(0x1000) != nullptr);
    CHECK(map.find(0x1000)->target == 3);
    CHECK(map.find(0x1FFF)->name == "sram");
    CHECK(map.find(0x2000) == nullptr);
    CHECK(map.find(0x4000)->target == 5);
    CHECK(map.find(0x4100) == nullptr);
}

TEST_CASE("an access must fit into one range", "[tlm][address_map]") {
    AddressMap map = two_ranges();
    CHECK(map.find(0x1FFC, 4) != nullptr);
    CHECK(map.find(0x1FFC, 5) == nullptr);
    map.add({"next", 0x2000, 0x1000, 4});
    CHECK(map.find(0x1FFC, 8) == nullptr);
    CHECK(map.find(0x1000, std::numeric_limits<std::uint64_t>::max()) == nullptr);
}

TEST_CASE("overlapping ranges are refused by name", "[tlm][address_map]") {
    const AddressMap::Range bad = GENERATE(values<AddressMap::Range>({{"new", 0x0800, 0x801, 0},
                                                                      {"new", 0x1FFF, 0x10, 0},
                                                                      {"new", 0x1400, 0x10, 0},
                                                                      {"new", 0x1000, 0x1000, 0},
                                                                      {"new", 0, 0x3000, 0}}));
    AddressMap map = two_ranges();
    CHECK_THROWS_WITH(map.add(bad), ContainsSubstring("'sram' [0x1000, 0x1fff]") && ContainsSubstring("'new'") &&
                                        ContainsSubstring("overlap"));
    CHECK(map.ranges().size() == 2);
}

TEST_CASE("ranges may touch", "[tlm][address_map]") {
    AddressMap map = two_ranges();
    map.add({"before", 0x0, 0x1000, 0});
    map.add({"behind", 0x2000, 0x2000, 0});
    CHECK(map.ranges().size() == 4);
    CHECK(map.ranges().front().name == "before");
}

TEST_CASE("empty ranges and ranges beyond the address space are refused", "[tlm][address_map]") {
    AddressMap map;
    CHECK_THROWS_AS(map.add({"empty", 0x10, 0, 0}), InputError);
    const std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
    CHECK_THROWS_AS(map.add({"wrap", last, 2, 0}), InputError);
    CHECK_NOTHROW(map.add({"top", last, 1, 9}));
    CHECK(map.find(last)->target == 9);
}

TEST_CASE("a hole is described by its neighbours", "[tlm][address_map]") {
    const AddressMap map = two_ranges();
    CHECK(map.describe(0x1010) == "0x1010 is in 'sram' [0x1000, 0x1fff]");
    CHECK(map.describe(0x3000) == "0x3000 is in a hole after 'sram' [0x1000, 0x1fff] before 'rom' [0x4000, 0x40ff]");
    CHECK(map.describe(0x0) == "0x0 is in a hole before 'sram' [0x1000, 0x1fff]");
    CHECK(AddressMap().describe(0x5) == "0x5 is in a hole");
}
