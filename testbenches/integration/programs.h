// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace switchyard::testing {

/// What a program that was run left behind.
struct Outcome {
    int status = -1;  ///< exit status; 128 + signal if it died
    std::string out, err;
};

/// Run with these arguments (as a shell reads them) from the repository's root.
Outcome sy_sched(const std::string& arguments);
Outcome sy_sim(const std::string& arguments);
Outcome sy_sweep(const std::string& arguments);

/// sy-sim from another folder.
Outcome sy_sim_in(const std::string& folder, const std::string& arguments);
/// sy-sim with limits that the shell sets, "ulimit -v 1000000".
Outcome sy_sim_within(const std::string& limits, const std::string& arguments);
/// sy-sim and sy-sched on a disk with room for files of N KiB.
Outcome limited(unsigned kib, const std::string& arguments);
Outcome limited_sched(unsigned kib, const std::string& arguments);

/// A folder of this process, removed when the process ends.
std::string scratch(const std::string& file);
std::string read_text(const std::string& path);
nlohmann::json read_json(const std::string& path);
void write_text(const std::string& path, const std::string& text);

/// `sy-sched compile ARGUMENTS -o IMAGE`, which must succeed: the path of the image, `name` in scratch().
std::string compiled(const std::string& arguments, const std::string& name = "compiled.syk");
/// `sy-sim run ARGUMENTS --report FOLDER`, which must succeed: the report, all of whose checks must hold.
nlohmann::json report_of_run(const std::string& arguments);
double mean_latency_us(const nlohmann::json& report);

/// digits_skipnet compiled for mini.yaml: made once a process.
const std::string& digits_image();

/// The exit status of bad input is 2, with one line on standard error that holds every one of `parts`; nothing on
/// standard output.
void check_refused(const Outcome& outcome, std::initializer_list<const char*> parts);

inline const char* const kMini = "configs/platforms/mini.yaml";
inline const char* const kDigits = "configs/workloads/digits_skipnet.yaml";
inline const char* const kDigitsTrace = "configs/workloads/digits/skipnet/routing.jsonl";

}  // namespace switchyard::testing
