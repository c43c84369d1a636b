// SPDX-License-Identifier: Apache-2.0
#include <Vdot_product_array_mutants.h>
#include <Vline_buffer_mutants.h>
#include <Vrequantiser_mutants.h>

#include "switchyard/rtl/dot_product_array/verilated_dot_product.h"
#include "switchyard/rtl/dot_product_array/verilated_line_buffer.h"
#include "switchyard/testbenches/cosim/dot_product_array/core_traffic.h"
#include "switchyard/testbenches/cosim/mutation/mutation_test.h"
#include "switchyard/testbenches/cosim/seed.h"

using namespace switchyard;
using namespace switchyard::testing;

namespace {

std::string array_differs() {
    const sched::DotProductShape shape{6, 2};
    hw::CycleDotProductCore model(shape);
    rtl::VerilatedDotProduct<Vdot_product_array_mutants, false> array(shape);
    CoreTraffic traffic(shape, random_seed());
    hw::DotProductOutput expected(shape), out(shape);
    for (int cycle = 0; cycle < 1500; ++cycle) {
        const hw::DotProductInput& in = traffic.next();
        model.step(in, expected);
        array.step(in, out);
        if (!(out == expected)) return "differs from the model";
    }
    return "";
}

std::string line_differs() {
    rtl::VerilatedLineBuffer<Vline_buffer_mutants, false> line(16);
    LinePasses passes(5, 16, 15, random_seed());
    std::uint64_t windows = 0;
    return line_buffer_differs(line, passes, 5, 200, windows);
}

std::string regression(const Mutant& mutant) {
    if (mutant.file == "requantiser.sv") return RequantiserBench<Vrequantiser_mutants>().run(random_seed(), 50000);
    // Registers begin with other values each time.
    for (int seed = 1; seed <= 6; ++seed) {
        select_mutant(mutant.number, 2, seed);
        const std::string found = mutant.file == "line_buffer.sv" ? line_differs() : array_differs();
        if (!found.empty()) return found;
    }
    return "";
}

}  // namespace

TEST_CASE("dot-product array mutants: a sample", "[mutants]") {
    check_mutants("dot_product_array", MUTANTS, 3, &regression);
}

TEST_CASE("dot-product array mutants: all", "[.all-mutants]") {
    check_mutants("dot_product_array", MUTANTS, 1, &regression);
}
