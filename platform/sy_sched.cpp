#include <optional>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <systemc>

#include "switchyard/platform/command_line.h"
#include "switchyard/platform/platform_config.h"
#include "switchyard/sw_scheduler/backend/compile.h"
#include "switchyard/sw_scheduler/formats/image.h"
#include "switchyard/sw_scheduler/model/model_reader.h"
#include "switchyard/sw_scheduler/model/profile.h"

using namespace switchyard;

namespace {

/// Adyna adapts its schedule every 40 batches (section VIII); so many are looked at beforehand.
constexpr std::size_t kProfiledBatches = 40;

struct CompileCommand {
    platform::PlatformOptions platform;
    std::string model, design, profile, output;

    void add_to(CLI::App& app) {
        app.add_option("model", model, "model file (YAML)")->required();
        platform.add_to(app);
        app.add_option("--design", design, "system to compile for: adyna, ...")->required();
        app.add_option("--profile", profile,
                       "profile to weight the operators with (JSON); default: routes of the model file");
        app.add_option("-o,--output", output, "kernel image to write")->required();
    }

    /// A measured profile if there is one, otherwise what the model file declares about its routes.
    std::optional<sched::Profile> expectations(const sched::Model& input) const {
        if (!profile.empty()) return sched::read_profile(profile, input.graph);
        if (input.routing.trace.empty() && !input.routing.distribution) return std::nullopt;
        return sched::profile_of(input.graph, sched::declared_routing(input, kProfiledBatches),
                                 input.graph.batch_samples());
    }

    int run() const {
        const platform::PlatformConfig config =
            platform::read_platform(platform.file, platform::parse_overrides(platform.settings));
        const sched::Model input = sched::read_model(model);
        const std::optional<sched::Profile> expected = expectations(input);
        sched::CompileOptions options;
        options.design = design;
        options.profile = expected ? &*expected : nullptr;
        Image image = sched::compile(input.graph, platform::make_hardware_description(config), options);
        if (input.routing.distribution)
            image.meta.routing_yaml = sched::to_yaml(*input.routing.distribution, input.graph.signatures());
        write_image(image, output);
        fmt::print("{}: {} operators in {} segments on {} tiles of {}\n", output, input.graph.operators.size(),
                   image.chip.segments.size(), config.tiles(), config.chip.name);
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

    std::string image;
    CLI::App* inspect_command = app.add_subcommand("inspect", "print what is in a kernel image");
    inspect_command->add_option("image", image, "kernel image")->required();

    return platform::run_program(app, argc, argv, [&] {
        if (compile_command->parsed()) return compile.run();
        fmt::print("{}", sched::explain(read_image(image)));
        return 0;
    });
}
