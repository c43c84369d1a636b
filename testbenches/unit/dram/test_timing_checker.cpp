// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <vector>

#include "switchyard/hw/memory/dram/timing_checker.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard::hw::dram;

namespace {

using Kind = CommandKind;

/// The rules that a stream of commands of one channel breaks.
std::set<std::string> broken(const Device& device, const std::vector<Command>& commands) {
    std::set<std::string> rules;
    TimingChecker checker(device, [&rules](const TimingViolation& violation) { rules.insert(violation.rule); });
    for (const Command& command : commands) checker.on_command(0, command);
    return rules;
}

struct Case {
    std::string rule;
    std::vector<Command> commands;  ///< the last command comes too early by one cycle, or is wrong
    bool repairable = true;         ///< one cycle later it would be right
};

// HBM2 2400: tRCD 17/14, tRP 17, tRAS 40, tRC 57, tRRD 5/5, tFAW 19, tCCD 2/4, tWR 19, tWTR 8/10, tRTP 6, CL 17, CWL 6,
// burst 2, tRFC 421, tRFCpb 193, tRREFD 10, turnaround 1; an activate takes 2 cycles of the row bus. Banks 0 to 3 are
// of group 0, 4 to 7 of group 1.
std::vector<Case> cases() {
    const auto c = [](Cycle cycle, Kind kind, unsigned bank = 0, unsigned row = 1) {
        return Command{cycle, kind, 0, static_cast<std::uint8_t>(bank), row, 0};
    };
    return {
        {"order", {c(10, Kind::refresh_all), c(9, Kind::precharge_all)}},
        {"command bus", {c(0, Kind::activate), c(1, Kind::precharge, 4)}},
        {"bank state", {c(0, Kind::activate), c(100, Kind::activate)}, false},
        {"bank state", {c(0, Kind::activate), c(100, Kind::read, 0, 2)}, false},
        {"bank state", {c(100, Kind::read)}, false},
        {"bank state", {c(0, Kind::activate), c(100, Kind::refresh_all)}, false},
        {"bank state", {c(0, Kind::activate), c(100, Kind::refresh_bank)}, false},
        {"tRCD", {c(0, Kind::activate), c(16, Kind::read)}},
        {"tRCD", {c(0, Kind::activate), c(13, Kind::write)}},
        {"tRP", {c(0, Kind::activate), c(60, Kind::precharge), c(76, Kind::activate)}},
        {"tRP", {c(0, Kind::activate), c(60, Kind::precharge_all), c(76, Kind::refresh_all)}},
        {"tRP", {c(0, Kind::activate), c(60, Kind::precharge), c(76, Kind::refresh_bank)}},
        {"tRP", {c(0, Kind::activate), c(60, Kind::read_precharge), c(82, Kind::activate)}},
        {"tRP", {c(0, Kind::activate), c(60, Kind::write_precharge), c(103, Kind::activate)}},
        {"tRAS", {c(0, Kind::activate), c(39, Kind::precharge)}},
        {"tRC", {c(0, Kind::activate), c(40, Kind::precharge), c(56, Kind::activate)}},
        {"tRRD_L", {c(0, Kind::activate), c(4, Kind::activate, 1)}},
        {"tRRD_S", {c(0, Kind::activate), c(4, Kind::activate, 4)}},
        {"tFAW",
         {c(0, Kind::activate), c(5, Kind::activate, 4), c(10, Kind::activate, 8), c(15, Kind::activate, 12),
          c(18, Kind::activate, 1)}},
        {"tCCD_L", {c(0, Kind::activate), c(20, Kind::read), c(23, Kind::read)}},
        {"tCCD_L", {c(0, Kind::activate), c(20, Kind::write), c(23, Kind::write)}},
        {"tCCD_S", {c(0, Kind::activate), c(5, Kind::activate, 4), c(30, Kind::read), c(31, Kind::read, 4)}},
        {"data bus", {c(0, Kind::activate), c(20, Kind::read), c(33, Kind::write)}},
        {"tWR", {c(0, Kind::activate), c(20, Kind::write), c(46, Kind::precharge)}},
        {"tWTR_L", {c(0, Kind::activate), c(20, Kind::write), c(37, Kind::read)}},
        {"tWTR_S", {c(0, Kind::activate), c(5, Kind::activate, 4), c(20, Kind::write), c(35, Kind::read, 4)}},
        {"tRTP", {c(0, Kind::activate), c(60, Kind::read), c(65, Kind::precharge)}},
        {"tRFC", {c(0, Kind::refresh_all), c(420, Kind::activate)}},
        {"tRFC", {c(0, Kind::refresh_all), c(420, Kind::refresh_all)}},
        {"tRFCpb", {c(0, Kind::refresh_bank), c(192, Kind::activate)}},
        {"tRREFD", {c(0, Kind::refresh_bank), c(9, Kind::activate, 4)}},
        {"tRREFD", {c(0, Kind::activate), c(9, Kind::refresh_bank, 4)}},
        {"tREFI", {c(0, Kind::activate), c(4682 * 9, Kind::read)}, false},
    };
}

}  // namespace

TEST_CASE("each rule fires, and is content one cycle later", "[dram][checker]") {
    const Device device = read_device("hbm2_2400");
    std::set<std::string> seen;
    for (const Case& test : cases()) {
        CAPTURE(test.rule, test.commands.back().cycle, name_of(test.commands.back().kind));
        const std::set<std::string> rules = broken(device, test.commands);
        CHECK(rules.count(test.rule) == 1);
        seen.insert(test.rule);
        std::vector<Command> before = test.commands;
        const Command last = before.back();
        before.pop_back();
        CHECK(broken(device, before).count(test.rule) == 0);
        if (!test.repairable) continue;
        before.push_back(last);
        ++before.back().cycle;
        CHECK(broken(device, before).count(test.rule) == 0);
    }
    CHECK(seen == std::set<std::string>(TimingChecker::rules().begin(), TimingChecker::rules().end()));
}

TEST_CASE("refresh bank by bank must reach each bank", "[dram][checker]") {
    const Device device = read_device("hbm2_2400", {{"controller.refresh", "per-bank"}});
    std::vector<Command> commands;
    // Bank 0 only, sixteen times as often as it needs.
    for (Cycle cycle = 0; cycle < 292ull * 16 * 10; cycle += 292)
        commands.push_back({cycle, Kind::refresh_bank, 0, 0, 0, 0});
    CHECK(broken(device, commands) == std::set<std::string>{"tREFI"});
}

TEST_CASE("without a handler a violation is thrown, in one line", "[dram][checker]") {
    TimingChecker checker(read_device("hbm2_2400"));
    checker.on_command(3, {5, Kind::activate, 1, 2, 1, 0});
    try {
        checker.on_command(3, {10, Kind::read, 1, 2, 1, 0});
        FAIL("nothing was thrown");
    } catch (const TimingError& error) {
        CHECK(std::string(error.what()) ==
              "tRCD: channel 3 pseudo-channel 1 bank 2, RD at cycle 10: expected 17 cycles or more since cycle 5, "
              "found 5");
    }
}
