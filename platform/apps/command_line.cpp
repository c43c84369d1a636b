// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/apps/command_line.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <systemc>

#include "switchyard/platform/apps/exit_status.h"
#include "switchyard/platform/apps/huge_pages.h"
#include "switchyard/platform/apps/self_description.h"
#include "switchyard/platform/system/interrupt.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/base/replaceable.h"
#include "switchyard/sw_scheduler/base/suggestion.h"

namespace switchyard::platform {

namespace {

constexpr int kBadInput = 2;
constexpr const char* kNoMemory = "there is not enough memory";
constexpr const char* kUnchecked =
    "an input has a number out of its range, which no check has found; please report this with the files";

/// Only for people: on a terminal, and not where they have said no (no-color.org).
bool is_coloured(int descriptor) {
    const char* const no_colour = std::getenv("NO_COLOR");
    const char* const terminal = std::getenv("TERM");
    const bool dumb = terminal != nullptr && std::strcmp(terminal, "dumb") == 0;
    return isatty(descriptor) == 1 && !dumb && (no_colour == nullptr || *no_colour == '\0');
}

int complain(const std::string& program, std::string message) {
    std::replace(message.begin(), message.end(), '\n', ' ');
    const bool coloured = is_coloured(STDERR_FILENO);
    fmt::print(stderr, "{}{}:{} {}\n", coloured ? "\x1b[1;31m" : "", program, coloured ? "\x1b[0m" : "", message);
    return kBadInput;
}

/// Every command that has no such option of its own.
void add_quiet(CLI::App& app, bool& quiet) {
    const std::vector<CLI::App*> commands = app.get_subcommands([](CLI::App*) { return true; });
    for (CLI::App* const command : commands) add_quiet(*command, quiet);
    if (commands.empty() && app.get_option_no_throw("--quiet") == nullptr)
        app.add_flag("--quiet", quiet, "print nothing but errors");
}

/// Options that name what a command writes, and the files of a folder among them.
const std::map<std::string, std::vector<std::string>>& output_options() {
    static const std::map<std::string, std::vector<std::string>> kOptions{
        {"output", {""}},
        {"json", {""}},
        {"timeline", {""}},
        {"outputs", {""}},
        {"write-profile", {""}},
        {"commands", {""}},
        {"answer", {""}},
        {"report", {"/report.json", "/speed.json", "/index.html", "/results.json", "/table.txt"}},
        {"store", {}}};
    return kOptions;
}

/// The files of an option of the command line, if it names what is written. A flag --json writes no file.
const std::vector<std::string>* written_by(const CLI::Option& option) {
    if (option.get_expected_max() == 0) return nullptr;
    for (const std::string& name : option.get_lnames())
        if (const auto found = output_options().find(name); found != output_options().end()) return &found->second;
    return nullptr;
}

/// --force of every command that writes files.
void add_force(CLI::App& app, bool& force) {
    for (CLI::App* const command : app.get_subcommands([](CLI::App*) { return true; })) add_force(*command, force);
    bool writes = false;
    for (const CLI::Option* const option : app.get_options()) writes = writes || written_by(*option) != nullptr;
    if (writes) app.add_flag("--force", force, "replace files that no program of Switchyard has written");
}

/// Before a command begins to work, which may take hours: what it cannot write.
void check_outputs(const CLI::App& app) {
    for (const CLI::App* const command : app.get_subcommands()) check_outputs(*command);
    for (const CLI::Option* const option : app.get_options()) {
        const std::vector<std::string>* const files = written_by(*option);
        if (files == nullptr) continue;
        for (const std::string& path : option->results())
            for (const std::string& file : *files) check_replaceable(path + file);
    }
}

/// `completion` and `man`, which every program has.
class SelfDescription {
public:
    explicit SelfDescription(CLI::App& app) {
        completion_ = app.add_subcommand("completion", "print the completion of a shell");
        completion_->add_option("shell", shell_, "bash or zsh")->required()->check(CLI::IsMember({"bash", "zsh"}));
        manual_ = app.add_subcommand("man", "print the manual page");
    }
    bool parsed() const { return completion_->parsed() || manual_->parsed(); }
    int run(const CLI::App& app) const {
        fmt::print("{}", manual_->parsed()  ? manual_page(app)
                         : shell_ == "bash" ? bash_completion(app)
                                            : zsh_completion(app));
        return 0;
    }

private:
    CLI::App *completion_, *manual_;
    std::string shell_;
};

std::string unwritable() {
    return std::string("cannot be written") + (errno == 0 ? "" : std::string(": ") + std::strerror(errno));
}

/// What is wrong with a command line that CLI11 has refused: the first command or option that is not there, or what
/// CLI11 says. It looks for what is required first, and would ask for --platform where --platfrom was given.
std::string refusal_of(const CLI::App& app, int argc, char** argv, const std::string& otherwise) {
    const CLI::App* command = &app;
    std::string path = app.get_name();
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        std::vector<std::string> names;
        if (word.rfind("--", 0) != 0) {
            for (const CLI::App* one : command->get_subcommands({})) names.push_back(one->get_name());
            if (names.empty()) continue;
            if (std::find(names.begin(), names.end(), word) == names.end())
                return fmt::format("{}: unknown command of {}; known commands: {}{}", word, path,
                                   fmt::join(names, ", "), suggestion(word, names));
            command = command->get_subcommand(word);
            path += " " + word;
            continue;
        }
        const std::string name = word.substr(0, word.find('='));
        if (name == "--") break;
        if (const CLI::Option* const option = command->get_option_no_throw(name)) {
            if (name == word) i += option->get_expected_min();  // its value may look like an option
            continue;
        }
        for (const CLI::Option* option : command->get_options())
            for (const std::string& known : option->get_lnames()) names.push_back("--" + known);
        const std::string nearest = suggestion(name, names);
        return fmt::format("{}: unknown option of {}{}", name, path,
                           nearest.empty() ? fmt::format("; {} --help lists them", path) : nearest);
    }
    return otherwise;
}

}  // namespace

