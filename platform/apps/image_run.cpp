// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/apps/image_run.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "switchyard/platform/apps/exit_status.h"
#include "switchyard/platform/apps/number_options.h"
#include "switchyard/platform/chip/platform_config.h"
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
#include "switchyard/platform/systems/adyna/simulation.h"
#include "switchyard/platform/systems/adyna/values_report.h"
#include "switchyard/sw_scheduler/adyna/compiler/design.h"
#include "switchyard/sw_scheduler/adyna/image/image_file.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/workload/route_provider.h"
#include "switchyard/sw_scheduler/workload/routing.h"

namespace switchyard::platform {

namespace {

/// A run on the way from its files to its report. The simulation refers to it, so it stays where it is.
class ImageJob {
public:
    /// Reads and checks everything that the run depends on. The arguments must outlive the job. Throws InputError.
    ImageJob(const ImageRun& options, const WorkOptions& work, const PlatformConfig& config);
    ImageJob(const ImageJob&) = delete;
    ImageJob& operator=(const ImageJob&) = delete;
    ~ImageJob() = default;

    /// The documents "report", "speed" and "profile".
    nlohmann::ordered_json simulate();
    void write(const nlohmann::ordered_json& documents) const;
    /// Prints what the run found. The exit status.
    int print(const nlohmann::ordered_json& documents) const;

private:
    void read_values();
    void read_routes();
    sched::Routes routes() const;
    /// One batch for each of the inputs, or the batches that are asked for; the chip finds the routes.
    std::vector<BatchRouting> no_routes() const;
    void prepare_rescheduling();
    /// Doorbells that start `count` batches. Throws InputError if it is no whole number.
    unsigned doorbells(const char* option, unsigned count) const;
    nlohmann::ordered_json simulate_on(const PlatformConfig& chosen);
    nlohmann::ordered_json values_json(const RunResult& run) const;

