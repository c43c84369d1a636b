// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/apps/self_description.h"

#include <algorithm>
#include <functional>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <systemc>

namespace switchyard::platform {

namespace {

struct Command {
    std::string path;  ///< "pilot train"; empty: the program
    const CLI::App* app = nullptr;
};

void collect(const CLI::App& app, const std::string& path, std::vector<Command>& commands) {
    commands.push_back({path, &app});
    for (const CLI::App* one : app.get_subcommands([](const CLI::App*) { return true; }))
        if (!one->get_group().empty())
            collect(*one, path.empty() ? one->get_name() : path + " " + one->get_name(), commands);
}

std::vector<Command> commands_of(const CLI::App& app) {
    std::vector<Command> commands;
    collect(app, "", commands);
    return commands;
}

std::vector<std::string> subcommands_of(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* one : app.get_subcommands([](const CLI::App*) { return true; }))
        if (!one->get_group().empty()) names.push_back(one->get_name());
    return names;
}

std::vector<const CLI::Option*> options_of(const CLI::App& app) {
    std::vector<const CLI::Option*> options;
    for (const CLI::Option* one : app.get_options())
        if (!one->get_lnames().empty() || !one->get_snames().empty()) options.push_back(one);
    return options;
}

std::vector<std::string> names_of(const CLI::Option& option) {
    std::vector<std::string> names;
    for (const std::string& name : option.get_snames()) names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
    return names;
}

bool takes_value(const CLI::Option& option) {
    return option.get_items_expected_max() > 0;
}

/// "sy-sim" -> "_sy_sim".
std::string function_name(const CLI::App& app) {
    std::string name = "_" + app.get_name();
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    return text;
}

/// Lines that follow the words of the command line to the command that they name, in $command.
std::string command_cases(const std::vector<Command>& commands) {
    std::string text;
    for (const Command& one : commands)
        if (!one.path.empty())
            text += fmt::format("      '{}') command='{}' ;;\n",
                                one.path.find(' ') == std::string::npos ? " " + one.path : one.path, one.path);
    return text;
}

std::string roff(const std::string& text) {
    std::string escaped = replaced(replaced(text, "\\", "\\e"), "-", "\\-");
    escaped = replaced(escaped, "\n", " ");
    return escaped.rfind('.', 0) == 0 || escaped.rfind('\'', 0) == 0 ? "\\&" + escaped : escaped;
}

std::string roff_options(const CLI::App& app) {
    std::string text;
    for (const CLI::Option* one : app.get_options()) {
        const std::vector<std::string> names = names_of(*one);
        const std::string value = takes_value(*one) && !names.empty() ? " \\fIVALUE\\fR" : "";
        const std::string title =
            names.empty() ? fmt::format("\\fI{}\\fR", roff(one->get_name()))
                          : fmt::format("\\fB{}\\fR{}", roff(fmt::format("{}", fmt::join(names, ", "))), value);
        text += fmt::format(".TP\n{}\n{}{}\n", title, roff(one->get_description()),
                            one->get_required() ? " (required)" : "");
    }
    return text;
}

}  // namespace

std::string version_text(const std::string& program, const std::string& description) {
    return fmt::format("{} {}, SystemC {}, {}", program, description, sc_core::sc_version_string,
                       SWITCHYARD_VERILATOR_VERSION);
}

std::string bash_completion(const CLI::App& app) {
    const std::vector<Command> commands = commands_of(app);
    std::string words;
    for (const Command& one : commands) {
        std::vector<std::string> all = subcommands_of(*one.app);
        for (const CLI::Option* option : options_of(*one.app))
            for (const std::string& name : names_of(*option)) all.push_back(name);
        words += fmt::format("    '{}') all='{}' subcommands={} ;;\n", one.path, fmt::join(all, " "),
                             subcommands_of(*one.app).empty() ? "" : "yes");
    }
    return fmt::format(R"(# Completion of {0} for bash.
{1}() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} command='' all='' subcommands='' word
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$command $word" in
{2}    esac
  done
  case "$command" in
{3}  esac
  if [[ $current == -* || -n $subcommands ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$all" -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}}
complete -o filenames -o bashdefault -F {1} {0}
)",
                       app.get_name(), function_name(app), command_cases(commands), words);
}

std::string zsh_completion(const CLI::App& app) {
    const auto quoted = [](const std::string& text) { return replaced(text, "'", "'\\''"); };
    const auto in_brackets = [&](const std::string& text) {
        std::string escaped = text;
        for (const char* const c : {"[", "]", ":"}) escaped = replaced(escaped, c, std::string("\\") + c);
        return quoted(escaped);
    };
    const std::vector<Command> commands = commands_of(app);
    std::string cases;
    for (const Command& one : commands) {
        cases += fmt::format("    '{}')\n", one.path);
        const std::vector<std::string> names = subcommands_of(*one.app);
        std::string descriptions;
        for (const std::string& name : names)
            descriptions += fmt::format(" '{}:{}'", name,
                                        quoted(replaced(one.app->get_subcommand(name)->get_description(), ":", "\\:")));
        if (!names.empty()) cases += fmt::format("      all=({})\n      _describe command all\n", descriptions);
        cases += "      _arguments";
        for (const CLI::Option* option : options_of(*one.app))
            for (const std::string& name : names_of(*option))
                cases += fmt::format(" '{}[{}]{}'", name, in_brackets(option->get_description()),
                                     takes_value(*option) ? ":value:_files" : "");
        cases += names.empty() ? " '*:file:_files' ;;\n" : " ;;\n";
    }
    return fmt::format(R"(#compdef {0}
# Completion of {0} for zsh.
{1}() {{
  local command='' word
  local -a all
  for word in "${{(@)words[2,CURRENT-1]}}"; do
    case "$command $word" in
{2}    esac
  done
  case "$command" in
{3}  esac
}}
if [[ $funcstack[1] == {1} ]]; then {1} "$@"; else compdef {1} {0}; fi
)",
                       app.get_name(), function_name(app), command_cases(commands), cases);
}

std::string manual_page(const CLI::App& app) {
    std::string name = app.get_name();
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
    std::string text = fmt::format(
        ".TH {} 1 \"\" \"Switchyard\" \"User Commands\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n.B {}\n\\fICOMMAND\\fR "
        "[\\fIOPTION\\fR]...\n.SH DESCRIPTION\n{}\n.SH OPTIONS\n{}.SH COMMANDS\n",
        roff(name), roff(app.get_name()), roff(app.get_description()), roff(app.get_name()),
        roff(app.get_description()), roff_options(app));
    for (const Command& one : commands_of(app))
        if (!one.path.empty())
            text +=
                fmt::format(".SS {}\n{}\n{}", roff(one.path), roff(one.app->get_description()), roff_options(*one.app));
    return text +
           ".SH EXIT STATUS\n0: success. 1: a check failed. 2: bad input; one line on standard error says what and "
           "where. "
           "130: interrupted.\n.SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR\nIf it is set, nothing is coloured.\n"
           ".SH SEE ALSO\nThe documents in /usr/share/doc/Switchyard, docs/cli.md first.\n";
}

}  // namespace switchyard::platform
