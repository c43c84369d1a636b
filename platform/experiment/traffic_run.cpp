// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/experiment/traffic_run.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "switchyard/platform/apps/memory_command.h"
#include "switchyard/platform/apps/noc_command.h"
#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::platform {
namespace {

/// They print, or write a file that another point would write too.
constexpr const char* kNotHere[] = {"help", "json", "commands", "heat-map", "keys", "set"};

bool is_device_key(const std::string& name) {
    return name.find('.') != std::string::npos;
}

/// The command with these options. Throws CLI::ParseError.
template <class Command>
Command parsed(const std::map<std::string, std::string>& options) {
    Command command;
    CLI::App app;
    command.add_to(app);
    std::vector<std::string> words;
    words.reserve(options.size());
    for (const auto& [name, value] : options)
        words.push_back(fmt::format("--{}{}={}", is_device_key(name) ? "set=" : "", name, value));
    app.parse(std::move(words));
    return command;
}

template <class Command>
std::string validation_error(const std::string& name, const std::string& value) {
    CLI::App app;
    Command().add_to(app);
    const bool here = std::find(std::begin(kNotHere), std::end(kNotHere), name) == std::end(kNotHere);
    if (!here || app.get_option_no_throw(is_device_key(name) ? "--set" : "--" + name) == nullptr)
        return "is no option of the command for experiments";
    try {
        parsed<Command>({{name, value}});
    } catch (const CLI::ParseError& error) {
        return error.what();
    }
    return "";
}

template <class Command>
Command resolved(const TrafficPoint& point) {
    try {
        Command command = parsed<Command>(point.options);
        command.resolve();
        return command;
    } catch (const CLI::ParseError& error) {
        throw InputError(point.command, 0, "", error.what());
    }
}

}  // namespace

std::string option_error(const std::string& command, const std::string& name, const std::string& value) {
    return command == "noc" ? validation_error<NocCommand>(name, value) : validation_error<MemoryCommand>(name, value);
}

void check_traffic(const TrafficPoint& point) {
    if (point.command == "noc")
        resolved<NocCommand>(point);
    else
        resolved<MemoryCommand>(point);
}

nlohmann::ordered_json run_traffic(const TrafficPoint& point) {
    return point.command == "noc" ? resolved<NocCommand>(point).report() : resolved<MemoryCommand>(point).report();
}

}  // namespace switchyard::platform
