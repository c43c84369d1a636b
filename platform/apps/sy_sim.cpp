// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
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
#include "switchyard/platform/apps/executor_options.h"
#include "switchyard/platform/apps/git_description.h"
#include "switchyard/platform/apps/link_command.h"
#include "switchyard/platform/apps/memory_command.h"
#include "switchyard/platform/apps/noc_command.h"
#include "switchyard/platform/apps/number_options.h"
#include "switchyard/platform/apps/self_description.h"
#include "switchyard/platform/apps/systems.h"
#include "switchyard/platform/apps/timeline_option.h"
#include "switchyard/platform/chip/platform_config.h"
#include "switchyard/platform/experiment/run_experiment.h"
#include "switchyard/platform/experiment/stored_run.h"
#include "switchyard/platform/system/interrupt.h"
#include "switchyard/platform/system/page.h"
#include "switchyard/platform/system/report_parts.h"
#include "switchyard/platform/systems/adyna/chip_choice.h"
#include "switchyard/platform/systems/adyna/declared_trace.h"
#include "switchyard/platform/systems/adyna/expectation.h"
#include "switchyard/platform/systems/adyna/gemm.h"
#include "switchyard/platform/systems/adyna/kernel_profile.h"
#include "switchyard/platform/systems/adyna/report.h"
#include "switchyard/platform/systems/adyna/rescheduler.h"
#include "switchyard/platform/systems/adyna/simulation.h"
#include "switchyard/platform/systems/adyna/values_report.h"
#include "switchyard/sw_scheduler/adyna/compiler/design.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/workload/route_provider.h"
#include "switchyard/sw_scheduler/workload/routing.h"

using namespace switchyard;

namespace {

constexpr int kFailedCheck = 1, kInterrupted = 130;

platform::PlatformConfig read_platform(const platform::PlatformOptions& options) {
    return platform::read_platform(options.file, platform::parse_overrides(options.settings));
}

struct RunCommand {
    platform::PlatformOptions platform;
    std::string image, trace, report, profile;
    std::string weights, inputs, outputs, expected;
    double bound = 0.05;
    std::size_t batches = 0, spot_check = 0;
    unsigned profile_interval = 0, reschedule_interval = 0;
    std::string model;
    std::optional<std::uint64_t> seed;
    platform::TimelineOption timeline;

    void add_to(CLI::App& app) {
        platform.add_to(app);
        app.add_option("--image", image, "kernel image")->required();
        app.add_option("--trace", trace,
                       "recorded routes (JSON Lines); otherwise the model's generator or trace has them");
        app.add_option("--batches", batches, "batches to run; default: all of the trace, or 40")
            ->check(platform::whole_number(1, platform::kMaxBatches));
        app.add_option("--reschedule", reschedule_interval,
                       "every N batches, compile the model again from the chip's profiles and load it; needs "
                       "--model")
            ->check(platform::whole_number(1, platform::kMaxBatches));
        app.add_option("--model", model, "model file of the image, for --reschedule");
        app.add_option("--weights", weights, "folder with the parameters (.npy); needs chip.functional");
        app.add_option("--inputs", inputs, "input batches (.npy); needs chip.functional");
        app.add_option("--outputs", outputs, "file for the network's outputs (.npy); needs chip.functional");
        app.add_option("--expect", expected, "outputs to compare with (.npy); needs chip.functional");
        app.add_option("--bound", bound,
                       "largest error that is taken for rounding, by which labels may change; exit status 1 beyond it")
            ->check(platform::number(0));
        app.add_option("--report", report, "folder for report.json, speed.json and the page index.html");
        timeline.add_to(app);
        app.add_option("--profile-every", profile_interval, "read the profilers back every N batches as well")
            ->check(platform::whole_number(1, platform::kMaxBatches));
        app.add_option("--write-profile", profile, "file for what the profilers counted: a profile for sy-sched");
        app.add_option("--seed", seed, "seed of the route generator; without effect on a trace")
            ->check(platform::whole_number(0));
        app.add_option("--spot-check", spot_check,
                       "after a run on stages, run the first N batches on tiles and print the difference")
            ->check(platform::whole_number(1, platform::kMaxBatches));
    }

    sched::Routes routes(const Image& program, const std::vector<std::uint8_t>& bytes) const {
        sched::RouteRequest request;
        request.file = image;
        request.switches = platform::signatures_of(program.meta);
        request.batch_samples = program.meta.samples_of_batch();
        request.batches = batches;
        request.seed = seed;
        request.trace = trace;
        if (trace.empty() && !request.switches.empty()) {
            if (program.meta.routing_yaml.empty())
                request.trace = platform::declared_trace(bytes, image);
            else
                request.distribution = sched::parse_distribution(program.meta.routing_yaml, request.switches, image);
        }
        sched::Routes routes = sched::provide_routes(request);
        routes.batches = joined_batches(routes.batches, program.meta.batches_in_flight, image);
        return routes;
    }

