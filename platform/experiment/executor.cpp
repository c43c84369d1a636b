// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/experiment/executor.h"

#include <sys/wait.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/platform/system/interrupt.h"
#include "switchyard/platform/system/process_pool.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/base/input_file.h"
#include "switchyard/sw_scheduler/base/json_reader.h"
#include "switchyard/sw_scheduler/base/json_text.h"
#include "switchyard/sw_scheduler/base/replaceable.h"

namespace switchyard::platform {

namespace {

namespace fs = std::filesystem;
using Callback = std::function<void(std::size_t, const std::string&, double)>;
using Clock = std::chrono::steady_clock;

/// Slurm's MaxArraySize is 1001 unless a site has set it.
constexpr std::size_t kArrayTasks = 1000;
constexpr auto kLookForAnswers = std::chrono::milliseconds(200);
constexpr auto kAskSlurm = std::chrono::seconds(3);
/// A task that has left the queue without an answer is given this time: file systems of several machines are slow.
constexpr int kLooksAfterTheEnd = 3;

struct Output {
    int status = 0;
    std::string text;
};

Output output_of(const std::string& command) {
    Output output;
    FILE* const pipe = popen(("(" + command + ") 2>&1").c_str(), "r");
    if (pipe == nullptr) throw std::runtime_error("expected a command that runs, found " + command);
    char chunk[4096];
    while (const std::size_t n = std::fread(chunk, 1, sizeof chunk, pipe)) output.text.append(chunk, n);
    const int status = pclose(pipe);
    output.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return output;
}

std::string last_line(std::string text) {
    text.erase(text.find_last_not_of(" \n\r\t") + 1);
    return text.substr(text.rfind('\n') + 1);
}

/// Of an answer.
double seconds_of(const std::string& answer, const std::string& path) {
    const nlohmann::json document = parse_json(answer, path);
    const JsonReader reader(document, path);
    return reader.has("seconds") ? reader.member("seconds").number() : 0;
}

std::string work_command(const ExecutorOptions& options) {
    std::string command;
    for (const std::string& word : options.work) command += shell_word(word) + " ";
    return command;
}

/// A file of the spool, which is a folder of ours.
void write_spooled(const std::string& text, const std::string& path) {
    const ReplacesAny any;
    write_file(text, path);
}

void write_script(const std::string& text, const std::string& path) {
    write_spooled(text, path);
    fs::permissions(path, fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec |
                              fs::perms::others_read | fs::perms::others_exec);
}

class Spool {
public:
    explicit Spool(const ExecutorOptions& options) : folder_(fs::absolute(options.spool).string()) {
        std::error_code error;
        fs::create_directories(folder_, error);
        if (error) throw InputError(folder_, 0, "", "cannot be made: " + error.message());
    }
    std::string file(const std::string& name) const { return folder_ + "/" + name; }
    std::string answer(const std::string& key) const { return file(key + ".json"); }
    /// The command is read by this machine's shell and perhaps by another one's: the path of a script must be the same
    /// word in all of them.
    void check_plain() const {
        const auto plain = [](unsigned char c) {
            return std::isalnum(c) != 0 ||
                   std::string_view("/._-+=:@%,").find(static_cast<char>(c)) != std::string_view::npos;
        };
        if (!std::all_of(folder_.begin(), folder_.end(), plain))
            throw InputError("--spool", 0, "",
                             fmt::format("expected a folder whose path has letters, digits and /._-+=:@%, only, found "
                                         "\"{}\"; choose one with --spool",
                                         folder_));
    }

