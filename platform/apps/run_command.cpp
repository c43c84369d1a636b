// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/apps/run_command.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "switchyard/platform/apps/exit_status.h"
#include "switchyard/platform/apps/number_options.h"
#include "switchyard/platform/system/interrupt.h"
#include "switchyard/platform/system/page.h"
#include "switchyard/platform/system/report_parts.h"
#include "switchyard/platform/system/system.h"
#include "switchyard/platform/systems/adyna/accepted_image.h"
#include "switchyard/platform/systems/adyna/chip_choice.h"
#include "switchyard/platform/systems/adyna/declared_trace.h"
#include "switchyard/platform/systems/adyna/expectation.h"
#include "switchyard/platform/systems/adyna/kernel_profile.h"
#include "switchyard/platform/systems/adyna/report.h"
#include "switchyard/platform/systems/adyna/rescheduler.h"
#include "switchyard/sw_scheduler/adyna/compiler/design.h"
#include "switchyard/sw_scheduler/adyna/image/image_file.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/workload/routing.h"

namespace switchyard::platform {

void RunCommand::add_to(CLI::App& app) {
    given_options.watch(app);
    platform.add_to(app);
    app.add_option("--image", image, "kernel image")->required();
    app.add_option("--trace", trace, "recorded routes (JSON Lines); otherwise the model's generator or trace has them");
    app.add_option("--batches", batches, "batches to run; default: all of the trace, or 40")
        ->check(whole_number(1, kMaxBatches));
    app.add_option("--reschedule", reschedule_interval,
                   "every N batches, compile the model again from the chip's profiles and load it; needs "
                   "--model")
        ->check(whole_number(1, kMaxBatches));
    app.add_option("--model", model, "model file of the image, for --reschedule");
    app.add_option("--weights", weights, "folder with the parameters (.npy); needs chip.functional");
    app.add_option("--inputs", inputs, "input batches (.npy); needs chip.functional");
    app.add_option("--outputs", outputs, "file for the network's outputs (.npy); needs chip.functional");
    app.add_option("--expect", expected, "outputs to compare with (.npy); needs chip.functional");
    app.add_option("--bound", bound,
                   "largest error that is taken for rounding, by which labels may change; exit status 1 beyond it")
        ->check(number(0));
    app.add_option("--report", report, "folder for report.json, speed.json and the page index.html");
    timeline.add_to(app);
    app.add_option("--profile-every", profile_interval, "read the profilers back every N batches as well")
        ->check(whole_number(1, kMaxBatches));
    app.add_option("--write-profile", profile, "file for what the profilers counted: a profile for sy-sched");
    app.add_option("--seed", seed, "seed of the route generator; without effect on a trace")->check(whole_number(0));
    app.add_option("--spot-check", spot_check,
                   "after a run on stages, run the first N batches on tiles and print the difference")
        ->check(whole_number(1, kMaxBatches));
}

sched::Routes RunCommand::routes(const Image& program, const std::vector<std::uint8_t>& bytes) const {
    sched::RouteRequest request;
    request.file = image;
    request.switches = signatures_of(program.meta);
    request.batch_samples = program.meta.samples_of_batch();
    request.batches = batches;
    request.seed = seed;
    request.trace = trace;
    if (trace.empty() && !request.switches.empty()) {
        if (program.meta.routing_yaml.empty())
            request.trace = declared_trace(bytes, image);
        else
            request.distribution = sched::parse_distribution(program.meta.routing_yaml, request.switches, image);
    }
    sched::Routes routes = sched::provide_routes(request);
    routes.batches = joined_batches(routes.batches, program.meta.batches_in_flight, image);
    return routes;
}

unsigned RunCommand::doorbells(const Image& program, const char* option, unsigned count) const {
    const std::uint32_t together = program.meta.batches_in_flight;
    if (count % together != 0)
        throw InputError(image, 0, option,
                         fmt::format("expected a multiple of the {} batches in flight, found {}", together, count));
    return count / together;
}

void RunCommand::refuse_unused(const PlatformConfig& config) const {
    given_options.refuse_unused({{"model", reschedule_interval > 0, "goes with --reschedule"},
                                 {"bound", !expected.empty(), "goes with --expect"},
                                 {"seed", !config.chip.functional && trace.empty(),
                                  "goes with generated routes, without --trace and with chip.functional: no"},
                                 {"spot-check", config.chip.impl != "tiles", "goes with chip.impl: auto or stages"}});
}

void RunCommand::check_values(const PlatformConfig& config) const {
    const bool given = !weights.empty() || !inputs.empty() || !outputs.empty() || !expected.empty();
    if (config.chip.functional && (weights.empty() || inputs.empty()))
        throw InputError(platform.file, 0, "chip.functional",
                         "expected --weights and --inputs, found one or none of them");
    if (!config.chip.functional && given)
        throw InputError(platform.file, 0, "chip.functional",
                         "expected yes for --weights, --inputs, --outputs and --expect, found no");
}

std::vector<BatchRouting> RunCommand::no_routes(const Image& program, const NetworkValues& values) const {
    const std::uint32_t together = program.meta.batches_in_flight, there = values.batches() * together;
    if (batches > there)
        throw InputError(inputs, 0, "--batches", fmt::format("expected {} in the file, found {}", batches, there));
    if (batches % together != 0)
        throw InputError(inputs, 0, "--batches",
                         fmt::format("expected a multiple of {}, the batches that the image runs at a time, found {}",
                                     together, batches));
    const std::uint32_t samples = program.meta.batch_samples;
    const std::vector<std::uint64_t> none(samples, 0);
    return std::vector<BatchRouting>(batches > 0 ? batches / together : values.batches(),
                                     BatchRouting{samples, {program.meta.switches.size(), none}});
}

nlohmann::ordered_json RunCommand::values_json(const Image& program, const NetworkValues& values,
                                               const std::vector<BatchRouting>& routed, const RunResult& run,
                                               const ReadExpectation& expectation) const {
    nlohmann::ordered_json result = {{"weights", weights}, {"inputs", inputs}};
    for (const auto& [name, crc] : run.tensors) result["tensors_crc32"][name] = crc;
    result.update(compared_values(program, values.output(routed), routed, expectation));
    return result;
}

int RunCommand::run() const {
    const PlatformConfig config = platform.read();
    check_values(config);
    refuse_unused(config);
    timeline.check();
    catch_interrupts();
    const std::vector<std::uint8_t> bytes = read_image_bytes(image);
    const Image program = decode_image_for(config, bytes, image);
    sched::RoutingSource source;
    std::optional<NetworkValues> values;
    ReadExpectation expectation;
    std::vector<BatchRouting> routing;
    if (config.chip.functional) {
        values.emplace(program, weights, inputs);
        source.kind = "computed";
        routing = no_routes(program, *values);
        expectation = read_expectation(program, *values, routing.size(), {expected, bound, trace});
    } else {
        sched::Routes found = routes(program, bytes);
        source = std::move(found.source);
        routing = std::move(found.batches);
        if (!sched::design_of(program.meta).has(sched::Mechanism::routing)) {
            source = {"every branch"};
            routing.assign(routing.size(), every_branch(program.meta));
        }
        if (seed && source.kind != sched::kGenerator)
            throw InputError(
                image, 0, "--seed",
                fmt::format("expected no seed for {}, whose routes, {}, are not drawn, found one; leave it out",
                            program.meta.model, source.kind));
    }
    RunOptions options;
    options.ends_early = interrupt_requested;
    options.profile_interval = doorbells(program, "--profile-every", profile_interval);
    options.values = values ? &*values : nullptr;
    if (reschedule_interval > 0 && (model.empty() || config.chip.functional))
        throw InputError(image, 0, "--reschedule",
                         config.chip.functional ? "expected chip.functional: no, found yes"
                                                : "expected --model beside it, found none");
    std::optional<sched::Model> network;
    std::optional<Rescheduler> rescheduler;
    if (reschedule_interval > 0) {
        network = sched::read_model(model);
        if (network->graph.name != program.meta.model)
            throw InputError(model, 0, "name", "expected the image's model, " + program.meta.model + ", found another");
        NetworkImageOptions compiled;
        compiled.design = program.meta.design;
        compiled.without = program.meta.without;
        compiled.invocation = program.meta.invocation;
        compiled.routing = program.meta.routing;
        compiled.batches_in_flight = program.meta.batches_in_flight;
        rescheduler.emplace(*network, config, compiled, program);
        options.reschedule_interval = doorbells(program, "--reschedule", reschedule_interval);
        options.reschedule = [&](const SimulatedHost::Profile& read) { return (*rescheduler)(read); };
    }
    const auto simulate = [&](const PlatformConfig& chosen) {
        const RunResult result = run_simulation(chosen, program, bytes, routing, options);
        if (values) routing = result.host.routed;
        const std::size_t asked = routing.size();
        routing.resize(result.host.batches.size());
        nlohmann::ordered_json documents;
        documents["report"] = make_report(chosen, program, routing, source, result);
        if (routing.size() < asked)
            documents["report"]["interrupted"] = {{"batches_asked", asked * program.meta.batches_in_flight}};
        if (values) documents["report"]["values"] = values_json(program, *values, routing, result, expectation);
        documents["speed"] = make_speed(chosen, result);
        documents["profile"] = kernel_profile(*result.host.phases.back().image, result.host.profiles.back());
        return documents;
    };
    const auto run_on = [&](const PlatformConfig& chosen) { return timeline.record([&] { return simulate(chosen); }); };
    nlohmann::ordered_json tiles;
    if (spot_check > 0 && config.chip.impl != "tiles")
        tiles = report_of_tiles(config, [&](const PlatformConfig& chosen) {
            routing.resize(std::min(std::max<std::size_t>(1, spot_check / program.meta.batches_in_flight),
                                    routing.size()));  // in the other process
            return simulate(chosen);
        });
    nlohmann::ordered_json documents = run_on_chosen_chip(config, run_on);
    nlohmann::ordered_json& document = documents.at("report");
    if (spot_check > 0) document["validation"]["spot_check"] = platform::spot_check(document, tiles);
    FileContents files;
    if (!outputs.empty()) files.emplace_back(outputs, npy_bytes(values->output(routing)));
    if (!report.empty()) {
        files.emplace_back(report + "/report.json", document_text(document));
        files.emplace_back(report + "/speed.json", document_text(documents.at("speed")));
        files.emplace_back(report + "/index.html", page_html(program.meta.model + ", " + program.meta.design,
                                                             {{"kind", "run"}, {"report", document}}));
    }
    if (!profile.empty()) files.emplace_back(profile, document_text(documents.at("profile")));
    write_files(files);
    fmt::print("{}", report_table(document));
    std::string message;
    if (values) {
        fmt::print("{}", values_rows(document.at("values")));
        message = values_error(document.at("values"));
    }
    fmt::print("{}", speed_line(documents.at("speed")));
    if (!message.empty()) fmt::print(stderr, "sy-sim: {}\n", message);
    if (document.contains("interrupted")) {
        fmt::print(stderr, "sy-sim: interrupted after {} of {} batches, which the report has\n",
                   document.at("batches").size() * program.meta.batches_in_flight,
                   document.at("interrupted").at("batches_asked").get<std::size_t>());
        return kInterrupted;
    }
    return document.at("ok").get<bool>() && message.empty() ? 0 : kFailedCheck;
}

}  // namespace switchyard::platform
