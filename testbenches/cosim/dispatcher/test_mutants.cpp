#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/cosim/dispatcher/regression.h"
#include "switchyard/testbenches/cosim/seed.h"

using namespace switchyard;
using namespace switchyard::testing;

namespace switchyard::testing {

std::unique_ptr<rtl::DispatcherModel> make_dispatcher_search_compare();
std::unique_ptr<rtl::DispatcherModel> make_dispatcher_back_pressure();
std::unique_ptr<rtl::DispatcherModel> make_dispatcher_loop_bound();
std::unique_ptr<rtl::DispatcherModel> make_dispatcher_fitting_skipped();
std::unique_ptr<rtl::DispatcherModel> make_dispatcher_loop_order();

}  // namespace switchyard::testing

// Each is dispatcher.sv with one MUTANT_ macro defined.
TEST_CASE("dispatcher mutants: the regression catches each", "[dispatcher][mutants]") {
    struct Mutant {
        const char* name;
        std::unique_ptr<rtl::DispatcherModel> (*make)();
    };
    const Mutant mutants[] = {{"search compare", &make_dispatcher_search_compare},
                              {"back-pressure", &make_dispatcher_back_pressure},
                              {"loop bound", &make_dispatcher_loop_bound},
                              {"fitting skipped", &make_dispatcher_fitting_skipped},
                              {"loop order", &make_dispatcher_loop_order}};
    for (const Mutant& mutant : mutants) {
        FunctionalCoverage coverage;
        const std::string caught = dispatcher_regression(mutant.make(), coverage, static_cast<unsigned>(random_seed()));
        INFO("mutant " << mutant.name << ", SWITCHYARD_SEED=" << random_seed());
        CHECK(!caught.empty());
        if (!caught.empty()) WARN("mutant " << mutant.name << " caught: " << caught.substr(0, caught.find('\n')));
    }
}
