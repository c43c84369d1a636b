// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "switchyard/platform/systems/adyna/host.h"
#include "switchyard/sw_scheduler/adyna/image/image.h"

namespace switchyard::platform {

/// What the host read back of the profilers after a run, in the format of docs/model_format.md: for each operator
/// behind a switch, in how many micro-batches each of its kernels was selected, those that never were included. All
/// tiles of an operator select the same kernel; what its first tile counted is taken.
nlohmann::ordered_json kernel_profile(const Image& image, const SimulatedHost::Profile& read_back);

}  // namespace switchyard::platform
