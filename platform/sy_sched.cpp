#include <cstdint>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <systemc>

#include "switchyard/platform/command_line.h"
#include "switchyard/platform/network_image.h"
#include "switchyard/platform/platform_config.h"
#include "switchyard/platform/report.h"
#include "switchyard/platform/sampling_report.h"
#include "switchyard/sw_scheduler/backend/compile.h"
#include "switchyard/sw_scheduler/formats/image.h"
#include "switchyard/sw_scheduler/model/model_reader.h"
#include "switchyard/sw_scheduler/model/profile.h"

using namespace switchyard;

namespace {

struct CompileCommand {
    platform::PlatformOptions platform;
    platform::NetworkImageOptions options;
    std::string model, routing, output;
    std::uint32_t batch = 0;

    void add_to(CLI::App& app) {
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
            ->check(CLI::Range(1u, sched::kLargestBatch));
        app.add_option(
            "--without", options.without,
            fmt::format("mechanisms that the design is to do without: {}", fmt::join(sched::mechanism_names(), ", ")));
        app.add_option("--unit-samples", options.unit_samples,
                       "samples of a hand-over unit, in every segment; default: chosen by cost")
            ->check(CLI::Range(1u, sched::kLargestBatch));
        app.add_option("-o,--output", output, "kernel image to write")->required();
    }

    sched::Model read_input() const {
        sched::Model input = sched::read_model(model);
        if (batch > 0) input.graph.batch_inputs = batch;
        if (!routing.empty())
            input.routing = sched::read_routing_file(routing, input.graph.signatures(), input.graph.samples_per_input);
        return input;
    }

    int run() const {
        const platform::PlatformConfig config =
            platform::read_platform(platform.file, platform::parse_overrides(platform.settings));
        const sched::Model input = read_input();
        const Image image = platform::compile_network(input, config, options);
        write_image(image, output);
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
        app.add_option("--kernels", kernels, "kernels that it may have")->required()->check(CLI::PositiveNumber);
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

}  // namespace

/// Debian's SystemC library asks for this symbol; the program has a main of its own.
int sc_main(int, char**) {
    return 0;
}

int main(int argc, char** argv) {
    CLI::App app("Compiles dynamic neural networks to kernel images.", "sy-sched");
    app.require_subcommand(1);

    CompileCommand compile;
    CLI::App* compile_command = app.add_subcommand("compile", "compile a model for a platform");
    compile.add_to(*compile_command);

    SampleCommand sample;
    CLI::App* sample_command = app.add_subcommand("sample", "choose the dyn_dims of one operator's kernels");
    sample.add_to(*sample_command);

    std::string image;
    CLI::App* inspect_command = app.add_subcommand("inspect", "print what is in a kernel image");
    inspect_command->add_option("image", image, "kernel image")->required();

    return platform::run_program(app, argc, argv, [&] {
        if (compile_command->parsed()) return compile.run();
        if (sample_command->parsed()) return sample.run();
        fmt::print("{}", sched::explain(read_image(image)));
        return 0;
    });
}
