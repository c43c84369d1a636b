// SPDX-License-Identifier: Apache-2.0
#if !__has_include(<catch2/catch_all.hpp>)
#define CATCH_CONFIG_RUNNER
#endif
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <memory>
#include <sstream>
#include <streambuf>

#include "switchyard/testbenches/sim_test.h"

namespace switchyard::testing {
namespace {

#if __has_include(<catch2/catch_all.hpp>)
using ListenerBase = Catch::EventListenerBase;
#else
using ListenerBase = Catch::TestEventListenerBase;
#endif

/// Where Catch's reporter writes: standard output in the parent, nowhere in a child, whose failures the parent reports.
class ReporterBuffer : public std::streambuf {
public:
    explicit ReporterBuffer(std::streambuf* out) : out_(out) {}
    std::streambuf* out() const { return out_; }
    void mute() { muted_ = true; }

protected:
    int_type overflow(int_type c) override { return muted_ ? traits_type::not_eof(c) : out_->sputc(char(c)); }
    std::streamsize xsputn(const char* text, std::streamsize n) override { return muted_ ? n : out_->sputn(text, n); }
    int sync() override { return muted_ ? 0 : out_->pubsync(); }

private:
    std::streambuf* out_;
    bool muted_ = false;
};

ReporterBuffer* reporter_buffer = nullptr;
std::vector<ExpectReport*> expected_reports;

/// What a child tells its parent, as lines of a file: "P" a passed assertion, "F<length>\n<text>" a failed one,
/// "E" the regular end. Written as it happens, so that a crash loses nothing.
class ResultFile {
public:
    ResultFile() : file_(std::tmpfile()) {
        if (file_ == nullptr) throw std::runtime_error("no temporary file for a test's child process");
    }
    ~ResultFile() { std::fclose(file_); }
    ResultFile(const ResultFile&) = delete;
    ResultFile& operator=(const ResultFile&) = delete;

    int descriptor() const { return fileno(file_); }
    void passed() { std::fputs("P\n", file_); }
    void failed(const std::string& text) {
        std::fprintf(file_, "F%zu\n%s\n", text.size(), text.c_str());
        std::fflush(file_);
    }
    void end() {
        std::fputs("E\n", file_);
        std::fflush(file_);
    }
    std::string contents() const {
        std::string text;
        char chunk[4096];
        off_t offset = 0;
        for (ssize_t n; (n = pread(descriptor(), chunk, sizeof chunk, offset)) > 0; offset += n) text.append(chunk, n);
        return text;
    }

private:
    std::FILE* file_;
};

/// Set in the child only, until it exits.
ResultFile* child_result = nullptr;
std::size_t child_failures = 0;

void child_failed(const std::string& text) {
    ++child_failures;
    child_result->failed(text);
}

[[noreturn]] void leave_child() {
    std::cout.flush();
    std::fflush(nullptr);
    child_result->end();
    _exit(0);
}

std::string describe(const Catch::AssertionStats& stats) {
    const Catch::AssertionResult& result = stats.assertionResult;
    std::ostringstream text;
    text << result.getSourceInfo() << ":";
    if (result.hasExpression()) text << " " << result.getExpressionInMacro();
    if (result.hasExpandedExpression()) text << "\n  with expansion: " << result.getExpandedExpression();
    if (result.hasMessage()) text << "\n  " << std::string(result.getMessage());
    for (const auto& info : stats.infoMessages)
        if (info.type == Catch::ResultWas::Info) text << "\n  " << info.message;
    return text.str();
}

class ChildListener : public ListenerBase {
public:
#if __has_include(<catch2/catch_all.hpp>)
    explicit ChildListener(const Catch::IConfig* config) : ListenerBase(config) {
        m_preferences.shouldReportAllAssertions = true;
    }
    using Ended = void;
#else
    using ListenerBase::ListenerBase;
    using Ended = bool;
    void assertionStarting(const Catch::AssertionInfo&) override {}
#endif

    Ended assertionEnded(const Catch::AssertionStats& stats) override {
        if (child_result != nullptr) {
            if (stats.assertionResult.isOk())
                child_result->passed();
            else
                child_failed(describe(stats));
        }
        return Ended(true);
    }

