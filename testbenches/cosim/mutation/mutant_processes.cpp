// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/cosim/mutation/mutant_processes.h"

#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <thread>

namespace switchyard::testing {
namespace {

struct Process {
    std::size_t run;
    pid_t id;
    int output;  ///< end of the pipe from which `found` is read
    std::string found;
};

/// What the process of a mutant does: it writes into the pipe what the regression finds.
[[noreturn]] void regress(const MutantRun& run, const MutantRegression& regression, int pipe) {
    // Messages of assertions, by the thousand.
    if (std::freopen("/dev/null", "w", stdout) == nullptr || std::freopen("/dev/null", "w", stderr) == nullptr)
        ::_exit(3);
    const rlimit limit{run.cpu_seconds, run.cpu_seconds + 1};
    ::setrlimit(RLIMIT_CPU, &limit);
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    std::string found;
    try {
        select_mutant(run.mutant.number);
        found = regression(run.mutant);
        // A missing reset shows with some values alone.
        for (int seed = 1; run.mutant.kind == "reset" && seed <= 6 && found.empty(); ++seed) {
            select_mutant(run.mutant.number, seed == 1 ? 1 : 2, seed);
            found = regression(run.mutant);
        }
    } catch (const std::exception& error) {
        found = std::string("throws ") + error.what();
    }
    if (found.size() > 300) found.resize(300);
    if (::write(pipe, found.data(), found.size()) < 0) ::_exit(3);
    ::_exit(0);
}

Process start(std::size_t index, const MutantRun& run, const MutantRegression& regression) {
    std::array<int, 2> pipe{};
    if (::pipe(pipe.data()) != 0) throw std::runtime_error("pipe() failed");
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child < 0) throw std::runtime_error("fork() failed");
    if (child == 0) {
        ::close(pipe[0]);
        regress(run, regression, pipe[1]);
    }
    ::close(pipe[1]);
    return {index, child, pipe[0], ""};
}

/// Takes what has come. False if nothing more can come: the process has ended.
bool read_on(Process& process) {
    std::array<char, 512> buffer{};
    const ssize_t count = ::read(process.output, buffer.data(), buffer.size());
    if (count > 0) process.found.append(buffer.data(), static_cast<std::size_t>(count));
    return count > 0;
}

MutantOutcome end(const Process& process) {
    ::close(process.output);
    int status = 0;
    rusage usage{};
    ::wait4(process.id, &status, 0, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    MutantOutcome outcome{process.found, seconds(usage.ru_utime) + seconds(usage.ru_stime)};
    if (!outcome.found.empty()) return outcome;
    if (WIFSIGNALED(status)) {
        outcome.found = "ends by signal " + std::to_string(WTERMSIG(status));
    } else if (WEXITSTATUS(status) != 0) {
        outcome.found = "ends with status " + std::to_string(WEXITSTATUS(status));
    }
    return outcome;
}

}  // namespace

std::vector<MutantOutcome> run_in_processes(const std::vector<MutantRun>& runs, const MutantRegression& regression,
                                            const std::function<void(std::size_t, const MutantOutcome&)>& ended) {
    const std::size_t at_a_time = std::max(1U, std::thread::hardware_concurrency());
    std::vector<MutantOutcome> outcomes(runs.size());
    std::vector<Process> running;
    for (std::size_t next = 0; next < runs.size() || !running.empty();) {
        for (; next < runs.size() && running.size() < at_a_time; ++next)
            running.push_back(start(next, runs[next], regression));
        std::vector<pollfd> outputs;
        for (const Process& process : running) outputs.push_back({process.output, POLLIN, 0});
        if (::poll(outputs.data(), outputs.size(), -1) < 0) throw std::runtime_error("poll() failed");
        for (std::size_t i = outputs.size(); i-- > 0;) {
            if (outputs[i].revents == 0 || read_on(running[i])) continue;
            const std::size_t run = running[i].run;
            outcomes[run] = end(running[i]);
            running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
            ended(run, outcomes[run]);
        }
    }
    return outcomes;
}

}  // namespace switchyard::testing
