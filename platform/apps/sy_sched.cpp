// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <systemc>

#include "switchyard/platform/apps/command_line.h"
#include "switchyard/platform/apps/git_description.h"
#include "switchyard/platform/apps/given_options.h"
#include "switchyard/platform/apps/import_command.h"
#include "switchyard/platform/apps/number_options.h"
#include "switchyard/platform/apps/pilot_command.h"
#include "switchyard/platform/apps/self_description.h"
#include "switchyard/platform/chip/platform_config.h"
#include "switchyard/platform/system/npy.h"
#include "switchyard/platform/system/report_parts.h"
#include "switchyard/platform/system/system.h"
#include "switchyard/platform/systems/adyna/declared_trace.h"
#include "switchyard/platform/systems/adyna/expectation.h"
#include "switchyard/platform/systems/adyna/firmware_package.h"
#include "switchyard/platform/systems/adyna/network_image.h"
#include "switchyard/platform/systems/adyna/network_values.h"
#include "switchyard/platform/systems/adyna/report.h"
#include "switchyard/platform/systems/adyna/sampling_report.h"
#include "switchyard/sw_scheduler/adyna/compiler/compile.h"
#include "switchyard/sw_scheduler/adyna/compiler/design.h"
#include "switchyard/sw_scheduler/adyna/image/image.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/kernel_streams/stream_model.h"
#include "switchyard/sw_scheduler/workload/model_reader.h"
#include "switchyard/sw_scheduler/workload/profile.h"
#include "switchyard/sw_scheduler/workload/route_provider.h"
#include "switchyard/sw_scheduler/workload/trace.h"

using namespace switchyard;

namespace {

struct CompileCommand {
    platform::PlatformOptions platform;
    platform::NetworkImageOptions options;
    std::string model, routing, output, json;
    std::uint32_t batch = 0;
    platform::GivenOptions given;

    void add_to(CLI::App& app) {
        given.watch(app);
        app.add_option("model", model, "model file (YAML)")->required();
        platform.add_to(app);
        app.add_option("--design", options.design, "system to compile for: adyna, ...")->required();
        app.add_option("--profile", options.profile,
                       "profile to weight the operators with (JSON); default: routes of the model file");
        app.add_option("--sampling", options.sampling,
                       "dyn_dims that get kernels: uniform, profile or optimal; default: profile with --profile and a "
                       "design that re-samples, otherwise uniform");
        app.add_option("--routing", routing, "file with a routing section (YAML) instead of the model's");
        app.add_option("--batch", batch, "model inputs a batch, instead of the model's")
            ->check(platform::whole_number(1, sched::kLargestBatch));
        app.add_option(
            "--without", options.without,
            fmt::format("mechanisms that the design is to do without: {}", fmt::join(sched::mechanism_names(), ", ")));
        app.add_option("--invocation", options.invocation,
                       "what one invocation of a kernel takes: micro_batch or batch; default: micro_batch");
        app.add_option("--sample-routing", options.routing,
                       "where samples of different branches come together: sorted_reload or on_chip; default: "
                       "sorted_reload");
        app.add_option("--batches-in-flight", options.batches_in_flight,
                       "batches that the chip is given together; default: 1")
            ->check(platform::whole_number(1, 0xFFFF));
        app.add_option("--unit-samples", options.unit_samples,
                       "samples of a micro-batch, in every segment; default: chosen by cost")
            ->check(platform::whole_number(1, sched::kLargestBatch));
        app.add_option("-o,--output", output, "kernel image to write")->required();
        app.add_option("--json", json, "file for the sizes of the image");
    }

    sched::Model read_input() const {
        sched::Model input = sched::read_model(model);
        if (batch > 0) input.graph.batch_inputs = batch;
        if (!routing.empty())
            input.routing = sched::read_routing_file(routing, input.graph.signatures(), input.graph.samples_per_input);
        return input;
    }

    int run() const {
        const platform::PlatformConfig config = platform.read();
        const sched::Model input = read_input();
        const bool routes = sched::find_design(options.design).without(options.without).has(sched::Mechanism::routing);
        constexpr const char* kRoutes = "goes with designs that route samples; here every sample takes every branch";
        given.refuse_unused(
            {{"profile", routes, kRoutes}, {"routing", routes || !input.routing.trace.empty(), kRoutes}});
        const auto [image, bytes] = platform::compile_network(input, config, options);
        FileContents files{{output, std::string(bytes.begin(), bytes.end())}};
        if (!input.routing.trace.empty())
            files.emplace_back(platform::trace_link_path(output),
                               platform::trace_link(input.routing.trace, bytes, output));
        write_files(files);
        if (!json.empty())
            platform::write_json({{"format", "switchyard-compile"},
                                  {"version", 1},
                                  {"model", input.graph.name},
                                  {"platform", config.chip.name},
                                  {"operators", input.graph.operators.size()},
                                  {"segments", image.chip.segments.size()},
                                  {"tiles", config.tiles()},
                                  {"image_bytes", bytes.size()}},
                                 json);
        fmt::print("{}: {} operators in {} segments on {} tiles of {}\n", output, input.graph.operators.size(),
                   image.chip.segments.size(), config.tiles(), config.chip.name);
        return 0;
    }
};

struct SampleCommand {
    std::string profile, name, json;
    unsigned kernels = 1;