    /// Those that start N batches.
    unsigned doorbells(const Image& program, const char* option, unsigned count) const {
        const std::uint32_t together = program.meta.batches_in_flight;
        if (count % together != 0)
            throw InputError(image, 0, option,
                             fmt::format("{} batches are no whole number of times the {} in flight", count, together));
        return count / together;
    }

    /// Values are asked for on both sides or on none.
    void check_values(const platform::PlatformConfig& config) const {
        const bool given = !weights.empty() || !inputs.empty() || !outputs.empty() || !expected.empty();
        if (config.chip.functional && (weights.empty() || inputs.empty()))
            throw InputError(platform.file, 0, "chip.functional", "needs --weights and --inputs");
        if (!config.chip.functional && given)
            throw InputError(platform.file, 0, "chip.functional",
                             "is no: --weights, --inputs, --outputs and --expect need it");
    }

    /// One batch for each of the inputs, or as many as are wanted; the chip finds the routes.
    std::vector<BatchRouting> no_routes(const Image& program, const platform::NetworkValues& values) const {
        const std::uint32_t together = program.meta.batches_in_flight, there = values.batches() * together;
        if (batches > there)
            throw InputError(inputs, 0, "--batches", fmt::format("the file has {}, not {}", there, batches));
        if (batches % together != 0)
            throw InputError(inputs, 0, "--batches",
                             fmt::format("the image runs {} at a time: {} is no multiple", together, batches));
        const std::uint32_t samples = program.meta.batch_samples;
        const std::vector<std::uint64_t> none(samples, 0);
        return std::vector<BatchRouting>(batches > 0 ? batches / together : values.batches(),
                                         BatchRouting{samples, {program.meta.switches.size(), none}});
    }

    nlohmann::ordered_json values_json(const Image& program, const platform::NetworkValues& values,
                                       const std::vector<BatchRouting>& routed, const platform::RunResult& run) const {
        nlohmann::ordered_json result = {{"weights", weights}, {"inputs", inputs}};
        for (const auto& [name, crc] : run.tensors) result["tensors_crc32"][name] = crc;
        result.update(platform::compared_values(program, values.output(routed), routed, {expected, bound, trace}));
        return result;
    }

