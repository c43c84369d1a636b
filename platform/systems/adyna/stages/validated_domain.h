// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "switchyard/platform/systems/adyna/simulation.h"

namespace switchyard::platform {

/// A figure of a run on `chip.impl: stages`, and the largest with which the model's error was measured: docs/models/
/// stages.md, "Accuracy". Beyond one of them the error may be larger.
struct DomainFigure {
    std::string name;
    double bound = 0, got = 0;
    bool inside() const { return got <= bound; }
};

/// From the run's own counters, so that nothing has to be predicted: where the time of the micro-batches has gone, and
/// how much the host moves beside them. The bounds were chosen on the pairs of `property_pairs --seed 13000000 --pairs
/// 6000` and of seeds 5000000 to 5001999: none of those within them was off by more than 13 %. testbenches/property
/// holds them on others.
std::vector<DomainFigure> domain_figures(const PlatformConfig& platform, const RunResult& result);

}  // namespace switchyard::platform
