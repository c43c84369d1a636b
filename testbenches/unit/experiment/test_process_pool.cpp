// SPDX-License-Identifier: Apache-2.0
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "switchyard/platform/system/process_pool.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard::platform;
using namespace std::chrono_literals;

namespace {

std::vector<std::string> run(std::size_t count, unsigned jobs, const std::function<std::string(std::size_t)>& work) {
    std::vector<std::string> results(count);
    run_in_processes(count, jobs, work,
                     [&results](std::size_t index, const std::string& text, double) { results[index] = text; });
    return results;
}

void fails(const std::function<std::string(std::size_t)>& work, std::size_t index, const std::string& message) {
    try {
        run(3, 2, work);
        FAIL("nothing failed");
    } catch (const WorkFailed& failure) {
        CHECK(failure.index == index);
        CHECK(failure.what() == message);
    }
}

}  // namespace

TEST_CASE("each piece of work has a process of its own and its own answer", "[experiment]") {
    const unsigned jobs = GENERATE(1u, 2u, 5u);
    const std::vector<std::string> pids = run(5, jobs, [](std::size_t) { return std::to_string(getpid()); });
    CHECK(std::set<std::string>(pids.begin(), pids.end()).size() == 5);
    CHECK(std::set<std::string>(pids.begin(), pids.end()).count(std::to_string(getpid())) == 0);
    CHECK(run(3, jobs, [](std::size_t i) { return std::to_string(i * i); }) == std::vector<std::string>{"0", "1", "4"});
    CHECK(run(0, jobs, [](std::size_t) { return ""; }).empty());
}

TEST_CASE("an answer may be larger than a pipe, or empty", "[experiment]") {
    const auto big = [](std::size_t i) { return std::string(i * (std::size_t{1} << 20), 'x'); };
    const std::vector<std::string> results = run(4, 2, big);
    for (std::size_t i = 0; i < 4; ++i) CHECK(results[i].size() == i << 20);
}

TEST_CASE("pieces of work run side by side, as many as wanted", "[experiment]") {
    const auto seconds = [](unsigned jobs) {
        const auto start = std::chrono::steady_clock::now();
        run(4, jobs, [](std::size_t) {
            std::this_thread::sleep_for(200ms);
            return std::string();
        });
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    CHECK(seconds(1) >= 0.8);
    CHECK(seconds(2) >= 0.4);
    CHECK(seconds(4) < 0.8);
}

TEST_CASE("work that fails, dies or leaves is an error that says which and how", "[experiment]") {
    fails([](std::size_t i) -> std::string { return i == 1 ? throw std::runtime_error("two\nlines") : "fine"; }, 1,
          "two lines");
    fails([](std::size_t i) -> std::string { return i == 2 ? throw 1 : "fine"; }, 2, "unknown exception");
    fails(
        [](std::size_t i) {
            if (i == 0) raise(SIGKILL);
            return std::string("fine");
        },
        0, "expected a result of its process, found that signal 9 (Killed) killed it");
    fails(
        [](std::size_t i) {
            if (i == 0) _exit(3);
            return std::string("fine");
        },
        0, "expected a result of its process, found exit status 3");
}

TEST_CASE("when one fails, those that still run are killed", "[experiment]") {
    const auto start = std::chrono::steady_clock::now();
    fails(
        [](std::size_t i) {
            if (i == 1) throw std::runtime_error("no");
            std::this_thread::sleep_for(60s);
            return std::string("late");
        },
        1, "no");
    CHECK(std::chrono::steady_clock::now() - start < 30s);
}

TEST_CASE("whoever kills the experiment kills its points", "[experiment]") {
    const int signal = GENERATE(SIGTERM, SIGKILL);
    // Orphans come to this process, which can wait for them.
    REQUIRE(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const pid_t parent = fork();
    if (parent == 0) {
        std::signal(SIGTERM, SIG_DFL);  // not the tests' handler
        run(2, 2, [&ends](std::size_t) {
            const pid_t own = getpid();
            if (write(ends[1], &own, sizeof own) != sizeof own) _exit(1);
            std::this_thread::sleep_for(60s);
            return std::string("late");
        });
        _exit(0);
    }
    std::set<pid_t> children;
    for (int i = 0; i < 2; ++i) {
        pid_t child = 0;
        REQUIRE(read(ends[0], &child, sizeof child) == sizeof child);
        children.insert(child);
    }
    const auto start = std::chrono::steady_clock::now();
    REQUIRE(kill(parent, signal) == 0);
    REQUIRE(waitpid(parent, nullptr, 0) == parent);
    for (const pid_t child : children) {
        int status = 0;
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(WIFSIGNALED(status));
    }
    CHECK(std::chrono::steady_clock::now() - start < 30s);
    for (const int end : ends) close(end);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST_CASE("what the caller throws ends the work too", "[experiment]") {
    const auto refuse = [](std::size_t, const std::string& text, double) { throw std::logic_error("not " + text); };
    CHECK_THROWS_WITH(run_in_processes(
                          2, 1, [](std::size_t) { return std::string("this"); }, refuse),
                      "not this");
}
