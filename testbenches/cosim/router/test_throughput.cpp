#include "switchyard/rtl/router/make_router.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/cosim/router/buffer_bench.h"

using namespace switchyard;
using namespace switchyard::testing;

TEST_CASE("router RTL: every place of every buffer is used, at full throughput", "[router][throughput]") {
    hw::flit::Config network;
    network.columns = network.rows = 4;
    for (const unsigned places : {5u, 16u}) {
        network.buffer_flits = places;
        INFO(places << " places");
        CHECK(buffer_difference(network, [](const hw::flit::Config& n, unsigned router, unsigned ports) {
                  return rtl::make_router(n, router, ports);
              }) == "");
    }
}
