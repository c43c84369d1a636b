#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/cosim/router/regression.h"
#include "switchyard/testbenches/cosim/seed.h"

using namespace switchyard;
using namespace switchyard::testing;
using hw::flit::Config;
using hw::flit::ExternalRouter;

namespace switchyard::testing {

std::unique_ptr<ExternalRouter> make_router_copy_to_all(const Config& network, unsigned router, unsigned ports);
std::unique_ptr<ExternalRouter> make_router_part_of_a_copy(const Config& network, unsigned router, unsigned ports);
std::unique_ptr<ExternalRouter> make_router_drop_early(const Config& network, unsigned router, unsigned ports);
std::unique_ptr<ExternalRouter> make_router_dateline(const Config& network, unsigned router, unsigned ports);
std::unique_ptr<ExternalRouter> make_router_grant_pointer(const Config& network, unsigned router, unsigned ports);
std::unique_ptr<ExternalRouter> make_router_credit_lost(const Config& network, unsigned router, unsigned ports);

}  // namespace switchyard::testing

// Each is rtl/router with one MUTANT_ macro defined.
TEST_CASE("router mutants: the regression catches each", "[router][mutants]") {
    struct Mutant {
        const char* name;
        MakeRouter make;
    };
    const Mutant mutants[] = {
        {"copy to all", &make_router_copy_to_all},     {"part of a copy", &make_router_part_of_a_copy},
        {"drop early", &make_router_drop_early},       {"dateline", &make_router_dateline},
        {"grant pointer", &make_router_grant_pointer}, {"credit lost", &make_router_credit_lost}};
    Config network;
    network.columns = network.rows = 4;
    for (const Mutant& mutant : mutants) {
        const std::string caught = router_regression(router_loads(network, 5, 2, 8, 500, random_seed()), mutant.make);
        INFO("mutant " << mutant.name << ", SWITCHYARD_SEED=" << random_seed());
        CHECK(!caught.empty());
        if (!caught.empty()) WARN("mutant " << mutant.name << " caught: " << caught);
    }
}