    void testCaseEnded(const Catch::TestCaseStats& stats) override {
        ListenerBase::testCaseEnded(stats);
        if (child_result != nullptr) leave_child();
    }
};

/// The child's side of the fork: Catch's report is muted, everything else printed goes to `output`.
void become_child(std::unique_ptr<ResultFile> result, const ResultFile& output) {
    child_result = result.release();
    std::cout.rdbuf(reporter_buffer->out());
    reporter_buffer->mute();
    dup2(output.descriptor(), STDOUT_FILENO);
    dup2(output.descriptor(), STDERR_FILENO);
}

void report(const ResultFile& result, const ResultFile& output, int status) {
    std::istringstream lines(result.contents());
    std::vector<std::string> failures;
    bool ended = false;
    for (std::string line; std::getline(lines, line);) {
        if (line == "P") CHECK(true);
        if (line == "E") ended = true;
        if (line[0] != 'F') continue;
        std::string text(std::stoul(line.substr(1)), '\0');
        lines.read(text.data(), std::streamsize(text.size()));
        lines.ignore();
        failures.push_back(std::move(text));
    }
    if (WIFSIGNALED(status))
        failures.push_back(std::string("the simulation's process died: ") + strsignal(WTERMSIG(status)));
    else if (!ended)
        failures.push_back("the simulation's process left with status " + std::to_string(WEXITSTATUS(status)));
    if (failures.empty()) return;

    const std::string printed = output.contents();
    if (!printed.empty()) failures.back() += "\nthe simulation printed:\n" + printed;
    for (const std::string& text : failures) FAIL_CHECK(text);
}

/// In the parent: waits for the child and reports what it found. In the child: calls `child_body`.
template <class ChildBody>
void fork_and_report(const ChildBody& child_body) {
    auto result = std::make_unique<ResultFile>();
    const ResultFile output;
    std::cout.flush();
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
    if (child == 0) {
        become_child(std::move(result), output);
        child_body();
        return;
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    report(*result, output, status);
}

void handle_report(const sc_core::sc_report& report, const sc_core::sc_actions& actions) {
    if (report.get_severity() == sc_core::SC_INFO) {
        sc_core::sc_report_handler::default_handler(report, actions);
        return;
    }
    const auto due = std::find_if(expected_reports.rbegin(), expected_reports.rend(),
                                  [&](const ExpectReport* e) { return e->id() == report.get_msg_type(); });
    if (due != expected_reports.rend())
        (*due)->add(report.get_msg());
    else
        FAIL_CHECK("unexpected SystemC report: " << report.what());
    sc_core::sc_report_handler::default_handler(report, actions & ~sc_core::SC_DISPLAY);
}

}  // namespace

ExpectReport::ExpectReport(std::string id) : id_(std::move(id)) {
    expected_reports.push_back(this);
}

ExpectReport::~ExpectReport() {
    expected_reports.erase(std::find(expected_reports.begin(), expected_reports.end(), this));
    if (messages_.empty() && std::uncaught_exceptions() == 0)
        FAIL_CHECK("expected a SystemC report \"" << id_ << "\", none came");
}

void in_child(const std::function<void()>& body) {
    fork_and_report([&] {
        try {
            body();
        } catch (const std::exception& e) {
            child_failed(std::string("unexpected exception: ") + e.what());
        } catch (...) {
            // REQUIRE leaves by an exception, after it reported.
            if (child_failures == 0) child_failed("unexpected exception of unknown type");
        }
        leave_child();
    });
}

void run_sim_test(void (*body)()) {
    if (child_result != nullptr) {
        child_failed("GENERATE or more than one SECTION in a SIM_TEST: use TEST_CASE and in_child");
        leave_child();
    }
    fork_and_report(body);
}

}  // namespace switchyard::testing

using switchyard::testing::ChildListener;
CATCH_REGISTER_LISTENER(ChildListener)

int sc_main(int, char**) {
    return 0;
}

int main(int argc, char** argv) {
    // The test's own main, not SystemC's: a simulation is elaborated in the children only.
    std::streambuf* const standard_output = std::cout.rdbuf();
    switchyard::testing::ReporterBuffer buffer(standard_output);
    switchyard::testing::reporter_buffer = &buffer;
    std::cout.rdbuf(&buffer);
    sc_core::sc_report_handler::set_handler(switchyard::testing::handle_report);
    const int failed = Catch::Session().run(argc, argv);
    std::cout.rdbuf(standard_output);
    return failed;
}
