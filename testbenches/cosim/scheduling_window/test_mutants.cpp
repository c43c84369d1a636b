// SPDX-License-Identifier: Apache-2.0
#include <Vscheduling_window_mutants.h>

#include "switchyard/hw/scheduling_window/cycle_window.h"
#include "switchyard/rtl/scheduling_window/verilated_window.h"
#include "switchyard/testbenches/cosim/mutation/mutation_test.h"
#include "switchyard/testbenches/cosim/seed.h"
#include "switchyard/testbenches/unit/ace/window_traffic.h"

using namespace switchyard;
using namespace switchyard::testing;
using test::WindowTraffic;

namespace {

/// The outputs are the model's in every cycle, and no assertion fails.
std::string differs(const hw::WindowShape& shape, const WindowTraffic::Rates& rates, std::uint64_t seed) {
    hw::CycleWindow model(shape);
    rtl::VerilatedWindow<Vscheduling_window_mutants, false> window(shape);
    WindowTraffic traffic(shape, seed, rates);
    while (traffic.operations() < 2500) {
        const hw::WindowInputs in = traffic.inputs();
        const hw::WindowOutputs out = model.settle(in);
        if (!(window.settle(in) == out)) return "differs from the model";
        const std::string broken = traffic.observe(in, out);
        if (!broken.empty()) return broken;
        model.clock();
        window.clock();
    }
    return "";
}

std::string regression(const Mutant&) {
    for (const WindowTraffic::Rates& rates : test::kWindowRates)
        for (const hw::WindowShape& shape : {hw::WindowShape{4, 5}, hw::WindowShape{4, 255}}) {
            const std::string found = differs(shape, rates, random_seed());
            if (!found.empty()) return found;
        }
    return "";
}

}  // namespace

TEST_CASE("scheduling window mutants: a sample", "[mutants]") {
    check_mutants("scheduling_window", MUTANTS, 3, &regression);
}

TEST_CASE("scheduling window mutants: all", "[.all-mutants]") {
    check_mutants("scheduling_window", MUTANTS, 1, &regression);
}
