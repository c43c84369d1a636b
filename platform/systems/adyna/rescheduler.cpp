// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/adyna/rescheduler.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "switchyard/platform/systems/adyna/kernel_profile.h"
#include "switchyard/sw_scheduler/adyna/compiler/compile.h"
#include "switchyard/sw_scheduler/base/json_text.h"

namespace switchyard::platform {
namespace {

/// What has been counted since `seen`, of the same image: profilers go on counting while it stays.
SimulatedHost::Profile since(const SimulatedHost::Profile& seen, SimulatedHost::Profile profile) {
    if (seen.by_tile.empty()) return profile;
    profile.batches_of_phase -= seen.batches_of_phase;
    for (std::size_t tile = 0; tile < profile.by_tile.size(); ++tile) {
        for (ProfileRecord& record : profile.by_tile[tile]) {
            for (const ProfileRecord& before : seen.by_tile[tile])
                if (before.op_id == record.op_id && before.kernel_dyn_dim == record.kernel_dyn_dim)
                    record.invocations -= before.invocations;
        }
    }
    return profile;
}

}  // namespace

Rescheduler::Rescheduler(const sched::Model& model, const PlatformConfig& platform, NetworkImageOptions chosen,
                         const Image& first, std::optional<sched::Profile> expected)
    : model_(model),
      platform_(platform),
      options_(std::move(chosen)),
      expected_(std::move(expected)),
      current_(&first, [](const Image*) {}),
      current_bytes_(encode(first)) {}

SimulatedHost::Schedule Rescheduler::operator()(const SimulatedHost::Profile& read_back) {
    const sched::Profile profile = sched::parse_profile(json_text(kernel_profile(*current_, since(seen_, read_back))),
                                                        "profile of the chip", model_.graph);
    if (!expected_ || sched::moved_load(model_.graph, sched::expected_fractions(*expected_),
                                        sched::expected_fractions(profile)) > options_.margins.moved)
        expected_ = profile;
    sched::CompileOptions options = compile_options(options_);
    options.profile = &*expected_;
    options.sampled = &profile;
    options.sampling = sched::resamples(options_.design) ? sched::Sampling::profile : sched::Sampling::uniform;
    Image made = sched::compile(model_.graph, make_hardware_description(platform_), options);
    made.meta.routing_yaml = current_->meta.routing_yaml;
    auto [accepted, bytes] = accepted_image(made, platform_, model_.graph.file);
    if (bytes == current_bytes_) {
        seen_ = read_back;
        return {};
    }
    seen_ = {};
    const auto image = std::make_shared<const Image>(std::move(accepted));
    current_ = image;
    current_bytes_ = bytes;
    return {image, std::move(bytes)};
}

}  // namespace switchyard::platform
