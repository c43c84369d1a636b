// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/system/process_pool.h"

#include <poll.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "switchyard/platform/system/interrupt.h"

namespace switchyard::platform {

namespace {

using Clock = std::chrono::steady_clock;

/// What a child writes first: a result or a message follows.
constexpr char kResult = 'R', kFailure = 'F';

void write_all(int descriptor, const std::string& text) {
    for (std::size_t sent = 0; sent < text.size();) {
        const ssize_t n = write(descriptor, text.data() + sent, text.size() - sent);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) _exit(1);
        sent += static_cast<std::size_t>(n);
    }
}

/// A child whose parent is killed would work on for nobody: it dies with it.
void die_with(pid_t parent) {
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    if (getppid() != parent) _exit(1);  // it died before that held
}

/// Leaves without destructors and without flushing: whatever the parent has buffered is the parent's.
[[noreturn]] void work_in_child(int descriptor, std::size_t index,
                                const std::function<std::string(std::size_t)>& work) {
    // Standard output is the parent's alone; what a model has to say goes where messages go.
    dup2(STDERR_FILENO, STDOUT_FILENO);
    // A terminal interrupts parent and child; the parent decides.
    if (interrupts_are_caught()) std::signal(SIGINT, SIG_IGN);
    try {
        write_all(descriptor, kResult + work(index));
    } catch (const std::exception& error) {
        write_all(descriptor, kFailure + std::string(error.what()));
    } catch (...) {
        write_all(descriptor, kFailure + std::string("unknown exception"));
    }
    _exit(0);
}

/// A child and the pipe through which it answers. Kills it if it is destroyed before the child was reaped.
class Child {
public:
    Child(std::size_t index, const std::function<std::string(std::size_t)>& work)
        : index_(index), started_(Clock::now()) {
        int ends[2];
        if (pipe(ends) != 0) throw std::system_error(errno, std::generic_category(), "no pipe to a process");
        const pid_t parent = getpid();
        pid_ = fork();
        if (pid_ == 0) {
            die_with(parent);
            close(ends[0]);
            work_in_child(ends[1], index, work);
        }
        close(ends[1]);
        if (pid_ < 0) {
            const int error = errno;
            close(ends[0]);
            throw std::system_error(error, std::generic_category(), "no further process");
        }
        pipe_ = ends[0];
    }
    ~Child() {
        if (pid_ <= 0) return;
        kill(pid_, SIGKILL);
        reap();
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    Child(Child&& other) noexcept { swap(other); }
    Child& operator=(Child&& other) noexcept {
        swap(other);
        return *this;
    }

    std::size_t index() const { return index_; }
    int pipe_end() const { return pipe_; }
    void interrupt() const { kill(pid_, SIGTERM); }
    double seconds() const { return std::chrono::duration<double>(Clock::now() - started_).count(); }

    /// Takes what the pipe has; false once the child has closed it.
    bool receive() {
        char chunk[1 << 16];
        const ssize_t n = read(pipe_, chunk, sizeof chunk);
        if (n < 0 && errno == EINTR) return true;
        if (n <= 0) return false;
        received_.append(chunk, static_cast<std::size_t>(n));
        return true;
    }

    /// Once receive() is false. Throws WorkFailed.
    std::string result() {
        const int status = reap();
        if (WIFSIGNALED(status)) {
            const int signal = WTERMSIG(status);
            throw WorkFailed(
                index_, fmt::format("expected a result of its process, found that signal {} ({}) killed it", signal,
                                    strsignal(signal)));
        }
        if (WEXITSTATUS(status) != 0 || received_.empty())
            throw WorkFailed(
                index_, fmt::format("expected a result of its process, found exit status {}", WEXITSTATUS(status)));
        std::string text = received_.substr(1);
        if (received_.front() == kResult) return text;
        std::replace(text.begin(), text.end(), '\n', ' ');
        throw WorkFailed(index_, text);
    }

private:
    void swap(Child& other) {
        std::swap(index_, other.index_);
        std::swap(pid_, other.pid_);
        std::swap(pipe_, other.pipe_);
        std::swap(started_, other.started_);
        std::swap(received_, other.received_);
    }
    int reap() {
        close(pipe_);
        int status = 0;
        while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
        }
        pid_ = 0;
        return status;
    }

    std::size_t index_ = 0;
    pid_t pid_ = 0;
    int pipe_ = -1;
    Clock::time_point started_;
    std::string received_;
};

}  // namespace

namespace {

using Callback = std::function<void(std::size_t, const std::string&, double)>;

constexpr int kInterruptCheckMs = 200;

/// `failed`: null where the first failure ends everything; children then see an interrupt themselves.
bool run_pool(std::size_t count, unsigned jobs, const std::function<std::string(std::size_t)>& work,
              const Callback& finished, const Callback& failed) {
    std::vector<Child> running;
    std::size_t next = 0;
    bool interrupted = false;
    while (next < count || !running.empty()) {
        if (failed && interrupt_requested()) return false;
        while (next < count && running.size() < std::max(jobs, 1u)) running.emplace_back(next++, work);
        if (interrupt_requested() && !interrupted) {
            interrupted = true;
            for (const Child& child : running) child.interrupt();
        }
        std::vector<pollfd> pipes;
        pipes.reserve(running.size());
        for (const Child& child : running) pipes.push_back({child.pipe_end(), POLLIN, 0});
        if (poll(pipes.data(), pipes.size(), failed || interrupts_are_caught() ? kInterruptCheckMs : -1) < 0) {
            if (errno == EINTR) continue;
            throw std::system_error(errno, std::generic_category(), "cannot wait for processes");
        }
        for (std::size_t i = running.size(); i-- > 0;) {
            if (pipes[i].revents == 0 || running[i].receive()) continue;
            Child ended = std::move(running[i]);
            running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
            const double seconds = ended.seconds();
            std::string result;
            try {
                result = ended.result();
            } catch (const WorkFailed& failure) {
                if (!failed) throw;
                failed(failure.index, failure.what(), seconds);
                continue;
            }
            finished(ended.index(), result, seconds);
        }
    }
    return true;
}

}  // namespace

void run_in_processes(std::size_t count, unsigned jobs, const std::function<std::string(std::size_t)>& work,
                      const std::function<void(std::size_t, const std::string&, double)>& finished) {
    run_pool(count, jobs, work, finished, nullptr);
}

bool run_all_in_processes(std::size_t count, unsigned jobs, const std::function<std::string(std::size_t)>& work,
                          const std::function<void(std::size_t, const std::string&, double)>& finished,
                          const std::function<void(std::size_t, const std::string&, double)>& failed) {
    return run_pool(count, jobs, work, finished, failed);
}

}  // namespace switchyard::platform
