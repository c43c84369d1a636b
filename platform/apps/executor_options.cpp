// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/apps/executor_options.h"

#include <filesystem>
#include <utility>

#include <CLI/CLI.hpp>

#include "switchyard/platform/apps/number_options.h"
#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::platform {

void ExecutorCommandLine::add_to(CLI::App& command) {
    command.add_option("--jobs", jobs_, "points at a time; default: one a core, with Slurm as many as it gives")
        ->check(whole_number(1, 4096));
    command.add_option("--executor", kind_, "where points run: processes, slurm or command; default: processes")
        ->check(CLI::IsMember({"processes", "slurm", "command"}));
    command.add_option("--command", command_, "of the executor command: a shell command with {} for that of a point");
    command.add_option("--slurm-options", slurm_options_, "options of sbatch");
    command.add_option("--spool", spool_, "folder that all machines see; default: STORE.spool");
}

ExecutorOptions ExecutorCommandLine::options(const std::string& store, std::vector<std::string> work) const {
    ExecutorOptions options;
    options.jobs = jobs_;
    options.command = command_;
    options.slurm_options = slurm_options_;
    options.spool = spool_.empty() ? store + ".spool" : spool_;
    if (kind_ == "slurm") options.kind = ExecutorOptions::Kind::slurm;
    if (kind_ == "command") options.kind = ExecutorOptions::Kind::command;
    if ((kind_ == "command") != !command_.empty())
        throw InputError("--command", 0, "", "expected together with --executor command, found one without the other");
    if (kind_ == "command" && command_.find("{}") == std::string::npos)
        throw InputError("--command", 0, "", "expected {} for the command of a point, found none");
    if (kind_ == "processes" && !spool_.empty())
        throw InputError("--spool", 0, "",
                         "expected with --executor slurm or command only, found without; leave it out");
    if (kind_ != "slurm" && !slurm_options_.empty())
        throw InputError("--slurm-options", 0, "", "expected with --executor slurm only, found without");
    if (kind_ == "processes") return options;
    options.work = {std::filesystem::read_symlink("/proc/self/exe").string()};
    work.at(1) = std::filesystem::absolute(work.at(1)).string();
    options.work.insert(options.work.end(), work.begin(), work.end());
    return options;
}

}  // namespace switchyard::platform
