// SPDX-License-Identifier: Apache-2.0
// Every program keeps what is there until the new file is whole.

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>

#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/programs.h"

using namespace switchyard::testing;
namespace fs = std::filesystem;

namespace {

const char* const kOld = "# Written by switchyard\nof an earlier run";

/// The program had no room: one line with the file, status 2, and `file` is the old one.
void check_kept(const Outcome& outcome, const std::string& file) {
    check_refused(outcome, {file.c_str(), "cannot be written: File too large"});
    CHECK(read_text(file) == kOld);
    CHECK_FALSE(fs::exists(file + ".part"));
}

std::string old_file(const std::string& name) {
    std::string path = scratch(name);
    fs::create_directories(fs::path(path).parent_path());
    write_text(path, kOld);
    return path;
}

}  // namespace

TEST_CASE("on a full disk sy-sched keeps the old file", "[cli][files]") {
    const std::string image = old_file("kept.syk"), package = old_file("kept.syp");
    check_kept(
        limited_sched(8, std::string("compile ") + kDigits + " --platform " + kMini + " --design adyna -o " + image),
        image);
    const std::string folder = "configs/workloads/digits/skipnet/";
    check_kept(limited_sched(8, "pack " + digits_image() + " --weights " + folder + "weights --inputs " + folder +
                                    "input_batch0.npy --address 0x80100000 -o " + package),
               package);
    check_refused(sy_sched(std::string("compile ") + kDigits + " --platform " + kMini + " --design adyna -o /dev/full"),
                  {"sy-sched: /dev/full: cannot be written: No space left on device"});
}

TEST_CASE("on a full disk sy-sim keeps the old files, all of a run's", "[cli][files]") {
    const std::string run =
        std::string("run --platform ") + kMini + " --image " + digits_image() + " --batches 1 --trace " + kDigitsTrace;
    const std::string report = old_file("kept/report.json"), speed = old_file("kept/speed.json"),
                      profile = old_file("kept/profile.json");
    // The report does not fit, and what would fit is not written either.
    check_kept(limited(2, run + " --report " + scratch("kept") + " --write-profile " + profile), report);
    CHECK(read_text(speed) == kOld);
    CHECK(read_text(profile) == kOld);
    const std::string folder = "configs/workloads/digits/skipnet/", outputs = old_file("kept.npy");
    check_kept(limited(4, std::string("run --platform ") + kMini + " --set chip.functional=yes --image " +
                              digits_image() + " --batches 1 --weights " + folder + "weights --inputs " + folder +
                              "input_batch0.npy --outputs " + outputs),
               outputs);
    const std::string log = old_file("log.0.csv");
    check_kept(limited(4, run + " --set hbm.request_log=" + scratch("log")), log);
    const std::string commands = old_file("commands.csv");
    check_kept(limited(4, "mem --requests 1000 --commands " + commands), commands);
    const std::string noc = old_file("noc.json");
    check_kept(limited(4, "noc --cycles 200 --json " + noc), noc);
    const std::string baseline = old_file("baseline/report.json");
    check_kept(limited(4, std::string("run --design gpu --workload ") + kDigits +
                              " --platform configs/platforms/a100.yaml --report " + scratch("baseline")),
               baseline);
}

TEST_CASE("what standard output cannot take is an error", "[cli][files]") {
    const std::string errors = scratch("errors");
    const int status = std::system((std::string(SY_SIM) + " keys >/dev/full 2>" + errors).c_str());
    CHECK(WEXITSTATUS(status) == 2);
    CHECK(read_text(errors) == "sy-sim: standard output: cannot be written: No space left on device\n");
}
