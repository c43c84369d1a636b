// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <systemc>

#include "switchyard/testbenches/catch.h"

/// SystemC elaborates once a process, so a test that simulates runs in a forked child: its failures, its number of
/// assertions and, if it failed, what it printed come back to the test case in the parent. A child that crashes or
/// exits is a failure.
///
///   SIM_TEST("a probe is answered", "[noc]") { Fixture fixture; sc_core::sc_start(); REQUIRE(...); }
///
/// A SIM_TEST may have one SECTION at most and no GENERATE (it fails if it has). Parameters stay in the parent:
///
///   TEST_CASE("every size", "[noc]") {
///       auto size = GENERATE(2u, 4u);
///       switchyard::testing::in_child([&] { Fixture fixture(size); sc_core::sc_start(); CHECK(...); });
///   }
///
/// Every SC_WARNING, SC_ERROR and SC_FATAL fails the test, unless it is expected (ExpectReport).
#define SIM_TEST(...) SWITCHYARD_SIM_TEST(SWITCHYARD_SIM_TEST_NAME(switchyard_sim_test_, __COUNTER__), __VA_ARGS__)

#define SWITCHYARD_SIM_TEST_JOIN(a, b) a##b
#define SWITCHYARD_SIM_TEST_NAME(a, b) SWITCHYARD_SIM_TEST_JOIN(a, b)
#define SWITCHYARD_SIM_TEST(function, ...)             \
    static void function();                            \
    TEST_CASE(__VA_ARGS__) {                           \
        ::switchyard::testing::run_sim_test(function); \
    }                                                  \
    static void function()

namespace switchyard::testing {

/// Runs `body` in a child process, where SystemC has not elaborated yet. May be called several times in a test case, in
/// a loop or behind GENERATE; `body` itself holds neither GENERATE nor SECTION. Changes to the parent's objects are
/// lost.
void in_child(const std::function<void()>& body);

/// What SIM_TEST expands to: the child runs the whole test case.
void run_sim_test(void (*body)());

/// Declares that SystemC reports with message type `id` (warnings, errors) are due while this object lives; the test
/// fails if none comes. An expected error is still thrown as `sc_core::sc_report`, as SystemC does by default.
class ExpectReport {
public:
    explicit ExpectReport(std::string id);
    ~ExpectReport();
    ExpectReport(const ExpectReport&) = delete;
    ExpectReport& operator=(const ExpectReport&) = delete;

    const std::string& id() const { return id_; }
    /// Texts of the reports seen so far.
    const std::vector<std::string>& messages() const { return messages_; }
    void add(const std::string& message) { messages_.push_back(message); }

private:
    std::string id_;
    std::vector<std::string> messages_;
};

}  // namespace switchyard::testing
