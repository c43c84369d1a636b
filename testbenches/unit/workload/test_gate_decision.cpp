// SPDX-License-Identifier: Apache-2.0
// The threshold of a logit is the inverse image of the threshold of the gate's result: every binary32 is on the same
// side.

#include <cmath>
#include <limits>
#include <stdexcept>

#include "switchyard/sw_scheduler/workload/gate_decision.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::sched;

namespace {

Operator gate_of(std::vector<FusedStep> fused, std::uint16_t outputs = 1) {
    Operator gate;
    gate.shape.out_channels = outputs;
    gate.fused = std::move(fused);
    return gate;
}

Switch switch_of(double threshold, bool exclusive = true) {
    Switch gateway;
    gateway.threshold = threshold;
    gateway.exclusive = exclusive;
    return gateway;
}

}  // namespace

TEST_CASE("a logit is above its threshold if its sigmoid is above the switch's", "[gates]") {
    const Operator gate = gate_of({FusedStep::bias, FusedStep::sigmoid});
    CHECK(gate_decision(gate, switch_of(0.5)).threshold == 0);
    for (const double threshold : {0.001, 0.1, 0.25, 0.3, 0.6180339887, 0.75, 0.9, 0.999}) {
        INFO("threshold " << threshold);
        const GateDecision decision = gate_decision(gate, switch_of(threshold));
        CHECK(decision.step == 1);
        CHECK(decision.rule == GateRule::threshold);
        // The binary32 next to the threshold on either side, and some more; a sigmoid in long double tells them apart.
        float logit = decision.threshold;
        for (int i = 0; i < 8; ++i) logit = std::nextafter(logit, -HUGE_VALF);
        for (int i = 0; i < 16; ++i, logit = std::nextafter(logit, HUGE_VALF)) {
            const long double result = 1 / (1 + std::exp(-static_cast<long double>(logit)));
            INFO("logit " << logit);
            CHECK((logit > decision.threshold) == (result > static_cast<long double>(threshold)));
        }
    }
}

TEST_CASE("activations behind the last sum are left out of a decision, others are not", "[gates]") {
    using Step = FusedStep;
    const auto step = [](std::vector<Step> fused, std::uint16_t outputs = 1, bool exclusive = true) {
        return gate_decision(gate_of(std::move(fused), outputs), switch_of(0.75, exclusive)).step;
    };
    CHECK(step({}) == 0);
    CHECK(step({Step::bias}) == 1);
    CHECK(step({Step::bias, Step::relu}) == 1);
    CHECK(step({Step::relu, Step::bias, Step::relu, Step::sigmoid}) == 2);
    CHECK(step({Step::sigmoid, Step::norm}) == 2);  // a gain may be negative
    CHECK(step({Step::bias, Step::sigmoid}, 3) == 1);
    CHECK(step({Step::bias, Step::relu}, 3) == 2);  // several logits below zero are no longer in order behind it
    CHECK(step({Step::bias, Step::relu}, 3, false) == 1);
    CHECK(gate_decision(gate_of({}, 3), switch_of(0)).rule == GateRule::largest);
    CHECK(gate_decision(gate_of({}, 3), switch_of(0, false)).rule == GateRule::each);
    CHECK(gate_decision(gate_of({Step::relu}), switch_of(0.75)).threshold == 0.75f);
}

TEST_CASE("a threshold that no result crosses is an error", "[gates]") {
    using Step = FusedStep;
    for (const double threshold : {-1.0, 0.0, 1.0, 2.0})
        CHECK_THROWS_AS(gate_decision(gate_of({Step::sigmoid}), switch_of(threshold)), std::domain_error);
    CHECK_THROWS_AS(gate_decision(gate_of({Step::relu}), switch_of(-0.5)), std::domain_error);
    CHECK_THROWS_AS(gate_decision(gate_of({Step::relu, Step::sigmoid}), switch_of(0.25)), std::domain_error);
    CHECK(default_threshold(gate_of({Step::bias, Step::sigmoid})) == 0.5);
    CHECK(default_threshold(gate_of({Step::bias})) == 0);
}
