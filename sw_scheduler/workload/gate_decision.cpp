// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/workload/gate_decision.h"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

namespace switchyard::sched {

namespace {

/// The largest binary32 that is not above `value`: what a binary32 compares with it as with `value`.
float rounded_down(double value) {
    const auto nearest = static_cast<float>(value);
    return nearest <= value ? nearest : std::nextafter(nearest, -std::numeric_limits<float>::infinity());
}

}  // namespace

GateDecision gate_decision(const Operator& gate, const Switch& gateway) {
    GateDecision decision;
    decision.rule = gateway.patience > 0           ? GateRule::patience
                    : gate.shape.out_channels == 1 ? GateRule::threshold
                    : gateway.exclusive            ? GateRule::largest
                                                   : GateRule::each;
    const bool compares = decision.rule == GateRule::threshold || decision.rule == GateRule::each;
    double threshold = compares ? gateway.threshold : 0;
    const auto refuse_threshold = [&](const char* range) {
        const std::string before =
            threshold == gateway.threshold ? "" : fmt::format(", which is {:.4g} before the sigmoid", threshold);
        throw std::domain_error(fmt::format("expected a number {}, found {}{}", range, gateway.threshold, before));
    };
    for (decision.step = gate.fused.size(); decision.step > 0; --decision.step) {
        const FusedStep last = gate.fused[decision.step - 1];
        if (last == FusedStep::sigmoid) {
            if (compares && (threshold <= 0 || threshold >= 1)) refuse_threshold("above 0 and below 1 after a sigmoid");
            if (compares) threshold = std::log(threshold / (1 - threshold));
        } else if (last == FusedStep::relu && compares) {
            if (threshold < 0) refuse_threshold("of 0 or more after a ReLU");
        } else if (last == FusedStep::softmax && !compares) {
            continue;
        } else {
            break;
        }
    }
    decision.threshold = rounded_down(threshold);
    return decision;
}

double default_threshold(const Operator& gate) {
    return !gate.fused.empty() && gate.fused.back() == FusedStep::sigmoid ? 0.5 : 0;
}

}  // namespace switchyard::sched
