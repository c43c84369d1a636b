// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "switchyard/platform/experiment/experiment.h"

namespace switchyard::platform {

/// Two networks, three designs, all paths relative to the repository's root.
extern const char* const kHead;
/// One figure, speedup over m-tile.
extern const char* const kFigures;

/// Every system of this build.
const SystemRegistry& registry();

/// Reads `text` as an experiment file "experiment.yaml" in the repository's root; messages name it so.
Experiment experiment_of(const std::string& text);

/// `text` with the first `from` replaced; the test fails if there is none.
std::string replaced(std::string text, const std::string& from, const std::string& to);

}  // namespace switchyard::platform
