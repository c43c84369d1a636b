// SPDX-License-Identifier: Apache-2.0
#include <Vrouter_coverage.h>
#include <Vrouter_coverage_slow.h>

#include "switchyard/rtl/router/verilated_router.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/cosim/coverage.h"
#include "switchyard/testbenches/cosim/router/regression.h"
#include "switchyard/testbenches/cosim/seed.h"

using namespace switchyard;
using namespace switchyard::testing;
using hw::flit::Config;
using hw::flit::ExternalRouter;

namespace {

/// Leaves its coverage when it dies, in a file of its own.
template <class Top>
class Covered : public rtl::VerilatedRouter<Top, false> {
public:
    Covered(const char* name, const rtl::RouterShape& shape, const Config& network, unsigned router, unsigned ports)
        : rtl::VerilatedRouter<Top, false>(shape, network, router, ports),
          file_(std::string(SWITCHYARD_COVERAGE_FOLDER) + "/" + name + "_" + std::to_string(count++) + ".dat") {}
    ~Covered() override { this->save_coverage(file_); }

private:
    std::string file_;
    static inline unsigned count = 0;
};

}  // namespace

TEST_CASE("router RTL: line and toggle coverage of the regression", "[router][coverage]") {
    Config network;
    network.columns = network.rows = 2;
    CHECK(router_regression(router_loads(network, 5, 2, 4, 600, random_seed()),
                            [](const Config& n, unsigned router, unsigned ports) {
                                return std::make_unique<Covered<Vrouter_coverage>>(
                                    "router", rtl::RouterShape{5, 2, 4, 2, 2}, n, router, ports);
                            }) == "");
    network.routing_cycles = network.switch_alloc_cycles = network.switch_cycles = 2;
    network.vc_alloc_cycles = 3;
    CHECK(router_regression(router_loads(network, 5, 2, 4, 600, random_seed()),
                            [](const Config& n, unsigned router, unsigned ports) {
                                return std::make_unique<Covered<Vrouter_coverage_slow>>(
                                    "router_slow", rtl::RouterShape{5, 2, 4, 2, 2, 2, 3, 2, 2}, n, router, ports);
                            }) == "");
}
