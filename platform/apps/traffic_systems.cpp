// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/apps/traffic_systems.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "switchyard/platform/apps/memory_command.h"
#include "switchyard/platform/apps/noc_command.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/json_text.h"

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
class TrafficPlan : public Plan {
public:
    explicit TrafficPlan(Command command) : command_(std::move(command)) {}
    nlohmann::ordered_json run() override { return command_.report(); }

private:
    Command command_;
};

/// One command of sy-sim with its options, which has one design of the same name.
template <class Command>
class TrafficSystem : public System {
public:
    TrafficSystem(const char* name, const char* summary) : name_(name), summary_(summary) {}

    std::string name() const override { return name_; }
    std::string summary() const override { return summary_; }
    bool makes_its_load() const override { return true; }
    std::vector<SystemDesign> designs() const override {
        CLI::App app;
        Command().add_to(app);
        std::vector<std::string> options;
        for (const CLI::Option* option : app.get_options())
            for (const std::string& name : option->get_lnames())
                if (is_for_experiments(name)) options.push_back(name);
        return {{name_, options}};
    }

    std::string parameter_error(const std::string& /*design*/, const std::string& key,
                                const std::string& value) const override {
        CLI::App app;
        Command().add_to(app);
        if (!is_for_experiments(key) || app.get_option_no_throw(is_device_key(key) ? "--set" : "--" + key) == nullptr)
            return fmt::format("expected an option of the command for experiments, found {}", key);
        try {
            parsed<Command>({{key, value}});
        } catch (const CLI::ParseError& error) {
            return error.what();
        }
        return "";
    }
    void check_parameters(const Point& point) const override { resolved(point); }
    std::vector<UnusedParameter> unused_parameters(const Point& point) const override {
        return resolved(point).unused();
    }

    std::unique_ptr<Plan> prepare(const Point& point) const override {
        return std::make_unique<TrafficPlan<Command>>(resolved(point));
    }
    std::string table(const nlohmann::ordered_json& report) const override { return json_text(report, 2) + "\n"; }

private:
    static bool is_for_experiments(const std::string& option) {
        return std::find(std::begin(kNotHere), std::end(kNotHere), option) == std::end(kNotHere);
    }
    /// Throws InputError for options that do not go together.
    Command resolved(const Point& point) const {
        try {
            Command command = parsed<Command>(point.parameters);
            command.resolve();
            return command;
        } catch (const CLI::ParseError& error) {
            throw InputError(name_, 0, "", error.what());
        }
    }

    std::string name_, summary_;
};

}  // namespace

std::unique_ptr<System> make_noc_system() {
    return std::make_unique<TrafficSystem<NocCommand>>("noc", "a network under synthetic traffic");
}

std::unique_ptr<System> make_memory_system() {
    return std::make_unique<TrafficSystem<MemoryCommand>>("mem", "a memory under synthetic traffic");
}

}  // namespace switchyard::platform
