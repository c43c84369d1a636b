// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "switchyard/testbenches/sim_test.h"
#include "switchyard/tlm/has_process.h"

using switchyard::testing::ExpectReport;
using switchyard::testing::in_child;

namespace {

struct Counter : sc_core::sc_module {
    explicit Counter(sc_core::sc_module_name name, int limit) : sc_module(name), limit_(limit) { SC_THREAD(count); }
    int value() const { return value_; }

private:
    SWITCHYARD_HAS_PROCESS(Counter);
    void count() {
        while (value_ < limit_) {
            wait(1, sc_core::SC_NS);
            ++value_;
        }
    }

    int limit_;
    int value_ = 0;
};

}  // namespace

SIM_TEST("a simulation runs in a child", "[harness]") {
    Counter counter("counter", 3);
    sc_core::sc_start();
    REQUIRE(counter.value() == 3);
    CHECK(sc_core::sc_time_stamp() == sc_core::sc_time(3, sc_core::SC_NS));
}

TEST_CASE("each value of a generator elaborates anew", "[harness]") {
    const int limit = GENERATE(1, 5);
    for (int repeat = 0; repeat < 2; ++repeat) {
        in_child([&] {
            Counter counter("counter", limit);
            sc_core::sc_start();
            CHECK(counter.value() == limit);
        });
    }
}

SIM_TEST("an expected warning does not fail the test", "[harness]") {
    ExpectReport expect("harness/warning");
    SC_REPORT_WARNING("harness/warning", "as announced");
    REQUIRE(expect.messages() == std::vector<std::string>{"as announced"});
}

SIM_TEST("an expected error is thrown as SystemC does", "[harness]") {
    ExpectReport expect("harness/error");
    REQUIRE_THROWS_AS(SC_REPORT_ERROR("harness/error", "as announced"), sc_core::sc_report);
}

// What must fail: each of these is a test case of its own, hidden, that must_fail.cmake runs by name.

SIM_TEST("fails: assertion in a child", "[.][must-fail]") {
    std::cout << "printed by cout\n";
    std::printf("printed by printf\n");
    const int answer = 41;
    INFO("an info");
    CHECK(answer == 42);
    CHECK(answer == 41);
}

SIM_TEST("fails: assertion in an SC_THREAD", "[.][must-fail]") {
    struct Failing : sc_core::sc_module {
        explicit Failing(sc_core::sc_module_name name) : sc_module(name) { SC_THREAD(run); }
        SWITCHYARD_HAS_PROCESS(Failing);
        void run() { REQUIRE(sc_core::sc_time_stamp() > sc_core::SC_ZERO_TIME); }
    } failing("failing");
    sc_core::sc_start();
}

SIM_TEST("fails: unexpected warning", "[.][must-fail]") {
    SC_REPORT_WARNING("harness/surprise", "nobody expects it");
}

SIM_TEST("fails: unexpected error", "[.][must-fail]") {
    SC_REPORT_ERROR("harness/surprise", "nobody expects it");
}

SIM_TEST("fails: expected report is missing", "[.][must-fail]") {
    ExpectReport expect("harness/missing");
}

SIM_TEST("fails: exception", "[.][must-fail]") {
    throw std::runtime_error("thrown by the body");
}

SIM_TEST("fails: crash", "[.][must-fail]") {
    std::abort();
}

SIM_TEST("fails: exit", "[.][must-fail]") {
    std::_Exit(0);
}

SIM_TEST("fails: generator in a child", "[.][must-fail]") {
    CHECK(GENERATE(1, 2) > 0);
}

SIM_TEST("fails: no assertion of two sections is lost", "[.][must-fail]") {
    SECTION("one") {
        CHECK(true);
    }
    SECTION("two") {
        CHECK(true);
    }
}

TEST_CASE("fails: second child of a loop", "[.][must-fail]") {
    for (int i = 0; i < 2; ++i) in_child([&] { CHECK(i == 0); });
}

TEST_CASE("fails: exception in in_child", "[.][must-fail]") {
    in_child([] { throw std::runtime_error("thrown by the body"); });
}
