#pragma once

#include <memory>

#include "switchyard/platform/host.h"
#include "switchyard/platform/network_image.h"
#include "switchyard/platform/platform_config.h"
#include "switchyard/sw_scheduler/model/model_reader.h"

namespace switchyard::platform {

/// The scheduler beside a running chip (Adyna, sections V-C and VII): compiles the model again, weighted by what the
/// chip's profilers have counted, with kernels re-sampled from the same. For SimulatedHost::Job::reschedule.
///
/// The scheduler's own time is not charged: it is the host's, and the paper's cost is that of the chip, which is
/// drained, read, loaded and filled again.
class Rescheduler {
public:
    /// `options`: how `first` was compiled, the image with which the run begins and which must outlive this. Its
    /// profile and sampling are not used again.
    Rescheduler(const sched::Model& model, const PlatformConfig& platform, NetworkImageOptions options,
                const Image& first);

    SimulatedHost::Schedule operator()(const SimulatedHost::Profile& profile);

private:
    const sched::Model& model_;
    const PlatformConfig& platform_;
    NetworkImageOptions options_;
    std::shared_ptr<const Image> current_;
};

}  // namespace switchyard::platform