    int run() const {
        const platform::PlatformConfig config = read_platform(platform);
        check_values(config);
        timeline.check();
        platform::catch_interrupts();
        const std::vector<std::uint8_t> bytes = read_bytes(image, kMaxImageBytes);
        const Image program = platform::decode_image_for(config, bytes, image);
        sched::RoutingSource source;
        std::optional<platform::NetworkValues> values;
        std::vector<BatchRouting> routing;
        if (config.chip.functional) {
            values.emplace(program, weights, inputs);
            source.kind = "computed";
            routing = no_routes(program, *values);
        } else {
            sched::Routes found = routes(program, bytes);
            source = std::move(found.source);
            routing = std::move(found.batches);
            if (!sched::design_of(program.meta).has(sched::Mechanism::routing)) {
                source = {"every branch"};
                routing.assign(routing.size(), platform::every_branch(program.meta));
            }
        }
        platform::RunOptions options;
        options.ends_early = platform::interrupt_requested;
        options.profile_interval = doorbells(program, "--profile-every", profile_interval);
        options.values = values ? &*values : nullptr;
        if (reschedule_interval > 0 && (model.empty() || config.chip.functional))
            throw InputError(image, 0, "--reschedule",
                             config.chip.functional ? "needs chip.functional: no" : "needs --model");
        std::optional<sched::Model> network;
        std::optional<platform::Rescheduler> rescheduler;
        if (reschedule_interval > 0) {
            network = sched::read_model(model);
            if (network->graph.name != program.meta.model)
                throw InputError(model, 0, "name", "is not the image's model, " + program.meta.model);
            platform::NetworkImageOptions compiled;
            compiled.design = program.meta.design;
            compiled.without = program.meta.without;
            compiled.invocation = program.meta.invocation;
            compiled.routing = program.meta.routing;
            compiled.batches_in_flight = program.meta.batches_in_flight;
            rescheduler.emplace(*network, config, compiled, program);
            options.reschedule_interval = doorbells(program, "--reschedule", reschedule_interval);
            options.reschedule = [&](const platform::SimulatedHost::Profile& read) { return (*rescheduler)(read); };
        }
        const auto simulate = [&](const platform::PlatformConfig& chosen) {
            const platform::RunResult result = platform::run_simulation(chosen, program, bytes, routing, options);
            if (values) routing = result.host.routed;
            const std::size_t asked = routing.size();
            routing.resize(result.host.batches.size());
            nlohmann::ordered_json documents;
            documents["report"] = platform::make_report(chosen, program, routing, source, result);
            if (routing.size() < asked)
                documents["report"]["interrupted"] = {{"batches_asked", asked * program.meta.batches_in_flight}};
            if (values) documents["report"]["values"] = values_json(program, *values, routing, result);
            documents["speed"] = platform::make_speed(chosen, result);
            documents["profile"] =
                platform::kernel_profile(*result.host.phases.back().image, result.host.profiles.back());
            return documents;
        };
        const auto run_on = [&](const platform::PlatformConfig& chosen) {
            return timeline.record([&] { return simulate(chosen); });
        };
        nlohmann::ordered_json tiles;
        if (spot_check > 0 && config.chip.impl != "tiles")
            tiles = platform::report_of_tiles(config, [&](const platform::PlatformConfig& chosen) {
                routing.resize(std::min(std::max<std::size_t>(1, spot_check / program.meta.batches_in_flight),
                                        routing.size()));  // in the other process
                return simulate(chosen);
            });
        nlohmann::ordered_json documents = platform::run_on_chosen_chip(config, run_on);
        nlohmann::ordered_json& document = documents.at("report");
        if (spot_check > 0) document["validation"]["spot_check"] = platform::spot_check(document, tiles);
        FileContents files;
        if (!outputs.empty()) files.emplace_back(outputs, platform::npy_bytes(values->output(routing)));
        if (!report.empty()) {
            files.emplace_back(report + "/report.json", platform::json_text(document));
            files.emplace_back(report + "/speed.json", platform::json_text(documents.at("speed")));
            files.emplace_back(report + "/index.html",
                               platform::page_html(program.meta.model + ", " + program.meta.design,
                                                   {{"kind", "run"}, {"report", document}}));
        }
        if (!profile.empty()) files.emplace_back(profile, platform::json_text(documents.at("profile")));
        write_files(files);
        fmt::print("{}", platform::report_table(document));
        std::string message;
        if (values) {
            fmt::print("{}", platform::values_rows(document.at("values")));
            message = platform::values_error(document.at("values"));
        }
        fmt::print("{}", platform::speed_line(documents.at("speed")));
        if (!message.empty()) fmt::print(stderr, "sy-sim: {}\n", message);
        if (document.contains("interrupted")) {
            fmt::print(stderr, "sy-sim: interrupted after {} of {} batches, which the report has\n",
                       document.at("batches").size() * program.meta.batches_in_flight,
                       document.at("interrupted").at("batches_asked").get<std::size_t>());
            return kInterrupted;
        }
        return document.at("ok").get<bool>() && message.empty() ? 0 : kFailedCheck;
    }
};

struct GemmCommand {
    platform::PlatformOptions platform;
    platform::GemmSize size;
    std::string json;

    void add_to(CLI::App& app) {
        const CLI::Validator size_check = platform::whole_number(1, 0xFFFFFFFF);
        platform.add_to(app);
        app.add_option("--m", size.m, "rows of A and C")->required()->check(size_check);
        app.add_option("--n", size.n, "columns of B and C")->required()->check(size_check);
        app.add_option("--k", size.k, "columns of A, rows of B")->required()->check(size_check);
        app.add_option("--tiles", size.tiles, "use the first N tiles; default: all")->check(size_check);
        app.add_option("--json", json, "file for the result");
    }

    int run() const {
        const nlohmann::ordered_json result =
            platform::run_on_chosen_chip(read_platform(platform), [this](const platform::PlatformConfig& chosen) {
                return nlohmann::ordered_json{{platform::kReport, platform::run_gemm(chosen, size)}};
            }).at(platform::kReport);
        if (!json.empty()) platform::write_json(result, json);
        fmt::print("gemm {}x{}x{} on {} tiles of {}: {} cycles, PE utilisation {:.2f} %, HBM bandwidth {:.2f} %\n",
                   size.m, size.n, size.k, result.at("tiles").get<unsigned>(), result.at("platform").get<std::string>(),
                   result.at("cycles").get<std::uint64_t>(), 100 * result.at("utilisation").get<double>(),
                   100 * result.at("hbm_bandwidth").get<double>());
        fmt::print("{}", platform::validation_rows(result.at("validation")));
        if (result.at("ok").get<bool>()) return 0;
        fmt::print("{}", platform::check_rows(result.at("conservation")));
        return kFailedCheck;
    }
};

struct ExperimentCommand {
    std::string file, report;
    std::vector<std::string> settings;
    platform::ExperimentOptions options;
    platform::ExecutorCommandLine executor;

