// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/adyna/network_image.h"

#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "switchyard/platform/systems/adyna/accepted_image.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/workload/profile.h"
#include "switchyard/sw_scheduler/workload/route_provider.h"

namespace switchyard::platform {

namespace {

/// Adyna adapts its schedule every 40 batches (section VIII); this many are looked at beforehand.
constexpr std::size_t kProfiledBatches = 40;

sched::Sampling chosen_sampling(const NetworkImageOptions& options) {
    if (!options.sampling.empty()) return sched::parse_sampling(options.sampling);
    const bool follows = !options.profile.empty() && sched::resamples(options.design);
    return follows ? sched::Sampling::profile : sched::Sampling::uniform;
}

}  // namespace

std::optional<sched::Profile> expected_routes(const sched::Model& model, const NetworkImageOptions& options) {
    if (!options.profile.empty()) return sched::read_profile(options.profile, model.graph);
    if (model.routing.trace.empty() && !model.routing.distribution) return std::nullopt;
    return sched::profile_of(model.graph, sched::declared_routing(model, kProfiledBatches),
                             model.graph.batch_samples());
}

sched::CompileOptions compile_options(const NetworkImageOptions& options) {
    sched::CompileOptions compile;
    compile.design = options.design;
    compile.without = options.without;
    compile.invocation = sched::parse_invocation(options.invocation);
    compile.routing = sched::parse_sample_routing(options.routing);
    compile.batches_in_flight = options.batches_in_flight;
    compile.unit_samples = options.unit_samples;
    compile.margins = options.margins;
    return compile;
}

NetworkImage accepted_image(const Image& made, const PlatformConfig& platform, const std::string& source) {
    std::vector<std::uint8_t> bytes = encode(made);
    check_image_fits(platform, made, bytes.size(), source);
    try {
        Image image = decode_image_for(platform, bytes, source);
        return {std::move(image), std::move(bytes)};
    } catch (const InputError& error) {
        throw std::logic_error(
            fmt::format("{}; this is an error of the compiler, which writes no image: report it with "
                        "the model and the platform",
                        error.what()));
    }
}

NetworkImage compile_network(const sched::Model& model, const PlatformConfig& platform,
                             const NetworkImageOptions& options) {
    const std::optional<sched::Profile> expected = expected_routes(model, options);
    sched::CompileOptions compile = compile_options(options);
    compile.profile = expected ? &*expected : nullptr;
    compile.sampling = chosen_sampling(options);
    Image image = sched::compile(model.graph, make_hardware_description(platform), compile);
    if (model.routing.distribution)
        image.meta.routing_yaml = sched::to_yaml(*model.routing.distribution, model.graph.signatures());
    return accepted_image(image, platform, model.graph.file);
}

}  // namespace switchyard::platform
