// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <boost/algorithm/string.hpp>
#include <nlohmann/json.hpp>
#include <systemc>

#include "switchyard/platform/apps/baseline_command.h"
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

}  // namespace

/// Debian's SystemC library asks for this symbol; the program has a main of its own.
int sc_main(int, char**) {
    return 0;
}

int main(int argc, char** argv) {
    CLI::App app("Runs kernel images on a simulated accelerator.", "sy-sim");
    app.require_subcommand(1);
    app.set_version_flag("--version", platform::version_text("sy-sim", platform::git_description()));
    const platform::SystemRegistry registry = platform::all_systems();

    platform::RunCommand run;
    CLI::App* run_command = app.add_subcommand("run", "run a kernel image and report");
    run.add_to(*run_command);

    platform::GemmCommand gemm;
    CLI::App* gemm_command = app.add_subcommand("gemm", "run one dense matrix multiplication");
    gemm.add_to(*gemm_command);

    platform::MemoryCommand mem;
    CLI::App* mem_command = app.add_subcommand("mem", "characterise a memory: bandwidth, latency, row hits");
    mem.add_to(*mem_command);

    platform::BaselineCommand baseline;
    CLI::App* baseline_command = app.add_subcommand("baseline", "run a model on a design of the registry");
    baseline.add_to(*baseline_command, registry);
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
    CLI::App* keys_command = app.add_subcommand("keys", "print docs/platform_keys.md");
    CLI::App* registers_command = app.add_subcommand("registers", "print docs/registers.md");

    return platform::run_program(app, argc, argv, [&] {
        if (run_command->parsed()) return run.run();
        if (gemm_command->parsed()) return gemm.run();
        if (mem_command->parsed()) return mem.run();
        if (baseline_command->parsed()) return baseline.run(registry);
        if (experiment_command->parsed()) return experiment.run(registry);
        if (work_command->parsed()) return work.run(registry);
        if (compare_command->parsed()) return compare.run();
        if (noc_command->parsed()) return noc.run();
        if (link_command->parsed()) return link.run();
        if (systems_command->parsed()) return systems.run(registry);
        if (keys_command->parsed()) fmt::print("{}", platform::platform_keys_markdown());
        if (registers_command->parsed()) fmt::print("{}", platform::register_map_markdown());
        return 0;
    });
}
