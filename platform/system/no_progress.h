// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

#include "switchyard/tlm/simulation_registry.h"

namespace switchyard::platform {

/// What a program says of a simulation in which nothing can happen any more though it has not ended: the time, and
/// which module waits for what.
std::runtime_error no_progress(const SimulationRegistry& registry);

}  // namespace switchyard::platform
