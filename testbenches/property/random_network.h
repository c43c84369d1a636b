// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "switchyard/sw_scheduler/base/random_source.h"

namespace switchyard::testing {

/// How large the networks and chips of pairs are.
enum class PairSize {
    small,  ///< some ten milliseconds for single tiles
    large   ///< up to seconds
};

struct RandomNetwork {
    std::string yaml;  ///< docs/model_format.md
    unsigned batch_inputs = 1;
};

/// A dynamic network of all operator kinds: blocks that are skipped, exclusive branches of any number, experts (top k
/// or each on its own), gated channels, discarded patches, parallel paths, branches in branches, early exits one after
/// another and on parallel paths; batches from one input on. Routes come from a generator with random rates, certain
/// ones included. The model reader accepts nearly all of them; the scheduler may find no room on a chip.
RandomNetwork random_network(RandomSource& random, PairSize size);

}  // namespace switchyard::testing
