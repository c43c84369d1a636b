// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace switchyard::sched {

/// The numbers of samples and of tasks that the host writes for routers without a gate, as model files call them.
inline constexpr const char *kSamplesTensor = "input.samples", *kTasksTensor = "input.tasks";

}  // namespace switchyard::sched
