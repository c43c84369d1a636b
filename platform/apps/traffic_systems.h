// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "switchyard/platform/system/system.h"

namespace switchyard::platform {

/// Components under synthetic traffic, as systems that make their load: `sy-sim noc` and `sy-sim mem`. Parameters are
/// the command's options by their long names without dashes in front ("packet-flits"); of `mem`, those with a dot are
/// keys of a device file, as `--set` has them. Options that print or write files are not for experiments.
std::unique_ptr<System> make_noc_system();
std::unique_ptr<System> make_memory_system();

}  // namespace switchyard::platform
