// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "switchyard/sw_scheduler/base/random_source.h"
#include "switchyard/testbenches/property/random_network.h"

namespace switchyard::testing {

/// What a random network over the whole model format is for.
enum class FormatUse {
    sizes,  ///< all of docs/model_format.md
    values  ///< what a functional run computes: every layer names parameters, no router by number, no capacity
};

/// A network of every kind of layer, fused step, switch, router and routing of docs/model_format.md, seldom small and
/// plain: the wide profile. random_network() is the narrow one, for which the bounds of the stages are calibrated.
RandomNetwork random_format_network(RandomSource& random, FormatUse use);

}  // namespace switchyard::testing
