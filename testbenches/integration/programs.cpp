// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/integration/programs.h"
#include "switchyard/sw_scheduler/base/json_text.h"
#include "switchyard/sw_scheduler/base/scratch_folder.h"

#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <nlohmann/json.hpp>

#include "switchyard/testbenches/catch.h"

namespace switchyard::testing {

namespace fs = std::filesystem;

namespace {

Outcome run_program(const std::string& program, const std::string& arguments) {
    const std::string out = scratch("stdout"), err = scratch("stderr");
    const int status = std::system((program + " " + arguments + " >" + out + " 2>" + err).c_str());
    Outcome outcome;
    outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    outcome.out = read_text(out);
    outcome.err = read_text(err);
    return outcome;
}

}  // namespace

Outcome sy_sched(const std::string& arguments) {
    return run_program(SY_SCHED, arguments);
}
Outcome sy_sim(const std::string& arguments) {
    return run_program(SY_SIM, arguments);
}

#ifdef SY_SWEEP
Outcome sy_sweep(const std::string& arguments) {
    return run_program(SY_SWEEP, arguments);
}
#endif

Outcome sy_sim_in(const std::string& folder, const std::string& arguments) {
    return run_program("cd " + folder + " && " SY_SIM, arguments);
}

namespace {

/// `ulimit -f` counts blocks of 512 bytes in a POSIX shell. What the shell writes for the program counts too.
std::string limit(unsigned kib, const std::string& program) {
    return "ulimit -f " + std::to_string(2 * kib) + "; " + program;
}

}  // namespace

Outcome sy_sim_within(const std::string& limits, const std::string& arguments) {
    return run_program(limits + "; " SY_SIM, arguments);
}
Outcome limited(unsigned kib, const std::string& arguments) {
    return run_program(limit(kib, SY_SIM), arguments);
}
Outcome limited_sched(unsigned kib, const std::string& arguments) {
    return run_program(limit(kib, SY_SCHED), arguments);
}

std::string scratch(const std::string& file) {
    static const ScratchFolder kFolder("switchyard-integration");
    return kFolder.file(file);
}

std::string read_text(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    REQUIRE(file);
    return {std::istreambuf_iterator<char>(file), {}};
}

nlohmann::json read_json(const std::string& path) {
    return parse_json(read_text(path), path);
}

void write_text(const std::string& path, const std::string& text) {
    std::ofstream file(path, std::ios::binary);
    file << text;
    REQUIRE(file);
}

std::string compiled(const std::string& arguments, const std::string& name) {
    std::string image = scratch(name);
    const Outcome outcome = sy_sched("compile " + arguments + " -o " + image);
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    return image;
}

nlohmann::json report_of_run(const std::string& arguments) {
    const std::string folder = scratch("report_of_run");
    const Outcome outcome = sy_sim("run " + arguments + " --report " + folder);
    INFO(arguments << ": " << outcome.err);
    REQUIRE(outcome.status == 0);
    nlohmann::json report = read_json(folder + "/report.json");
    CHECK(report.at("ok") == true);
    for (const nlohmann::json& check : report.at("conservation")) {
        INFO(check.dump());
        CHECK(check.at("ok") == true);
    }
    return report;
}

double mean_latency_us(const nlohmann::json& report) {
    return report.at("summary").at("latency_us").at("mean").get<double>();
}

const std::string& digits_image() {
    static const std::string kPath =
        compiled(std::string(kDigits) + " --platform " + kMini + " --design adyna", "digits_skipnet.syk");
    return kPath;
}

void check_refused(const Outcome& outcome, std::initializer_list<const char*> parts) {
    INFO("standard error: " << outcome.err);
    CHECK(outcome.status == 2);
    CHECK(outcome.out.empty());
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    for (const char* part : parts) CHECK_THAT(outcome.err, Catch::Matchers::ContainsSubstring(part));
}

}  // namespace switchyard::testing
