// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "switchyard/platform/apps/command_line.h"
#include "switchyard/platform/chip/platform_config.h"
#include "switchyard/testbenches/sim_test.h"

using namespace switchyard;
using namespace switchyard::platform;

namespace {

const char* const kMini = "configs/platforms/mini.yaml";

std::string read_text(const std::string& path) {
    std::ifstream file(path);
    REQUIRE(file);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// A platform file of the given text, removed at the end.
class TemporaryFile {
public:
    explicit TemporaryFile(const std::string& text)
        : path_("/tmp/switchyard_platform_" + std::to_string(getpid()) + ".yaml") {
        std::ofstream(path_) << text;
    }
    ~TemporaryFile() { std::remove(path_.c_str()); }
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

/// What reading `text` complains about, the file's name replaced by "FILE".
std::string error_of(const std::string& text, const std::map<std::string, std::string>& overrides = {}) {
    const TemporaryFile file(text);
    try {
        read_platform(file.path(), overrides);
    } catch (const InputError& error) {
        std::string message = error.what();
        const std::size_t at = message.find(file.path());
        if (at != std::string::npos) message.replace(at, file.path().size(), "FILE");
        return message;
    }
    return "no error";
}

/// mini.yaml with `from` replaced.
std::string mini_with(const std::string& from, const std::string& to) {
    std::string text = read_text(kMini);
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

int line_of_text(const std::string& text, const std::string& wanted) {
    const std::size_t at = text.find(wanted);
    REQUIRE(at != std::string::npos);
    return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

std::string at_line(const std::string& text, const std::string& wanted) {
    return "FILE:" + std::to_string(line_of_text(text, wanted)) + ": ";
}

}  // namespace

TEST_CASE("adyna.yaml is the chip of Adyna's Table III", "[platform]") {
    const PlatformConfig adyna = read_platform("configs/platforms/adyna.yaml");
    CHECK(adyna.chip.name == "adyna");
    CHECK(adyna.tiles() == 144);
    CHECK(adyna.pes() == 144 * 1024);
    CHECK(adyna.scratchpad.capacity_bytes == 524288);
    CHECK(adyna.hbm.interfaces() * adyna.hbm.peak_bytes_per_cycle() * adyna.chip.clock_ghz ==
          Approx(1842).epsilon(0.001));
    CHECK(adyna.hbm.interfaces() * adyna.hbm.pseudo_channels_per_interface == 96);
    CHECK(adyna.noc.link_bytes_per_cycle * adyna.chip.clock_ghz == Approx(192));
}

TEST_CASE("mini.yaml is a chip of 2x2 tiles of 8x8 PEs", "[platform]") {
    const PlatformConfig mini = read_platform(kMini);
    CHECK(mini.tiles() == 4);
    CHECK(mini.pes() == 256);
    CHECK(mini.scratchpad.capacity_bytes == 128 * 1024);
    CHECK(mini.hbm.stacks == 1);
    CHECK(mini.hbm.interfaces() == 2);
}

TEST_CASE("the clock and the size of the chip reach every component", "[platform]") {
    const PlatformConfig mini = read_platform(kMini, {{"chip.clock_ghz", "0.5"}, {"chip.columns", "3"}});
    for (const double clock :
         {mini.pe_array.clock_ghz, mini.scratchpad.clock_ghz, mini.dispatcher.clock_ghz, mini.controller.clock_ghz,
          mini.network_interface.clock_ghz, mini.noc.clock_ghz, mini.hbm.clock_ghz, mini.host.clock_ghz})
        CHECK(clock == 0.5);
    CHECK(mini.noc.columns == 3);
    CHECK(mini.noc.rows == 2);
}

TEST_CASE("endpoints are tiles, then memory interfaces at the edges, then the host", "[platform]") {
    const PlatformConfig adyna = read_platform("configs/platforms/adyna.yaml");
    const ChipEndpoints endpoints = adyna.endpoints();
    const std::vector<unsigned>& routers = endpoints.map.routers();
    REQUIRE(routers.size() == 144 + 24 + 1);
    for (unsigned tile = 0; tile < 144; ++tile) CHECK(routers[tile] == tile);
    for (unsigned i = 0; i < 24; ++i) {
        CHECK(routers[144 + i] / 12 == i / 2);  // two a row
        CHECK(routers[144 + i] % 12 == (i % 2 == 0 ? 0 : 11));
    }
    CHECK(routers.back() == 0);
    REQUIRE(endpoints.memory.size() == 24);
    for (unsigned i = 0; i < 24; ++i) CHECK(endpoints.memory[i] == 144 + i);
    CHECK(endpoints.host == 168);
    CHECK(endpoints.map.name_of(143) == "tile_143");
    CHECK(endpoints.map.number_of("hbm_23") == 167);

    const sched::HardwareDescription hardware = make_hardware_description(adyna);
    REQUIRE(hardware.memory.size() == 24);
    for (unsigned tile = 0; tile < 144; ++tile) {
        const unsigned closest = hardware.memory[hardware.closest_memory(tile)].router;
        CHECK(closest / 12 == tile / 12);
        CHECK(hardware.hops(tile, closest) <= 5);
    }
}

TEST_CASE("an override wins over the file", "[platform]") {
    CHECK(read_platform(kMini, {{"noc.link_bytes_per_cycle", "96"}}).noc.link_bytes_per_cycle == 96);
    CHECK(read_platform(kMini, {{"energy.hop_pj_per_bit", "0.6"}}).energy.hop_pj_per_bit == 0.6);
}

TEST_CASE("bad overrides name the key", "[platform]") {
    const std::string mini = read_text(kMini);
    CHECK(error_of(mini, {{"noc.link_bytes_per_cycl", "96"}}) ==
          "--set: noc.link_bytes_per_cycl: expected a known key, found noc.link_bytes_per_cycl; did you mean "
          "noc.link_bytes_per_cycle?");
    CHECK(error_of(mini, {{"link_bytes_per_cycle", "96"}}) ==
          "--set: link_bytes_per_cycle: expected a known key, found link_bytes_per_cycle; did you mean "
          "noc.link_bytes_per_cycle?");
    CHECK(error_of(mini, {{"voltage", "1"}}) == "--set: voltage: expected a known key, found voltage");
    CHECK(error_of(mini, {{"noc.link_bytes_per_cycle", "96 GB/s"}}) ==
          "--set: noc.link_bytes_per_cycle: expected a plain integer in bytes per cycle, found \"96 GB/s\"");
    CHECK(error_of(mini, {{"pe_array.rows", "0"}}) == "--set: pe_array.rows: expected 1 to 1024, found 0");
    CHECK_THROWS_WITH(parse_overrides({"noc.link_bytes_per_cycle"}),
                      "--set: noc.link_bytes_per_cycle: expected section.key=value, found nothing of this form");
    CHECK_THROWS_WITH(parse_overrides({"=4"}), "--set: =4: expected section.key=value, found nothing of this form");
    CHECK(parse_overrides({"hbm.device="}) == std::map<std::string, std::string>{{"hbm.device", ""}});
    CHECK_THROWS_WITH(parse_overrides({"a.b=1", "a.b=2"}), "--set: a.b: expected the key once, found it twice");
    CHECK(parse_overrides({"a.b=1=2"}).at("a.b") == "1=2");
}

TEST_CASE("an unknown key is named with its line", "[platform]") {
    const std::string text = mini_with("  stacks: 1", "  stacks: 1\n  stacs: 2");
    CHECK_THAT(error_of(text), Catch::Matchers::StartsWith(at_line(text, "stacs") + "hbm.stacs: expected one of "));
}

TEST_CASE("a value with a unit is refused, and so is a key with another unit", "[platform]") {
    const std::string value = mini_with("clock_ghz: 1.0", "clock_ghz: 1000 MHz");
    CHECK(error_of(value) ==
          at_line(value, "1000 MHz") + "chip.clock_ghz: expected a plain number in GHz, found \"1000 MHz\"");
    const std::string key = mini_with("clock_ghz: 1.0", "clock_mhz: 1000");
    CHECK_THAT(error_of(key), Catch::Matchers::StartsWith(at_line(key, "clock_mhz") +
                                                          "chip.clock_mhz: expected one of check_protocol, "));
}

TEST_CASE("a value of the wrong type or out of range is refused", "[platform]") {
    const std::string type = mini_with("columns: 2", "columns: two");
    CHECK(error_of(type) == at_line(type, "columns: two") + "chip.columns: expected a plain integer, found \"two\"");
    const std::string range = mini_with("rows: 8", "rows: 2000");
    CHECK(error_of(range) == at_line(range, "2000") + "pe_array.rows: expected 1 to 1024, found 2000");
    const std::string choice = mini_with("topology: torus", "topology: ring");
    CHECK_THAT(error_of(choice),
               Catch::Matchers::StartsWith(at_line(choice, "ring") + "noc.topology: expected one of "));
}

TEST_CASE("single tiles have other implementations", "[platform]") {
    const std::string mini =
        mini_with("impl: analytic\n  rows", "impl: cycle\n  impl_of_tiles: 0=rtl  3=lockstep\n  rows");
    const TemporaryFile file(mini);
    const PlatformConfig platform = read_platform(file.path());
    std::vector<std::string> impls;
    for (unsigned tile = 0; tile < platform.tiles(); ++tile)
        impls.push_back(platform.pe_array_overrides.impl_of(tile, platform.pe_array.impl));
    CHECK(impls == std::vector<std::string>{"rtl", "cycle", "cycle", "lockstep"});
    CHECK(platform.dispatcher_overrides.impl_of(0, "walk") == "walk");

    CHECK(error_of(mini, {{"pe_array.impl_of_tiles", "0:rtl"}}) ==
          at_line(mini, "impl: cycle") + "pe_array: impl_of_tiles: expected tile=implementation, found \"0:rtl\"");
    CHECK(error_of(mini, {{"pe_array.impl_of_tiles", "1=rtl 4=rtl"}}) ==
          at_line(mini, "impl: cycle") + "pe_array: impl_of_tiles: there is no tile 4 of 4");
    CHECK(error_of(mini, {{"network_interface.impl_of_tiles", "1=packets 2=lockstep"}}) == "no error");
    CHECK_THAT(error_of(mini, {{"network_interface.impl_of_tiles", "1=flit"}}),
               Catch::Matchers::EndsWith(
                   "network_interface: impl_of_tiles: no implementation \"flit\"; there is packets, rtl, lockstep"));
    CHECK_THAT(error_of(mini, {{"dispatcher.impl_of_tiles", "1=cycle"}}),
               Catch::Matchers::EndsWith(
                   "dispatcher: impl_of_tiles: no implementation \"cycle\"; there is analytic, walk, rtl, lockstep"));
}

TEST_CASE("sections are checked", "[platform]") {
    CHECK(error_of(mini_with("energy: {}", "")) == "FILE:3: energy: expected a section, found none");
    const std::string unknown = mini_with("energy: {}", "energy: {}\nl2_cache: {}");
    CHECK_THAT(error_of(unknown),
               Catch::Matchers::StartsWith(at_line(unknown, "l2_cache") + "l2_cache: expected one of chip, "));
    const std::string twice = mini_with("energy: {}", "energy: {}\nhost: {}");
    CHECK(error_of(twice) == "FILE:" + std::to_string(line_of_text(twice, "energy: {}") + 1) +
                                 ": host: expected the key once, found it twice");
    CHECK(error_of("- 1\n") == "FILE:1: expected a mapping of sections, found a list");
    CHECK_THAT(error_of("chip: {\n"), Catch::Matchers::StartsWith("FILE:2: expected YAML, found "));
    CHECK_THROWS_WITH(read_platform("/nowhere.yaml"), "/nowhere.yaml: cannot be read: No such file or directory");
}

TEST_CASE("sizes that contradict each other are refused", "[platform]") {
    const std::string text = mini_with("capacity_bytes: 131072", "capacity_bytes: 1024");
    CHECK_THAT(error_of(text), Catch::Matchers::ContainsSubstring(
                                   "kernel_share: expected room for at least 1 kernel in the scratchpad"));
}

TEST_CASE("an image is bound to the sizes that it was compiled for, not to how quick they are", "[platform]") {
    const auto fingerprint = [](const std::map<std::string, std::string>& overrides) {
        return make_hardware_description(read_platform(kMini, overrides)).fingerprint();
    };
    const std::uint64_t mini = fingerprint({});
    CHECK(fingerprint({}) == mini);
    CHECK(fingerprint({{"chip.name", "other"}}) == mini);
    CHECK(fingerprint({{"noc.link_bytes_per_cycle", "96"}}) == mini);
    CHECK(fingerprint({{"hbm.read_latency_ns", "50"}}) == mini);
    CHECK(fingerprint({{"chip.columns", "3"}}) != mini);
    CHECK(fingerprint({{"pe_array.rows", "16"}}) != mini);
    CHECK(fingerprint({{"scratchpad.capacity_bytes", "262144"}}) != mini);
    CHECK(fingerprint({{"hbm.interfaces_per_stack", "4"}}) != mini);
    CHECK(fingerprint({{"hbm.region_bytes", "2147483648"}}) != mini);
}

TEST_CASE("docs/platform_keys.md is what the components describe", "[platform][docs]") {
    CHECK(read_text("docs/platform_keys.md") == platform_keys_markdown());
}

SIM_TEST("docs/registers.md is what the host interface defines", "[platform][docs]") {
    CHECK(read_text("docs/registers.md") == register_map_markdown());
}

TEST_CASE("banks and a log of requests need every memory interface", "[platform]") {
    CHECK(read_platform("configs/platforms/adyna.yaml").chip.impl == "auto");
    CHECK(read_platform("configs/platforms/adyna.yaml", {{"chip.kernel_fitting", "no"}}).chip.impl == "stages");
    CHECK(read_platform("configs/platforms/adyna.yaml", {{"hbm.impl", "bank"}}).chip.impl == "tiles");
    CHECK(read_platform("configs/platforms/adyna.yaml", {{"hbm.request_log", "log"}}).chip.impl == "tiles");
    const std::string text = read_text(kMini);
    CHECK(error_of(text, {{"chip.impl", "stages"}, {"hbm.impl", "bank"}}) ==
          at_line(text, "impl: bandwidth") + "hbm: impl: expected chip.impl: tiles for bank, found stages");
    CHECK(error_of(text, {{"hbm.impl", "bank"}, {"hbm.mapping", "row-column"}}) ==
          at_line(text, "impl: bandwidth") +
              "hbm: device: hbm2_2400: controller.mapping: field channel: expected 1 bits, found none");
}

TEST_CASE("the network interface's port of the scratchpad is at least as wide as a link", "[platform]") {
    CHECK(read_platform(kMini, {{"noc.link_bytes_per_cycle", "256"}}).scratchpad.network_bytes_per_cycle == 256);
    CHECK(read_platform(kMini, {{"scratchpad.network_bytes_per_cycle", "512"}}).scratchpad.network_bytes_per_cycle ==
          512);
    CHECK_THAT(error_of(read_text(kMini), {{"scratchpad.network_bytes_per_cycle", "16"}}),
               Catch::Matchers::ContainsSubstring(
                   "scratchpad: network_bytes_per_cycle: expected noc.link_bytes_per_cycle, 192, or more, found 16"));
}

TEST_CASE("keys that were renamed are refused with their present names", "[platform]") {
    CHECK(error_of(read_text(kMini), {{"chip.values", "on"}}) ==
          "--set: chip.values: expected the key chip.functional, found its earlier name");
}

TEST_CASE("a platform of flits has room for data in the pieces of a multicast", "[platform]") {
    for (const unsigned buffers : {2u, 4u, 9u, 32u})
        for (const unsigned link : {4u, 8u, 64u})
            for (const unsigned header : {4u, 16u, 64u, 300u}) {
                CAPTURE(buffers, link, header);
                std::map<std::string, std::string> settings{{"chip.impl", "tiles"},
                                                            {"noc.impl", "flit"},
                                                            {"noc.buffer_flits", std::to_string(buffers)},
                                                            {"noc.link_bytes_per_cycle", std::to_string(link)},
                                                            {"noc.header_bytes", std::to_string(header)}};
                if (buffers / 2 * link > header) {
                    CHECK_NOTHROW(read_platform(kMini, settings));
                    continue;
                }
                CHECK(error_of(read_text(kMini), settings)
                          .find("noc: header_bytes: expected room for data in a piece of a multicast") !=
                      std::string::npos);
            }
}
