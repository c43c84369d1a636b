// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "switchyard/testbenches/unit/workload/model_text.h"

namespace switchyard::platform {

/// Batch of 8, tensors of 16x8x8: stem, pooled gate, a switch of two branches with an element-wise operator each, a
/// merge. A sample of a tensor has 2048 bytes.
inline sched::Model two_branches() {
    return sched::model_of(
        sched::with_switch("  - {name: e0, kind: elementwise, from: s.0, fused: [relu]}\n"
                           "  - {name: e1, kind: elementwise, from: s.1, fused: [relu]}\n"
                           "  - {name: out, kind: merge, from: [e0, e1]}\n"));
}

/// The first `first` of 8 samples take branch 0, the others branch 1.
inline BatchRouting routed(std::uint32_t first) {
    BatchRouting routing{8, {{}}};
    for (std::uint32_t sample = 0; sample < 8; ++sample) routing.masks[0].push_back(sample < first ? 1 : 2);
    return routing;
}

}  // namespace switchyard::platform
