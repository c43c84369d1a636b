// SPDX-License-Identifier: Apache-2.0
#include "switchyard/rtl/router/make_router.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/cosim/router/buffer_bench.h"

using namespace switchyard;
using namespace switchyard::testing;

TEST_CASE("router RTL: every slot of every buffer is used, at full throughput", "[router][throughput]") {
    hw::flit::Config network;
    network.columns = network.rows = 4;
    for (const unsigned slots : {5u, 16u}) {
        network.buffer_flits = slots;
        INFO(slots << " slots");
        CHECK(buffer_difference(network, [](const hw::flit::Config& n, unsigned router, unsigned ports) {
                  return rtl::make_router(n, router, ports);
              }) == "");
    }
}