std::map<std::string, std::string> parse_overrides(const std::vector<std::string>& texts) {
    std::map<std::string, std::string> overrides;
    for (const std::string& text : texts) {
        const std::size_t equals = text.find('=');
        if (equals == std::string::npos || equals == 0)
            throw InputError("--set", 0, text, "expected section.key=value, found nothing of this form");
        const std::string key = text.substr(0, equals);
        if (!overrides.emplace(key, text.substr(equals + 1)).second)
            throw InputError("--set", 0, key, "expected the key once, found it twice");
    }
    return overrides;
}

void PlatformOptions::add_to(CLI::App& command) {
    command.add_option("--platform", file, "platform description (YAML)")->required();
    command.add_option("--set", settings, "override a key of the platform: section.key=value")
        ->allow_extra_args(false)
        ->type_name("KEY=VALUE");
}

PlatformConfig PlatformOptions::read() const {
    return read_platform(file, parse_overrides(settings));
}

int run_program(CLI::App& app, int argc, char** argv, const std::function<int()>& work) {
    prefer_huge_pages();
    const std::string program = app.get_name();
    // A file that gets too large is an error of write(), not the end of the process.
    std::signal(SIGXFSZ, SIG_IGN);
    bool quiet = false, force = false;
    try {
        add_quiet(app, quiet);
        add_force(app, force);
        const SelfDescription self(app);
        app.parse(argc, argv);
        if (quiet && std::freopen("/dev/null", "w", stdout) == nullptr)
            throw InputError("/dev/null", 0, "", unwritable());
        set_replaceable(force ? Existing::any : Existing::ours);
        check_outputs(app);
        const int status = self.parsed() ? self.run(app) : work();
        errno = 0;
        if (std::fflush(stdout) != 0) throw InputError("standard output", 0, "", unwritable());
        return status;
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) return app.exit(error);  // --help
        return complain(program, refusal_of(app, argc, argv, error.what()));
    } catch (const sc_core::sc_report& report) {
        const std::string message = report.get_msg();
        const bool memory = message.find("std::bad_alloc") != std::string::npos;  // thrown in a simulated process
        return complain(program, memory ? kNoMemory : message);
    } catch (const std::bad_alloc&) {
        return complain(program, kNoMemory);
    } catch (const Interrupted& end) {
        complain(program, end.what());
        return kInterrupted;
    } catch (const std::filesystem::filesystem_error& error) {
        return complain(program, fmt::format("{}: cannot be used: {}", error.path1().string(), error.code().message()));
    } catch (const std::system_error& error) {
        if (std::ferror(stdout) == 0) return complain(program, error.code().message());
        return complain(program, "standard output: " + unwritable());
    } catch (const std::out_of_range&) {
        return complain(program, kUnchecked);
    } catch (const std::length_error&) {
        return complain(program, kUnchecked);
    } catch (const std::exception& error) {
        return complain(program, error.what());
    }
}

}  // namespace switchyard::platform