    /// Takes the answer out of the spool; false if there is none yet.
    bool take(const ExecutorTask& task, std::size_t index, const Callback& finished) const {
        const std::string path = answer(task.key);
        if (!exists(path)) return false;
        const std::string text = read_file(path, kMaxJsonBytes);
        finished(index, text, seconds_of(text, path));
        std::error_code ignored;
        fs::remove(path, ignored);
        return true;
    }

private:
    std::string folder_;
};

bool run_by_command(const std::vector<ExecutorTask>& tasks, const ExecutorOptions& options, const Callback& finished,
                    const Callback& failed) {
    const Spool spool(options);
    spool.check_plain();
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < tasks.size(); ++i)
        if (!spool.take(tasks[i], i, finished)) open.push_back(i);
    const unsigned jobs = options.jobs > 0 ? options.jobs : std::max(1u, std::thread::hardware_concurrency());
    const auto run_one = [&](std::size_t at) {
        const ExecutorTask& task = tasks[open[at]];
        const std::string answer = spool.answer(task.key);
        const std::string script = spool.file(task.key + ".sh");
        write_script(fmt::format("#!/bin/sh\nexec {}{} --key {} --answer {}\n", work_command(options), task.number,
                                 task.key, shell_word(answer)),
                     script);
        std::string command = options.command;
        for (std::size_t found = command.find("{}"); found != std::string::npos;
             found = command.find("{}", found + script.size()))
            command.replace(found, 2, script);
        const Output output = output_of(command);
        std::error_code ignored;
        fs::remove(script, ignored);
        if (!exists(answer))
            throw std::runtime_error(fmt::format("expected an answer of the command, found none, exit status {}: {}",
                                                 output.status, last_line(output.text)));
        return read_file(answer, kMaxJsonBytes);
    };
    return run_all_in_processes(
        open.size(), jobs, run_one,
        [&](std::size_t at, const std::string& text, double seconds) {
            const std::string answer = spool.answer(tasks[open[at]].key);
            finished(open[at], text, seconds_of(text, answer));
            (void)seconds;
            std::error_code ignored;
            fs::remove(answer, ignored);
        },
        [&](std::size_t at, const std::string& message, double seconds) { failed(open[at], message, seconds); });
}

class SlurmRun {
public:
    SlurmRun(const std::vector<ExecutorTask>& tasks, const ExecutorOptions& options, const Callback& finished,
             const Callback& failed)
        : tasks_(tasks), options_(options), finished_(finished), failed_(failed), spool_(options) {}

    bool run() {
        cancel_earlier();
        for (std::size_t i = 0; i < tasks_.size(); ++i)
            if (!spool_.take(tasks_[i], i, finished_)) open_.insert(i);
        submit();
        Clock::time_point asked = Clock::now();
        while (!open_.empty()) {
            if (interrupt_requested()) {
                cancel();
                return false;
            }
            bool found = false;
            for (auto at = open_.begin(); at != open_.end();) {
                const bool ended = spool_.take(tasks_[*at], *at, finished_);
                found = found || ended;
                at = ended ? open_.erase(at) : std::next(at);
            }
            if (!found && Clock::now() - asked >= kAskSlurm) {
                look_for_dead();
                asked = Clock::now();
            }
            std::this_thread::sleep_for(kLookForAnswers);
        }
        std::error_code ignored;
        fs::remove(spool_.file("jobs"), ignored);
        return true;
    }

private:
    struct Job {
        std::string id;
        std::vector<std::size_t> tasks;  ///< by their number in the array
        int looks_after_end = 0;
    };

    /// Those of a run that was killed: their points would run twice.
    void cancel_earlier() const {
        const std::string path = spool_.file("jobs");
        if (!exists(path)) return;
        std::string ids = read_file(path, kMaxTextBytes);
        std::replace(ids.begin(), ids.end(), '\n', ' ');
        output_of("scancel " + ids);
    }

