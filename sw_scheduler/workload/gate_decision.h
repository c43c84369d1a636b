// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "switchyard/sw_scheduler/workload/graph.h"

namespace switchyard::sched {

/// How the routing mask of a switch follows from its gate's logits.
struct GateDecision {
    GateRule rule = GateRule::threshold;
    std::size_t step = 0;  ///< the logits are the binary32 values in front of this one of the gate's fused steps
    float threshold = 0;   ///< a logit is above it if, and only if, the gate's result is above the switch's threshold
};

/// A comparison behind an increasing function is one in front of it, with the inverse of the threshold: sigmoid(z) > t
/// if z > ln(t / (1 - t)), and ReLU(z) > t if z > t, for t >= 0. So the activations behind the gate's last sum are left
/// out of the decision, and the rounding of their results with them. The largest of several logits stays the largest
/// behind a sigmoid and a softmax, but not behind a ReLU. Throws std::domain_error for a threshold that cannot be
/// crossed.
GateDecision gate_decision(const Operator& gate, const Switch& gateway);

/// Threshold of a switch whose model names none: the middle of a sigmoid, otherwise zero.
double default_threshold(const Operator& gate);

}  // namespace switchyard::sched
