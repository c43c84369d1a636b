// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "switchyard/platform/chip/platform_config.h"
#include "switchyard/sw_scheduler/adyna/compiler/compile.h"
#include "switchyard/sw_scheduler/adyna/image/image.h"
#include "switchyard/sw_scheduler/workload/model_reader.h"

namespace switchyard::platform {

/// How a network is compiled: the options of `sy-sched compile`.
struct NetworkImageOptions {
    std::string design = "adyna";
    std::string profile;               ///< file; empty: 40 batches of the routes that the model declares, if it does
    std::string sampling;              ///< empty: "profile" with a file and a design that re-samples, or else "uniform"
    std::vector<std::string> without;  ///< mechanisms that the design does without (sched::mechanism_names)
    std::string invocation = "micro_batch";  ///< sched::kInvocations
    std::string routing = "sorted_reload";   ///< sched::kSampleRoutings
    std::uint32_t batches_in_flight = 1;     ///< that a doorbell starts
    std::uint32_t unit_samples = 0;          ///< of a micro-batch, in every segment; 0: chosen by cost
    sched::Margins margins;                  ///< calibrated; others for calibrations
};

/// What the scheduler is to be told, but for profile and sampling.
sched::CompileOptions compile_options(const NetworkImageOptions& options);

/// What schedules are weighted with: the profile of that name, or 40 batches of the routes that the model declares;
/// nothing if it declares none.
std::optional<sched::Profile> expected_routes(const sched::Model& model, const NetworkImageOptions& options);

/// An image, and its file.
struct NetworkImage {
    Image image;
    std::vector<std::uint8_t> bytes;
};

/// An image of the scheduler as sy-sim takes it. `source` is the model's file. Throws what check_image_fits() throws,
/// and std::logic_error if decode_image_for() refuses the image, which is a fault of the scheduler.
NetworkImage accepted_image(const Image& made, const PlatformConfig& platform, const std::string& source);

/// The network's image for the platform, with the route generator that its model declares. Throws InputError: an
/// unknown design, sampling or mechanism, a profile that does not fit the model. Throws Infeasible: a network that does
/// not fit the chip, or whose image does not fit its window.
NetworkImage compile_network(const sched::Model& model, const PlatformConfig& platform,
                             const NetworkImageOptions& options);

}  // namespace switchyard::platform