    void submit() {
        const std::vector<std::size_t> all(open_.begin(), open_.end());
        std::string ids;
        for (std::size_t first = 0; first < all.size(); first += kArrayTasks) {
            const std::size_t count = std::min(kArrayTasks, all.size() - first);
            const std::string name = std::to_string(first / kArrayTasks);
            std::string lines;
            for (std::size_t i = first; i < first + count; ++i)
                lines += fmt::format("{} {}\n", tasks_[all[i]].number, tasks_[all[i]].key);
            write_spooled(lines, spool_.file("tasks" + name));
            write_spooled(fmt::format("#!/bin/sh\nset -- $(sed -n \"$((SLURM_ARRAY_TASK_ID + 1))p\" {})\n"
                                      "exec {}\"$1\" --key \"$2\" --answer {}/\"$2\".json\n",
                                      shell_word(spool_.file("tasks" + name)), work_command(options_),
                                      shell_word(fs::path(spool_.file("x")).parent_path().string())),
                          spool_.file("job" + name + ".sh"));
            const std::string at_a_time = options_.jobs > 0 ? fmt::format("%{}", options_.jobs) : "";
            const Output output =
                output_of(fmt::format("sbatch --parsable --job-name=sy-sweep --array=0-{}{} --output={} {} {}",
                                      count - 1, at_a_time, shell_word(spool_.file("output" + name + ".%a")),
                                      options_.slurm_options, shell_word(spool_.file("job" + name + ".sh"))));
            if (output.status != 0) {
                cancel();
                throw InputError("sbatch", 0, "", last_line(output.text));
            }
            Job job;
            job.id = last_line(output.text);
            job.id = job.id.substr(0, job.id.find(';'));
            job.tasks.assign(all.begin() + static_cast<std::ptrdiff_t>(first),
                             all.begin() + static_cast<std::ptrdiff_t>(first + count));
            ids += job.id + "\n";
            jobs_.push_back(std::move(job));
            write_spooled(ids, spool_.file("jobs"));
        }
    }

    void cancel() const {
        for (const Job& job : jobs_) output_of("scancel " + job.id);
    }

    /// Tasks that Slurm has no more and that have left no answer.
    void look_for_dead() {
        for (Job& job : jobs_) {
            const Output output = output_of("squeue --noheader --array --format=%K --jobs=" + job.id);
            // A job that has ended long ago is unknown; a controller that does not answer says nothing.
            const bool unknown = output.status != 0 && output.text.find("Invalid job id") != std::string::npos;
            if (output.status != 0 && !unknown) continue;
            std::set<std::string> queued;
            for (std::size_t at = 0; !unknown && at < output.text.size();) {
                const std::size_t end = std::min(output.text.find('\n', at), output.text.size());
                queued.insert(output.text.substr(at, end - at));
                at = end + 1;
            }
            std::vector<std::size_t> dead;
            for (std::size_t i = 0; i < job.tasks.size(); ++i)
                if (open_.count(job.tasks[i]) > 0 && queued.count(std::to_string(i)) == 0) dead.push_back(i);
            job.looks_after_end = dead.empty() ? 0 : job.looks_after_end + 1;
            if (job.looks_after_end < kLooksAfterTheEnd) continue;
            job.looks_after_end = 0;
            for (const std::size_t i : dead) report_dead(job, i);
        }
    }

    void report_dead(const Job& job, std::size_t i) {
        const std::size_t index = job.tasks[i];
        if (!spool_.take(tasks_[index], index, finished_)) {
            const std::string path = spool_.file(fmt::format("output{}.{}", &job - jobs_.data(), i));
            const std::string said = exists(path) ? last_line(read_file(path, kMaxTextBytes)) : "";
            failed_(index,
                    fmt::format("task {} of Slurm's job {} ended without an answer{}{}", i, job.id,
                                said.empty() ? "" : ": ", said),
                    0);
        }
        open_.erase(index);
    }

    const std::vector<ExecutorTask>& tasks_;
    const ExecutorOptions& options_;
    const Callback& finished_;
    const Callback& failed_;
    Spool spool_;
    std::set<std::size_t> open_;
    std::vector<Job> jobs_;
};

}  // namespace

std::string shell_word(const std::string& text) {
    std::string word = "'";
    for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return word + "'";
}

bool execute(const std::vector<ExecutorTask>& tasks, const ExecutorOptions& options,
             const std::function<std::string(std::size_t)>& work, const Callback& finished, const Callback& failed) {
    if (tasks.empty()) return true;
    switch (options.kind) {
        case ExecutorOptions::Kind::slurm:
            return SlurmRun(tasks, options, finished, failed).run();
        case ExecutorOptions::Kind::command:
            return run_by_command(tasks, options, finished, failed);
        case ExecutorOptions::Kind::processes:
            break;
    }
    const unsigned jobs = options.jobs > 0 ? options.jobs : std::max(1u, std::thread::hardware_concurrency());
    return run_all_in_processes(tasks.size(), jobs, work, finished, failed);
}

}  // namespace switchyard::platform