    const ImageRun& options_;
    const WorkOptions& work_;
    const PlatformConfig& config_;
    std::vector<std::uint8_t> bytes_;
    Image program_;
    sched::RoutingSource source_;
    std::optional<NetworkValues> values_;
    ReadExpectation expectation_;
    std::vector<BatchRouting> routing_;
    RunOptions run_;
    std::optional<sched::Model> network_;
    std::optional<Rescheduler> rescheduler_;
};

ImageJob::ImageJob(const ImageRun& options, const WorkOptions& work, const PlatformConfig& config)
    : options_(options),
      work_(work),
      config_(config),
      bytes_(read_image_bytes(options.image)),
      program_(decode_image_for(config, bytes_, options.image)) {
    if (config.chip.functional)
        read_values();
    else
        read_routes();
    run_.ends_early = interrupt_requested;
    run_.profile_interval = doorbells("--profile-every", options.profile_interval);
    run_.values = values_ ? &*values_ : nullptr;
    if (options.reschedule_interval > 0) prepare_rescheduling();
}

void ImageJob::read_values() {
    values_.emplace(program_, options_.weights, options_.inputs);
    source_.kind = "computed";
    routing_ = no_routes();
    expectation_ =
        read_expectation(program_, *values_, routing_.size(), {options_.expected, options_.bound, work_.trace});
}

void ImageJob::read_routes() {
    sched::Routes found = routes();
    source_ = std::move(found.source);
    routing_ = std::move(found.batches);
    if (!sched::design_of(program_.meta).has(sched::Mechanism::routing)) {
        source_ = {"every branch"};
        routing_.assign(routing_.size(), every_branch(program_.meta));
    }
    if (work_.seed && source_.kind != sched::kGenerator)
        throw InputError(
            options_.image, 0, "--seed",
            fmt::format("expected no seed for {}, whose routes, {}, are not drawn, found one; leave it out",
                        program_.meta.model, source_.kind));
}

sched::Routes ImageJob::routes() const {
    sched::RouteRequest request;
    request.file = options_.image;
    request.switches = signatures_of(program_.meta);
    request.batch_samples = program_.meta.samples_of_batch();
    request.batches = work_.batches;
    request.seed = work_.seed;
    request.trace = work_.trace;
    if (work_.trace.empty() && !request.switches.empty()) {
        if (program_.meta.routing_yaml.empty())
            request.trace = declared_trace(bytes_, options_.image);
        else
            request.distribution =
                sched::parse_distribution(program_.meta.routing_yaml, request.switches, options_.image);
    }
    sched::Routes routes = sched::provide_routes(request);
    routes.batches = joined_batches(routes.batches, program_.meta.batches_in_flight, options_.image);
    return routes;
}

std::vector<BatchRouting> ImageJob::no_routes() const {
    const std::uint32_t together = program_.meta.batches_in_flight, there = values_->batches() * together;
    if (work_.batches > there)
        throw InputError(options_.inputs, 0, "--batches",
                         fmt::format("expected at most {}, the batches in the file, found {}", there, work_.batches));
    if (work_.batches % together != 0)
        throw InputError(options_.inputs, 0, "--batches",
                         fmt::format("expected a multiple of {}, the batches that the image runs at a time, found {}",
                                     together, work_.batches));
    const std::uint32_t samples = program_.meta.batch_samples;
    const std::vector<std::uint64_t> none(samples, 0);
    return std::vector<BatchRouting>(work_.batches > 0 ? work_.batches / together : values_->batches(),
                                     BatchRouting{samples, {program_.meta.switches.size(), none}});
}

void ImageJob::prepare_rescheduling() {
    if (config_.chip.functional)
        throw InputError(options_.image, 0, "--reschedule", "expected chip.functional: no, found yes");
    if (options_.model.empty())
        throw InputError(options_.image, 0, "--reschedule", "expected the image's model, found none; add --model FILE");
    network_ = sched::read_model(options_.model);
    if (network_->graph.name != program_.meta.model)
        throw InputError(
            options_.model, 0, "name",
            fmt::format("expected the image's model, {}, found {}", program_.meta.model, network_->graph.name));
    NetworkImageOptions compiled;
    compiled.design = program_.meta.design;
    compiled.without = program_.meta.without;
    compiled.invocation = program_.meta.invocation;
    compiled.routing = program_.meta.routing;
    compiled.batches_in_flight = program_.meta.batches_in_flight;
    rescheduler_.emplace(*network_, config_, compiled, program_);
    run_.reschedule_interval = doorbells("--reschedule", options_.reschedule_interval);
    run_.reschedule = [this](const SimulatedHost::Profile& read) { return (*rescheduler_)(read); };
}

unsigned ImageJob::doorbells(const char* option, unsigned count) const {
    const std::uint32_t together = program_.meta.batches_in_flight;
    if (count % together != 0)
        throw InputError(options_.image, 0, option,
                         fmt::format("expected a multiple of the {} batches in flight, found {}", together, count));
    return count / together;
}

nlohmann::ordered_json ImageJob::values_json(const RunResult& run) const {
    nlohmann::ordered_json result = {{"weights", options_.weights}, {"inputs", options_.inputs}};
    for (const auto& [name, crc] : run.tensors) result["tensors_crc32"][name] = crc;
    result.update(compared_values(program_, values_->output(routing_), routing_, expectation_));
    return result;
}

nlohmann::ordered_json ImageJob::simulate_on(const PlatformConfig& chosen) {
    const RunResult result = run_simulation(chosen, program_, bytes_, routing_, run_);
    if (values_) routing_ = result.host.routed;
    const std::size_t asked = routing_.size();
    routing_.resize(result.host.batches.size());
    nlohmann::ordered_json documents;
    documents["report"] = make_report(chosen, program_, routing_, source_, result);
    if (routing_.size() < asked)
        documents["report"]["interrupted"] = {{"batches_asked", asked * program_.meta.batches_in_flight}};
    if (values_) documents["report"]["values"] = values_json(result);
    documents["speed"] = make_speed(chosen, result);
    documents["profile"] = kernel_profile(*result.host.phases.back().image, result.host.profiles.back());
    return documents;
}

nlohmann::ordered_json ImageJob::simulate() {
    nlohmann::ordered_json tiles;
    if (options_.spot_check > 0)
        tiles = report_of_tiles(config_, [&](const PlatformConfig& chosen) {
            const std::size_t doorbells = options_.spot_check / program_.meta.batches_in_flight;
            routing_.resize(std::min(std::max<std::size_t>(1, doorbells), routing_.size()));  // in the other process
            return simulate_on(chosen);
        });
    nlohmann::ordered_json documents = run_on_chosen_chip(config_, [&](const PlatformConfig& chosen) {
        return work_.timeline.record([&] { return simulate_on(chosen); });
    });
    if (options_.spot_check > 0)
        documents["report"]["validation"]["spot_check"] = platform::spot_check(documents.at("report"), tiles);
    return documents;
}

void ImageJob::write(const nlohmann::ordered_json& documents) const {
    const nlohmann::ordered_json& document = documents.at("report");
    FileContents files;
    if (!options_.outputs.empty()) files.emplace_back(options_.outputs, npy_bytes(values_->output(routing_)));
    if (!work_.report.empty()) {
        files.emplace_back(work_.report + "/report.json", document_text(document));
        files.emplace_back(work_.report + "/speed.json", document_text(documents.at("speed")));
        files.emplace_back(work_.report + "/index.html", page_html(program_.meta.model + ", " + program_.meta.design,
                                                                   {{"kind", "run"}, {"report", document}}));
    }
    if (!options_.profile.empty()) files.emplace_back(options_.profile, document_text(documents.at("profile")));
    write_files(files);
}

int ImageJob::print(const nlohmann::ordered_json& documents) const {
    const nlohmann::ordered_json& document = documents.at("report");
    fmt::print("{}", report_table(document));
    std::string message;
    if (values_) {
        fmt::print("{}", values_rows(document.at("values")));
        message = values_error(document.at("values"));
    }
    fmt::print("{}", speed_line(documents.at("speed")));
    if (!message.empty()) fmt::print(stderr, "sy-sim: {}\n", message);
    if (document.contains("interrupted")) {
        fmt::print(stderr, "sy-sim: interrupted after {} of {} batches, which the report has\n",
                   document.at("batches").size() * program_.meta.batches_in_flight,
                   document.at("interrupted").at("batches_asked").get<std::size_t>());
        return kInterrupted;
    }
    return document.at("ok").get<bool>() && message.empty() ? 0 : kFailedCheck;
}

/// Throws InputError for options that have no effect with the others and the platform.
void refuse_unused(const ImageRun& options, const WorkOptions& work, const PlatformConfig& config) {
    work.given.refuse_unused({{"model", options.reschedule_interval > 0, "goes with --reschedule"},
                              {"bound", !options.expected.empty(), "goes with --expect"},
                              {"seed", !config.chip.functional && work.trace.empty(),
                               "goes with generated routes, without --trace and with chip.functional: no"},
                              {"spot-check", config.chip.impl != "tiles", "goes with chip.impl: auto or stages"}});
}

/// Values are asked for on both sides or on none.
void check_values(const ImageRun& options, const std::string& platform, const PlatformConfig& config) {
    const bool given =
        !options.weights.empty() || !options.inputs.empty() || !options.outputs.empty() || !options.expected.empty();
    if (config.chip.functional && (options.weights.empty() || options.inputs.empty()))
        throw InputError(platform, 0, "chip.functional", "expected --weights and --inputs, found one or none of them");
    if (!config.chip.functional && given)
        throw InputError(platform, 0, "chip.functional",
                         "expected yes for --weights, --inputs, --outputs and --expect, found no");
}

}  // namespace

void ImageRun::add_to(CLI::App& app) {
    const auto add = [&](const char* name, auto& value, const char* text) {
        return app.add_option(name, value, text)->group(kGroup);
    };
    add("--image", image, "kernel image");
    add("--reschedule", reschedule_interval,
        "every N batches, compile the model again from the chip's profiles and load it; needs --model")
        ->check(whole_number(1, kMaxBatches));
    add("--model", model, "model file of the image, for --reschedule");
    add("--weights", weights, "folder with the parameters (.npy); needs chip.functional");
    add("--inputs", inputs, "input batches (.npy); needs chip.functional");
    add("--outputs", outputs, "file for the network's outputs (.npy); needs chip.functional");
    add("--expect", expected, "outputs to compare with (.npy); needs chip.functional");
    add("--bound", bound,
        "largest error that is taken for rounding, by which labels may change; exit status 1 beyond it")
        ->check(number(0));
    add("--profile-every", profile_interval, "read the profilers back every N batches as well")
        ->check(whole_number(1, kMaxBatches));
    add("--write-profile", profile, "file for what the profilers counted: a profile for sy-sched");
    add("--spot-check", spot_check, "after a run on stages, run the first N batches on tiles and print the difference")
        ->check(whole_number(1, kMaxBatches));
}

int ImageRun::run(const WorkOptions& work) const {
    const PlatformConfig config = work.platform.read();
    check_values(*this, work.platform.file, config);
    refuse_unused(*this, work, config);
    work.timeline.check();
    catch_interrupts();
    ImageJob job(*this, work, config);
    const nlohmann::ordered_json documents = job.simulate();
    job.write(documents);
    return job.print(documents);
}

}  // namespace switchyard::platform
