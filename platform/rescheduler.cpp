#include "switchyard/platform/rescheduler.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "switchyard/platform/kernel_profile.h"
#include "switchyard/sw_scheduler/backend/compile.h"

namespace switchyard::platform {

Rescheduler::Rescheduler(const sched::Model& model, const PlatformConfig& platform, NetworkImageOptions chosen,
                         const Image& first)
    : model_(model), platform_(platform), options_(std::move(chosen)), current_(&first, [](const Image*) {}) {}

SimulatedHost::Schedule Rescheduler::operator()(const SimulatedHost::Profile& read_back) {
    const sched::Profile profile =
        sched::parse_profile(kernel_profile(*current_, read_back).dump(), "profile of the chip", model_.graph);
    sched::CompileOptions options = compile_options(options_);
    options.profile = &profile;
    options.sampling = sched::resamples(options_.design) ? sched::Sampling::profile : sched::Sampling::uniform;
    auto image = std::make_shared<Image>(sched::compile(model_.graph, make_hardware_description(platform_), options));
    image->meta.routing_yaml = current_->meta.routing_yaml;
    current_ = image;
    return {image, encode(*image)};
}

}  // namespace switchyard::platform