    void add_to(CLI::App& app) {
        app.add_option("--profile", profile, "profile with the operator's dyn_dims (JSON)")->required();
        app.add_option("--operator", name, "operator of the profile")->required();
        app.add_option("--kernels", kernels, "kernels that it may have")
            ->required()
            ->check(platform::whole_number(1, 0xFFFF));
        app.add_option("--json", json, "file for the result");
    }

    int run() const {
        const nlohmann::ordered_json result =
            platform::sampling_json(profile, name, sched::read_operator_profile(profile, name), kernels);
        if (!json.empty()) platform::write_json(result, json);
        fmt::print("{}", platform::sampling_table(result));
        return 0;
    }
};

struct RoutesCommand {
    std::string model, routing, output, json;
    std::size_t batches = sched::kGeneratedBatches;
    std::optional<std::uint64_t> seed;

    void add_to(CLI::App& app) {
        app.add_option("model", model, "model file (YAML)")->required();
        app.add_option("--routing", routing, "file with a routing section (YAML) instead of the model's");
        app.add_option("--batches", batches, "batches to write; default: 40")
            ->check(platform::whole_number(1, platform::kMaxBatches));
        app.add_option("--seed", seed, "seed of the route generator; without effect on a trace")
            ->check(platform::whole_number(0));
        app.add_option("-o,--output", output, "trace to write (JSON Lines)")->required();
        app.add_option("--json", json, "file for the sizes of the trace");
    }

    int run() const {
        sched::Model input = sched::read_model(model);
        if (!routing.empty())
            input.routing = sched::read_routing_file(routing, input.graph.signatures(), input.graph.samples_per_input);
        sched::RouteRequest request = sched::declared_routes(input);
        request.batches = batches;
        request.seed = seed;
        const sched::Routes routes = sched::provide_routes(request);
        if (seed && routes.source.kind != sched::kGenerator)
            throw InputError(
                model, 0, "--seed",
                "expected no seed for a network without switches or with recorded routes, found one; leave it out");
        write_trace(output, request.switches, routes.batches);
        if (!json.empty())
            platform::write_json({{"format", "switchyard-routes"},
                                  {"version", 1},
                                  {"model", input.graph.name},
                                  {"batches", routes.batches.size()},
                                  {"batch_samples", request.batch_samples},
                                  {"switches", request.switches.size()},
                                  {"routes", routes.source.kind}},
                                 json);
        fmt::print("{}: {} batches of {} samples, {} switches, routes: {}\n", output, routes.batches.size(),
                   request.batch_samples, request.switches.size(), routes.source.kind);
        return 0;
    }
};

struct KernelsCommand {
    std::string model, output, json;
    sched::StreamRequest request;
    bool binary = false;
    platform::GivenOptions given;

    void add_to(CLI::App& app) {
        given.watch(app);
        app.add_option("model", model, "description of the application (YAML)")->required();
        app.add_option("--seed", request.seed, "seed of what depends on the input; default: 1")
            ->check(platform::whole_number(0));
        app.add_option("--input", request.input, "number of the input; default: 0")->check(platform::whole_number(0));
        app.add_flag("--binary", binary, "binary instead of JSON Lines");
        app.add_option("-o,--output", output, "kernel stream to write")->required();
        app.add_option("--json", json, "file for the sizes of the stream");
    }

    int run() const {
        const sched::StreamModel description = sched::read_stream_model(model);
        constexpr const char* kInputs = "goes with an application whose kernels depend on the input";
        given.refuse_unused(
            {{"seed", description.input_dependent, kInputs}, {"input", description.input_dependent, kInputs}});
        const sched::GeneratedStream stream = description.generate(request);
        if (binary) {
            const std::vector<std::uint8_t> bytes = sched::encode_kernel_stream(stream.kernels);
            write_file({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, output);
        } else {
            write_file(sched::kernel_stream_text(stream.kernels), output);
        }
        std::uint64_t ctas = 0, flops = 0, bytes = 0;
        for (const sched::GpuKernel& kernel : stream.kernels) {
            ctas += kernel.ctas();
            flops += kernel.work.flops + kernel.work.tensor_flops;
            bytes += kernel.work.read_bytes + kernel.work.written_bytes;
        }
        if (!json.empty())
            platform::write_json({{"format", "switchyard-kernels"},
                                  {"version", 1},
                                  {"application", description.name},
                                  {"kernels", stream.kernels.size()},
                                  {"ctas", ctas},
                                  {"flops", flops},
                                  {"bytes", bytes}},
                                 json);
        fmt::print("{}: {} kernels of {}, {:.1f} CTAs each, {:.3f} GFLOP, {:.1f} MB\n", output, stream.kernels.size(),
                   description.name, static_cast<double>(ctas) / static_cast<double>(stream.kernels.size()),
                   static_cast<double>(flops) * 1e-9, static_cast<double>(bytes) * 1e-6);
        return 0;
    }
};

struct PackCommand {
    platform::FirmwareJob job;
    std::string image, weights, inputs, expected, trace, output, json;
    std::uint32_t batches = 0;

