// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace switchyard::platform {

/// Where points run.
struct ExecutorOptions {
    enum class Kind { processes, slurm, command };
    Kind kind = Kind::processes;
    unsigned jobs = 0;          ///< points at a time; 0: one a core of this machine, with Slurm as many as it gives
    std::string command;        ///< of Kind::command: a shell command with {} for the command of a point
    std::string slurm_options;  ///< of sbatch, as in a shell
    std::string spool;          ///< folder for answers, which all machines see
    /// A command that works on a point of the same file elsewhere: the words before its number.
    std::vector<std::string> work;
};

/// One point for an executor.
struct ExecutorTask {
    std::size_t number = 0;  ///< in its file
    std::string key;         ///< the answer's file is SPOOL/KEY.json
};

/// Runs all tasks and calls finished(index, answer, seconds) or failed(index, message, seconds) in this process as they
/// end. Kind::processes: run_all_in_processes() of `work`. Otherwise `options.work` NUMBER --key KEY --answer FILE is
/// run, by Slurm in arrays of at most 1000 tasks or by the command, and its answer is read from FILE; answers that the
/// spool already has, from a run that was killed, are taken. Where interrupt_requested(), what still runs is ended.
/// Returns whether all have ended. Throws InputError if Slurm refuses the jobs.
bool execute(const std::vector<ExecutorTask>& tasks, const ExecutorOptions& options,
             const std::function<std::string(std::size_t)>& work,
             const std::function<void(std::size_t, const std::string&, double)>& finished,
             const std::function<void(std::size_t, const std::string&, double)>& failed);

/// `text` as one word of a shell.
std::string shell_word(const std::string& text);

}  // namespace switchyard::platform
