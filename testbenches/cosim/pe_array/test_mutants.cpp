#include <memory>

#include "switchyard/rtl/pe_array/verilated_core.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/cosim/pe_array/regression.h"
#include "switchyard/testbenches/cosim/seed.h"

using namespace switchyard;
using namespace switchyard::testing;

namespace switchyard::testing {

std::unique_ptr<rtl::VerilatedCore> make_array_set_reuse();
std::unique_ptr<rtl::VerilatedCore> make_array_back_pressure();
std::unique_ptr<rtl::VerilatedCore> make_array_row_bound();
std::unique_ptr<rtl::VerilatedCore> make_array_stale_sum();

}  // namespace switchyard::testing

// Each is pe_array.sv with one MUTANT_ARRAY_ macro defined.
TEST_CASE("PE array mutants: the regression catches each", "[pe_array][mutants]") {
    struct Mutant {
        const char* name;
        std::unique_ptr<rtl::VerilatedCore> (*make)();
    };
    const Mutant mutants[] = {{"set reuse", &make_array_set_reuse},
                              {"back-pressure", &make_array_back_pressure},
                              {"row bound", &make_array_row_bound},
                              {"stale sum", &make_array_stale_sum}};
    for (const Mutant& mutant : mutants) {
        ArrayCoverage coverage;
        INFO("mutant " << mutant.name << ", SWITCHYARD_SEED=" << random_seed());
        const std::string caught = array_regression(*mutant.make(), {2, 2, false}, random_seed(), 200, coverage);
        CHECK(!caught.empty());
        if (!caught.empty()) WARN("mutant " << mutant.name << " caught: " << caught.substr(0, caught.find('\n')));
    }
}