    void add_to(CLI::App& app) {
        app.add_option("experiment", file, "experiment file (YAML)")->required();
        app.add_option("--report", report, "folder for results.json, table.txt, plots/ and the page index.html")
            ->required();
        executor.add_to(app);
        app.add_option("--store", options.store, "SQLite file with results of points; points that it has do not run");
        app.add_flag("--retry", options.retry, "with a store: run the points that failed once more");
        app.add_flag("--quiet", options.quiet, "no progress and no table");
        app.add_option("--set", settings, "override batches, seed, or a key of the platform for all points")
            ->allow_extra_args(false)
            ->type_name("KEY=VALUE");
    }

    platform::Experiment read(const platform::SystemRegistry& registry) const {
        platform::Experiment experiment = platform::read_experiment(file, registry);
        platform::override_settings(experiment, platform::parse_overrides(settings), registry);
        return experiment;
    }

    int run(const platform::SystemRegistry& registry) {
        const platform::Experiment experiment = read(registry);
        std::vector<std::string> work = {"work", file};
        for (const std::string& setting : settings) work.insert(work.end(), {"--set", setting});
        options.executor = executor.options(options.store.empty() ? report : options.store, work);
        const bool elsewhere = options.executor.kind != platform::ExecutorOptions::Kind::processes;
        if (elsewhere && options.store.empty()) throw InputError("--executor", 0, "", "wants a --store");
        if (!options.store.empty()) {
            options.version = platform::program_hash();
            platform::catch_interrupts();
        }
        try {
            return platform::run_experiment(experiment, registry, report, options) ? 0 : kFailedCheck;
        } catch (const platform::ExperimentInterrupted& end) {
            fmt::print(stderr, "sy-sim: {}\n", end.what());
            return kInterrupted;
        }
    }
};

/// What other machines do: one point of an experiment, whose answer goes to a file.
struct WorkCommand {
    ExperimentCommand experiment;
    std::string key, answer;
    std::size_t number = 0;

    void add_to(CLI::App& app) {
        app.add_option("experiment", experiment.file, "experiment file (YAML)")->required();
        app.add_option("number", number, "of the point")->required();
        app.add_option("--key", key, "hash that the point must have")->required();
        app.add_option("--answer", answer, "file to write the answer to")->required();
        app.add_option("--set", experiment.settings, "as of the experiment")->allow_extra_args(false);
    }

    int run(const platform::SystemRegistry& registry) const {
        const auto points = points_of(experiment.read(registry), registry);
        if (number >= points.size()) throw InputError(experiment.file, 0, "", fmt::format("has no point {}", number));
        platform::answer_point(points[number].run, registry, platform::program_hash(), key, answer);
        return 0;
    }
};

struct SystemsCommand {
    std::string json;

    void add_to(CLI::App& app) { app.add_option("--json", json, "file for the list"); }

    int run(const platform::SystemRegistry& registry) const {
        nlohmann::ordered_json list = nlohmann::ordered_json::array();
        for (const auto& system : registry.systems()) {
            nlohmann::ordered_json designs = nlohmann::ordered_json::array();
            fmt::print("{}: {}\n", system->name(), system->summary());
            for (const platform::SystemDesign& design : system->designs()) {
                fmt::print("{}\n", boost::trim_right_copy(
                                       fmt::format("  {:<14}{}", design.name, fmt::join(design.parameters, " "))));
                designs.push_back({{"name", design.name}, {"parameters", design.parameters}});
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

    RunCommand run;
    CLI::App* run_command = app.add_subcommand("run", "run a kernel image and report");
    run.add_to(*run_command);

    GemmCommand gemm;
    CLI::App* gemm_command = app.add_subcommand("gemm", "run one dense matrix multiplication");
    gemm.add_to(*gemm_command);

    platform::MemoryCommand mem;
    CLI::App* mem_command = app.add_subcommand("mem", "characterise a memory: bandwidth, latency, row hits");
    mem.add_to(*mem_command);

    platform::BaselineCommand baseline;
    CLI::App* baseline_command = app.add_subcommand("baseline", "run a model on a design of the registry");
    baseline.add_to(*baseline_command, registry);
    ExperimentCommand experiment;
    CLI::App* experiment_command = app.add_subcommand("experiment", "run an experiment: many points, tables and plots");
    experiment.add_to(*experiment_command);

    WorkCommand work;
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
