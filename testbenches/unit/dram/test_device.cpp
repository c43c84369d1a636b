// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "switchyard/hw/memory/dram/device.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::hw::dram;

namespace {

/// What reading a device with these overrides complains about.
std::string error_of(const std::string& name, const std::map<std::string, std::string>& overrides = {}) {
    try {
        read_device(name, overrides);
    } catch (const InputError& error) {
        return error.what();
    }
    return "no error";
}

class TemporaryDevice {
public:
    explicit TemporaryDevice(const std::string& text)
        : path_("/tmp/switchyard_device_" + std::to_string(getpid()) + ".yaml") {
        std::ofstream(path_) << text;
    }
    ~TemporaryDevice() { std::remove(path_.c_str()); }
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

}  // namespace

TEST_CASE("every device file is sound, and the file is what the library holds", "[dram]") {
    REQUIRE(builtin_devices().size() >= 6);
    for (const std::string& name : builtin_devices()) {
        CAPTURE(name);
        const Device built_in = read_device(name), file = read_device("configs/devices/" + name + ".yaml");
        CHECK(built_in.name == name);
        CHECK(file.policy.mapping == built_in.policy.mapping);
        CHECK(file.timing.tfaw_cycles == built_in.timing.tfaw_cycles);
    }
}

TEST_CASE("short names and pin bandwidths", "[dram]") {
    CHECK(read_device("hbm2").name == "hbm2_2000");
    CHECK(read_device("ddr4").name == "ddr4_2400");
    CHECK(read_device("lpddr4").name == "lpddr4_3200");
    CHECK(read_device("hbm2").peak_gb_per_s() == Approx(256));
    CHECK(read_device("hbm2_2400").peak_gb_per_s() == Approx(1024 * 2.4 / 8));
    CHECK(read_device("ddr4").peak_gb_per_s() == Approx(19.2));
    CHECK(read_device("lpddr4").peak_gb_per_s() == Approx(6.4));
    CHECK(read_device("lpddr4").geometry.bytes() == 1ull << 30);
    CHECK(read_device("hbm2").refresh_share() == Approx(260.0 / 3900));
}

TEST_CASE("bounds of single-burst reads follow from the timing", "[dram]") {
    const ActivationBounds bounds = activation_bounds(read_device("hbm2"));
    CHECK(bounds.tfaw == Approx(8 * 4 * 64 / 30.0));
    CHECK(bounds.trrd == Approx(8 * 64 / 4.0));
    CHECK(bounds.trc == Approx(8 * 16 * 64 / 48.0));
    CHECK(bounds.command_bus == Approx(8 * 64 / 2.0));  // activate and precharge; with one bus the access too
    CHECK(activation_bounds(read_device("hbm2", {{"timing.shared_command_bus", "yes"}})).command_bus ==
          Approx(8 * 64 / 3.0));
    CHECK(bounds.min() == bounds.tfaw);
}

TEST_CASE("what is wrong with a device is said with its place", "[dram]") {
    CHECK_THAT(error_of("hbm3"),
               Catch::Matchers::StartsWith("hbm3: expected a file or one of ddr4_2400, gddr6_14, hbm2_1800_port"));
    CHECK_THAT(error_of("./none.yaml"), Catch::Matchers::StartsWith("./none.yaml: cannot be read"));
    CHECK(error_of("hbm2", {{"timing.tfoo", "1"}}) == "--set: timing.tfoo: expected a known key, found timing.tfoo");
    CHECK(error_of("hbm2", {{"geometry.rows", "100"}}) ==
          "configs/devices/hbm2_2000.yaml: geometry.rows: expected a power of two, found 100");
    CHECK(
        error_of("hbm2", {{"timing.trc_cycles", "20"}}) ==
        "configs/devices/hbm2_2000.yaml: timing.trc_cycles: expected at least 48, tras_cycles + trp_cycles, found 20");
    CHECK(error_of("hbm2", {{"controller.mapping", "row-bank-column-channel"}}) ==
          "configs/devices/hbm2_2000.yaml: controller.mapping: field bankgroup: expected 2 bits, found none");
    CHECK_THAT(
        error_of("hbm2", {{"controller.refresh", "per-bank"}}),
        Catch::Matchers::ContainsSubstring("expected timing.trefi_bank_cycles and trfc_bank_cycles for per-bank"));
    CHECK_THAT(error_of("hbm2", {{"controller.write_low_bursts", "32"}}),
               Catch::Matchers::ContainsSubstring("write_low_bursts: expected less than write_high_bursts"));
    const TemporaryDevice unknown("device: {}\ngeometry: {}\ntiming:\n  tcl_cycles: 14\n  tcx: 3\ncontroller: {}\n");
    CHECK_THAT(error_of(unknown.path()),
               Catch::Matchers::StartsWith(unknown.path() + ":5: timing.tcx: expected one of "));
    const TemporaryDevice missing("device: {}\ngeometry: {}\ntiming: {}\n");
    CHECK_THAT(error_of(missing.path()), Catch::Matchers::EndsWith("controller: expected a section, found none"));
}
