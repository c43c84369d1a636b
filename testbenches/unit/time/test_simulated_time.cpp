// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "switchyard/accelerator.h"
#include "switchyard/hw/link/link_network.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/whole_time.h"
#include "switchyard/testbenches/sim_test.h"
#include "switchyard/tlm/clock_period.h"
#include "switchyard/tlm/simulation_registry.h"

using namespace switchyard;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("a computed time is a whole one or is refused, and a longer one is never shorter", "[time]") {
    for (const WholeTime rounding : {WholeTime::nearest, WholeTime::up}) {
        std::uint64_t before = 0;
        unsigned refused = 0;
        for (int exponent = -300; exponent <= 300; ++exponent)
            for (const double digit : {1.0, 2.5, 5.0}) {
                const double time = digit * std::pow(10.0, exponent);
                CAPTURE(time);
                if (time > kLongestTime) {
                    ++refused;
                    CHECK_THROWS_AS(whole_time(time, "ps", "t", rounding), InputError);
                    continue;
                }
                const std::uint64_t whole = whole_time(time, "ps", "t", rounding);
                CHECK(whole >= before);
                CHECK(std::abs(static_cast<double>(whole) - time) <= (rounding == WholeTime::up ? 1 : 0.5));
                before = whole;
            }
        CHECK(refused > 800);
    }
    for (const double none : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()})
        CHECK_THROWS_WITH(whole_time(none, "ticks", "latency_ns"),
                          ContainsSubstring("latency_ns: expected a time of 0 to 2.306e+18 ticks, found "));
}

TEST_CASE("times do not wrap when they are added", "[time]") {
    constexpr std::uint64_t kLongest = std::uint64_t{1} << 61;
    CHECK(later_time(kLongest - 5, 5, "ps", "t") == kLongest);
    CHECK_THROWS_AS(later_time(kLongest - 5, 6, "ps", "t"), InputError);
    CHECK_THROWS_AS(later_time(5, ~std::uint64_t{0} - 2, "ps", "t"), InputError);
    CHECK_THROWS_AS(later_time(~std::uint64_t{0} - 2, 5, "ps", "t"), InputError);
}

namespace {

class Clocked : public sc_core::sc_module {
public:
    Clocked(const sc_core::sc_module_name& name, double ghz) : sc_module(name), clock(ghz) {}
    ClockPeriod clock;
};

struct Resolution {
    double value;
    sc_core::sc_time_unit unit;
    double max_ghz;  ///< of a clock with kMinTicksOfPeriod units a period
};

void set(const Resolution& resolution) {
    // SystemC's default time unit is 1 ns.
    std::optional<switchyard::testing::ExpectReport> warning;
    if (resolution.unit == sc_core::SC_NS && resolution.value > 1)
        warning.emplace("default time unit changed to time resolution");
    sc_core::sc_set_time_resolution(resolution.value, resolution.unit);
}

}  // namespace

// Verilator stops in the same case. A period of 0 was a division by zero, one of 7 units made all times 1.3 % too long.
TEST_CASE("a clock's period is exact to 0.5 % at any time resolution, or an error that names the clock", "[time]") {
    const Resolution resolution = GENERATE(Resolution{1, sc_core::SC_FS, 10000}, Resolution{1, sc_core::SC_PS, 10},
                                           Resolution{10, sc_core::SC_PS, 1}, Resolution{100, sc_core::SC_PS, 0.1},
                                           Resolution{1, sc_core::SC_NS, 0.01}, Resolution{10, sc_core::SC_NS, 0.001});
    for (const double ghz : {0.001, 0.01, 0.05, 0.1, 0.3, 0.7, 1.0, 1.41, 2.52, 9.0, 10.0, 11.0})
        switchyard::testing::in_child([&] {
            set(resolution);
            INFO(fmt::format("{} at {} GHz", sc_core::sc_get_time_resolution().to_string(), ghz));
            if (ghz <= resolution.max_ghz) {
                const Clocked module("accelerator", ghz);
                const double ns = module.clock.cycles(1000000).to_seconds() * 1e9;
                CHECK(ns == Approx(1e6 / ghz).epsilon(0.005));
                CHECK(module.clock.count(module.clock.cycles(12345)) == 12345);
                CHECK_THROWS_AS(module.clock.cycles(std::uint64_t{1} << 62), InputError);
                return;
            }
            try {
                const Clocked module("accelerator", ghz);
                FAIL("it has a period of " << module.clock.cycles(1).to_string());
            } catch (const ModelError& error) {
                CHECK_THAT(error.what(), ContainsSubstring("accelerator: clock_ghz: expected a clock of at most "));
                CHECK_THAT(error.what(), ContainsSubstring(sc_core::sc_get_time_resolution().to_string()));
                CHECK_THAT(error.what(), ContainsSubstring("call sc_core::sc_set_time_resolution(1, sc_core::SC_PS)"));
            }
        });
}

TEST_CASE("an accelerator whose clock the time resolution cannot hold is refused by name", "[time]") {
    const Resolution resolution = GENERATE(Resolution{1, sc_core::SC_FS, 10}, Resolution{1, sc_core::SC_PS, 10},
                                           Resolution{100, sc_core::SC_PS, 0}, Resolution{1, sc_core::SC_NS, 0},
                                           Resolution{10, sc_core::SC_NS, 0});
    for (const char* ghz : {"1", "1.41", "0.7"})
        switchyard::testing::in_child([&] {
            set(resolution);
            INFO(fmt::format("{} at {} GHz", sc_core::sc_get_time_resolution().to_string(), ghz));
            const PlatformConfig platform =
                PlatformConfig::from_yaml_file("configs/platforms/mini.yaml", {{"chip.clock_ghz", ghz}});
            if (resolution.max_ghz > 0) {
                const Accelerator accelerator("accelerator", platform);
                return;
            }
            CHECK_THROWS_WITH(Accelerator("accelerator", platform),
                              Catch::Matchers::Matches("0 s: accelerator\\..*: clock_ghz: expected .*") &&
                                  ContainsSubstring("sc_set_time_resolution"));
        });
}

TEST_CASE("links that count picoseconds require them", "[time]") {
    for (const bool coarse : {true, false})
        switchyard::testing::in_child([coarse] {
            sc_core::sc_set_time_resolution(10, coarse ? sc_core::SC_PS : sc_core::SC_FS);
            const auto topology =
                std::make_shared<sched::LinkTopology>(sched::make_link_topology("ring", 3, sched::LinkKind()));
            SimulationRegistry registry;
            if (coarse)
                CHECK_THROWS_WITH(hw::LinkNetwork("links", {}, registry, topology),
                                  ContainsSubstring("links: expected a time resolution of 1 ps or finer, found 10 ps"));
            else
                CHECK_NOTHROW(hw::LinkNetwork("links", {}, registry, topology));
        });
}