    void add_to(CLI::App& app) {
        app.add_option("image", image, "kernel image")->required();
        app.add_option("--weights", weights, "folder with the parameters (.npy)")->required();
        app.add_option("--inputs", inputs, "input batches (.npy)")->required();
        app.add_option("--address", job.address, "where the package will lie on the bus")
            ->required()
            ->check(platform::bus_address());
        app.add_option("--batches", batches,
                       "batches to run; default: those of the inputs, which begin anew if they are fewer")
            ->check(platform::whole_number(1, 65536));
        app.add_option("--expect", expected, "outputs (.npy) whose labels firmware may compare with its own");
        app.add_option("--trace", trace, "recorded routes (JSON Lines) that it may compare with the computed ones");
        app.add_option("-o,--output", output, "package to write")->required();
        app.add_option("--json", json, "file for the sizes of the package");
    }

    int run() {
        const Image program = read_image(image);
        const platform::NetworkValues values(program, weights, inputs);
        const std::uint32_t together = program.meta.batches_in_flight;
        if (batches % together != 0)
            throw InputError(
                image, 0, "--batches",
                fmt::format("expected a multiple of the {} batches in flight, found {}", together, batches));
        job.batches = batches > 0 ? batches / together : values.batches();
        const std::uint32_t distinct = std::min(job.batches, values.batches());
        if (!expected.empty()) job.outputs = platform::read_npy(expected);
        if (!trace.empty())
            job.routing = joined_batches(read_trace(trace, platform::signatures_of(program.meta),
                                                    program.meta.samples_of_batch(), std::size_t{distinct} * together),
                                         together, trace);
        const std::vector<std::uint8_t> package = platform::make_firmware_package(program, values, job);
        write_file({reinterpret_cast<const char*>(package.data()), package.size()}, output);
        if (!json.empty())
            platform::write_json({{"format", "switchyard-pack"},
                                  {"version", 1},
                                  {"model", program.meta.model},
                                  {"package_bytes", package.size()},
                                  {"address", job.address},
                                  {"batches", job.batches * together},
                                  {"batch_samples", program.meta.samples_of_batch()}},
                                 json);
        fmt::print("{}: {} bytes for {:#x}, {} batches of {} samples\n", output, package.size(), job.address,
                   job.batches * together, program.meta.samples_of_batch());
        return 0;
    }
};

struct InspectCommand {
    std::string image, json;

    void add_to(CLI::App& app) {
        app.add_option("image", image, "kernel image")->required();
        app.add_option("--json", json, "file for the same as data");
    }

    int run() const {
        const Image program = read_image(image);
        if (!json.empty()) platform::write_json(sched::describe_image(program), json);
        fmt::print("{}", sched::explain(program));
        return 0;
    }
};

}  // namespace

/// Debian's SystemC library asks for this symbol; the program has a main of its own.
int sc_main(int, char**) {
    return 0;
}

int main(int argc, char** argv) {
    CLI::App app("Compiles dynamic neural networks to kernel images.", "sy-sched");
    app.require_subcommand(1);
    app.set_version_flag("--version", platform::version_text("sy-sched", platform::git_description()));

    CompileCommand compile;
    CLI::App* compile_command = app.add_subcommand("compile", "compile a model for a platform");
    compile.add_to(*compile_command);

    SampleCommand sample;
    CLI::App* sample_command = app.add_subcommand("sample", "choose the dyn_dims of one operator's kernels");
    sample.add_to(*sample_command);

    RoutesCommand routes;
    CLI::App* routes_command = app.add_subcommand("routes", "write the routes that a model declares as a trace");
    routes.add_to(*routes_command);

    KernelsCommand kernels;
    CLI::App* kernels_command =
        app.add_subcommand("kernels", "write the kernels that an application launches on a GPU");
    kernels.add_to(*kernels_command);

    PackCommand pack;
    CLI::App* pack_command = app.add_subcommand("pack", "make the block of memory that firmware runs a network from");
    pack.add_to(*pack_command);

    platform::ImportCommand import;
    import.add_to(app);

    platform::PilotCommand pilot;
    pilot.add_to(app);

    InspectCommand inspect;
    CLI::App* inspect_command = app.add_subcommand("inspect", "print what is in a kernel image");
    inspect.add_to(*inspect_command);

    return platform::run_program(app, argc, argv, [&] {
        if (compile_command->parsed()) return compile.run();
        if (sample_command->parsed()) return sample.run();
        if (routes_command->parsed()) return routes.run();
        if (kernels_command->parsed()) return kernels.run();
        if (pack_command->parsed()) return pack.run();
        if (import.parsed()) return import.run();
        if (pilot.parsed()) return pilot.run();
        if (inspect_command->parsed()) return inspect.run();
        return 0;
    });
}
