// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "switchyard/platform/system/system.h"
#include "switchyard/platform/system/system_registry.h"

namespace switchyard::testing {

/// All systems of the build.
const platform::SystemRegistry& registry();

/// A small point of the design, of one batch, whose workload has something that is drawn where the design can have it.
/// A system that is not known here fails the test: it must join the walk.
platform::Point small_point(const std::string& design);

/// A block that half of the samples skip; routes are generated. The path of its file.
const std::string& tiny_model();
/// Recorded routes of its two batches.
const std::string& tiny_trace();

/// `sy-sim run --design DESIGN --workload FILE --platform FILE` of the point, with its platform keys.
std::string run_command(const platform::Point& point);

}  // namespace switchyard::testing
