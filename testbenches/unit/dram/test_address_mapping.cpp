// SPDX-License-Identifier: Apache-2.0
#include <random>
#include <set>
#include <tuple>

#include "switchyard/hw/memory/dram/address_mapping.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::hw::dram;

namespace {

Geometry small_geometry() {
    Geometry g;
    g.channels = 2;
    g.pseudo_channels = 2;
    g.bank_groups = 4;
    g.banks_per_group = 2;
    g.rows = 8;
    g.bursts_per_row = 16;
    g.burst_bytes = 32;
    return g;
}

std::tuple<unsigned, unsigned, unsigned, unsigned, unsigned, unsigned> key(const Location& l) {
    return {l.channel, l.pseudo_channel, l.bank_group, l.bank, l.row, l.column};
}

}  // namespace

TEST_CASE("fields are cut from the highest bits down", "[dram]") {
    const AddressMapping mapping("row-bank-bankgroup-pseudochannel-column-channel", small_geometry());
    // Below the fields: 5 bits of a burst. channel 1, column 4, pseudochannel 1, bankgroup 2, bank 1, row 3 bits.
    const std::uint64_t address = (((((5ull << 1 | 1) << 2 | 2) << 1 | 0) << 4 | 9) << 1 | 1) << 5 | 17;
    CHECK(key(mapping.locate(address)) == key({1, 0, 2, 1, 5, 9}));
    CHECK(mapping.address_of(mapping.locate(address)) == address - 17);
    CHECK(key(mapping.locate(0)) == key({0, 0, 0, 0, 0, 0}));
}

TEST_CASE("a field may come in pieces", "[dram]") {
    const AddressMapping mapping("row-bank-column:3-channel-pseudochannel-bankgroup-column:1", small_geometry());
    CHECK(mapping.locate(32).column == 1);
    CHECK(mapping.locate(64).bank_group == 1);
    CHECK(mapping.locate(256).pseudo_channel == 1);
    CHECK(mapping.locate(512).channel == 1);
    CHECK(mapping.locate(1024).column == 2);
    CHECK(mapping.locate(8192).bank == 1);
}

TEST_CASE("a walk finds bursts where each one is on its own, and those of a channel share the channel's bits",
          "[dram]") {
    for (const std::string& name : builtin_devices()) {
        CAPTURE(name);
        const Device device = read_device(name);
        const AddressMapping mapping(device.policy.mapping, device.geometry);
        std::mt19937 random(7);
        for (int i = 0; i < 20; ++i) {
            const std::uint64_t first = random() % (device.geometry.bytes() / device.geometry.burst_bytes);
            const unsigned channel = mapping.locate(first * device.geometry.burst_bytes).channel;
            AddressMapping::Walk walk(mapping);
            for (std::uint64_t burst = first; burst < first + 300; burst += 1 + random() % 3) {
                const Place place = walk.at(burst);
                const Location location = mapping.locate(burst * device.geometry.burst_bytes);
                CHECK(place.pseudo_channel() == location.pseudo_channel);
                CHECK(place.bank() == location.bank_group * device.geometry.banks_per_group + location.bank);
                CHECK(place.row() == location.row);
                CHECK(place.column() == location.column);
                CHECK((location.channel == channel) == (((burst ^ first) & mapping.channel_bits()) == 0));
            }
        }
    }
}

TEST_CASE("every burst has a place of its own, and its address comes back", "[dram]") {
    for (const char* text :
         {"row-bank-bankgroup-pseudochannel-column-channel", "channel-row-column-bank-bankgroup-pseudochannel",
          "column:2-row:1-bank-channel-row:2-column:2-bankgroup-pseudochannel"}) {
        CAPTURE(text);
        const Geometry g = small_geometry();
        const AddressMapping mapping(text, g);
        std::set<std::tuple<unsigned, unsigned, unsigned, unsigned, unsigned, unsigned>> seen;
        for (std::uint64_t address = 0; address < g.bytes(); address += g.burst_bytes) {
            const Location l = mapping.locate(address);
            seen.insert(key(l));
            REQUIRE(mapping.address_of(l) == address);
        }
        CHECK(seen.size() == g.bytes() / g.burst_bytes);
    }
}

TEST_CASE("what is wrong with a mapping names the field and its bits", "[dram]") {
    const Geometry g = small_geometry();
    const auto wrong = [&g](const char* text) { return AddressMapping::validation_error(text, g); };
    CHECK(wrong("row-bank-bankgroup-pseudochannel-column-channel").empty());
    CHECK(wrong("row-bank-bankgroup-column-channel") == "field pseudochannel: expected 1 bits, found none");
    CHECK(wrong("row-bank-bankgroup-pseudochannel-column:3-channel") == "field column: expected 4 bits, found 3");
    CHECK(wrong("row-bank-bankgroup-pseudochannel-column:3-channel-column:2") ==
          "field column: expected 4 bits, found 5");
    CHECK(wrong("row-row-bank-bankgroup-pseudochannel-column-channel") ==
          "field row: expected one piece without a number of bits, found 2");
    CHECK_THAT(wrong("rank-row"),
               Catch::Matchers::StartsWith(
                   "expected a field of channel, pseudochannel, bankgroup, bank, row, column, found \"rank\""));
    CHECK_THAT(wrong("row-column:x"),
               Catch::Matchers::StartsWith("expected 1 to 32 bits behind the colon, found \"column:x\""));
    CHECK_THAT(wrong(""), Catch::Matchers::StartsWith(
                              "expected a field of channel, pseudochannel, bankgroup, bank, row, column, found \"\""));
    CHECK_THROWS_AS(AddressMapping("row", g), InputError);
}

TEST_CASE("fields without bits may be left out or named", "[dram]") {
    Geometry g = small_geometry();
    g.channels = g.pseudo_channels = 1;
    CHECK(AddressMapping::validation_error("row-bank-bankgroup-column", g).empty());
    CHECK(AddressMapping::validation_error("row-bank-bankgroup-pseudochannel-column-channel", g).empty());
}
