// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "switchyard/platform/chip/platform_config.h"
#include "switchyard/platform/systems/adyna/host.h"
#include "switchyard/platform/systems/adyna/network_image.h"
#include "switchyard/sw_scheduler/workload/model_reader.h"

namespace switchyard::platform {

/// The scheduler beside a running chip (Adyna, sections V-C and VII): compiles the model again, weighted by what the
/// chip's profilers have counted, with kernels re-sampled from the same. For SimulatedHost::Job::reschedule.
///
/// A schedule is kept until more than sched::Margins::moved of the load that it was made for has moved to other
/// operators. Kernels are sampled anew all the same. An image that comes out as the one that runs is not loaded.
///
/// The scheduler's own time is not charged: it is the host's, and the paper's cost is that of the chip, which is
/// drained, read, loaded and filled again.
class Rescheduler {
public:
    /// `options`: how `first` was compiled, the image with which the run begins and which must outlive this. Its
    /// profile and sampling are not used again. `expected`: what its schedule was made for; if that is not known, the
    /// first schedule is not kept.
    Rescheduler(const sched::Model& model, const PlatformConfig& platform, NetworkImageOptions options,
                const Image& first, std::optional<sched::Profile> expected = std::nullopt);

    SimulatedHost::Schedule operator()(const SimulatedHost::Profile& profile);

private:
    const sched::Model& model_;
    const PlatformConfig& platform_;
    NetworkImageOptions options_;
    std::optional<sched::Profile> expected_;  ///< what the schedule was made for
    std::shared_ptr<const Image> current_;
    std::vector<std::uint8_t> current_bytes_;
    SimulatedHost::Profile seen_;  ///< of what runs, when it was asked for last
};

}  // namespace switchyard::platform
