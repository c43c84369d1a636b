// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <boost/algorithm/string.hpp>
#include <nlohmann/json.hpp>
#include <systemc>

#include "switchyard/platform/apps/command_line.h"
#include "switchyard/platform/apps/compare_command.h"
#include "switchyard/platform/apps/experiment_command.h"
#include "switchyard/platform/apps/gemm_command.h"
#include "switchyard/platform/apps/git_description.h"
#include "switchyard/platform/apps/link_command.h"
#include "switchyard/platform/apps/memory_command.h"
#include "switchyard/platform/apps/noc_command.h"
#include "switchyard/platform/apps/run_command.h"
#include "switchyard/platform/apps/self_description.h"
#include "switchyard/platform/apps/systems.h"
#include "switchyard/platform/chip/platform_config.h"
#include "switchyard/platform/system/report_parts.h"
#include "switchyard/sw_scheduler/base/error.h"

using namespace switchyard;

namespace {

struct SystemsCommand {
    std::string json;

    void add_to(CLI::App& app) { app.add_option("--json", json, "file for the list"); }

    int run(const platform::SystemRegistry& registry) const {
        nlohmann::ordered_json list = nlohmann::ordered_json::array();
        for (const auto& system : registry.systems()) {
            nlohmann::ordered_json designs = nlohmann::ordered_json::array();
            fmt::print("{}: {}\n", system->name(), system->summary());
            for (const platform::SystemDesign& design : system->designs()) {
                std::vector<std::string> work;
                for (const platform::WorkKey key : design.work) work.emplace_back(name_of(key));
                fmt::print("{}\n", boost::trim_right_copy(
                                       fmt::format("  {:<14}{}", design.name, fmt::join(design.parameters, " "))));
                if (!work.empty()) fmt::print("  {:<14}work: {}\n", "", fmt::join(work, " "));
                designs.push_back({{"name", design.name}, {"parameters", design.parameters}, {"work", work}});
            }
            list.push_back({{"name", system->name()}, {"summary", system->summary()}, {"designs", designs}});
        }
        if (!json.empty())
            platform::write_json({{"format", "switchyard-systems"}, {"version", 1}, {"systems", list}}, json);
        return 0;
    }
};

/// Prints the pages of docs/ that list keys.
struct KeysCommand {
    std::string which = "chip";

    void add_to(CLI::App& app) {
        app.add_option("which", which, "chip: docs/platform_keys.md (default); systems: docs/system_keys.md")
            ->check(CLI::IsMember({"chip", "systems"}));
    }
    int run(const platform::SystemRegistry& registry) const {
        fmt::print("{}", which == "chip" ? platform::platform_keys_markdown() : system_keys_markdown(registry));
        return 0;
    }
};

/// The command that `run --workload` has replaced, with whatever it was given.
CLI::App* add_baseline(CLI::App& app) {
    CLI::App* const command = app.add_subcommand("baseline", "")->group("");
    command->allow_extras();
    return command;
}

int refuse_baseline() {
    throw InputError("baseline", 0, "",
                     "expected a command of sy-sim, found one that is gone; use sy-sim run --platform FILE --workload "
                     "FILE --design DESIGN");
}

}  // namespace

/// Debian's SystemC library asks for this symbol; the program has a main of its own.
int sc_main(int, char**) {
    return 0;
}

int main(int argc, char** argv) {
    CLI::App app("Runs dynamic networks on simulated accelerators.", "sy-sim");
    app.require_subcommand(1);
    app.set_version_flag("--version", platform::version_text("sy-sim", platform::git_description()));
    const platform::SystemRegistry registry = platform::all_systems();

    platform::RunCommand run;
    CLI::App* run_command = app.add_subcommand("run", "run a kernel image, or a workload on a design, and report");
    run.add_to(*run_command);

    platform::GemmCommand gemm;
    CLI::App* gemm_command = app.add_subcommand("gemm", "run one dense matrix multiplication");
    gemm.add_to(*gemm_command);

    platform::MemoryCommand mem;
    CLI::App* mem_command = app.add_subcommand("mem", "characterise a memory: bandwidth, latency, row hits");
    mem.add_to(*mem_command);

    platform::ExperimentCommand experiment;
    CLI::App* experiment_command = app.add_subcommand("experiment", "run an experiment: many points, tables and plots");
    experiment.add_to(*experiment_command);

    platform::WorkCommand work;
    CLI::App* work_command = app.add_subcommand("work", "run one point for an experiment on another machine");
    work.add_to(*work_command);

    platform::CompareCommand compare;
    CLI::App* compare_command = app.add_subcommand("compare", "write a page with reports side by side");
    compare.add_to(*compare_command);

    platform::NocCommand noc;
    CLI::App* noc_command = app.add_subcommand("noc", "characterise a network under synthetic traffic");
    noc.add_to(*noc_command);

    platform::LinkCommand link;
    CLI::App* link_command = app.add_subcommand("link", "characterise links between devices: messages and collectives");
    link.add_to(*link_command);

    SystemsCommand systems;
    CLI::App* systems_command = app.add_subcommand("systems", "list systems, designs and their parameters");
    systems.add_to(*systems_command);
    KeysCommand keys;
    CLI::App* keys_command = app.add_subcommand("keys", "print the keys of platform files");
    keys.add_to(*keys_command);
    CLI::App* registers_command = app.add_subcommand("registers", "print docs/registers.md");
    CLI::App* baseline_command = add_baseline(app);

    return platform::run_program(app, argc, argv, [&] {
        if (run_command->parsed()) return run.run(registry);
        if (gemm_command->parsed()) return gemm.run();
        if (mem_command->parsed()) return mem.run();
        if (baseline_command->parsed()) return refuse_baseline();
        if (experiment_command->parsed()) return experiment.run(registry);
        if (work_command->parsed()) return work.run(registry);
        if (compare_command->parsed()) return compare.run();
        if (noc_command->parsed()) return noc.run();
        if (link_command->parsed()) return link.run();
        if (systems_command->parsed()) return systems.run(registry);
        if (keys_command->parsed()) return keys.run(registry);
        if (registers_command->parsed()) fmt::print("{}", platform::register_map_markdown());
        return 0;
    });
}
