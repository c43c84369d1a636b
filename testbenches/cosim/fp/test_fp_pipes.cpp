// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "Vfp16_fma_pipe.h"
#include "Vfp16_mac32_pipe.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/cosim/coverage.h"
#include "switchyard/testbenches/cosim/fp/pipe_bench.h"
#include "switchyard/testbenches/cosim/seed.h"

using namespace switchyard::testing;

namespace {

template <class Format, class Model>
void regression(const std::string& name) {
    const std::uint64_t seed = random_seed();
    INFO(name << ": replay with SWITCHYARD_SEED=" << seed);
    PipeBench<Format, Model> bench(seed);
    CHECK_NOTHROW(pipe_regression(bench));
    for (const auto& [point, hits] : bench.handshakes().points()) {
        INFO(point);
        CHECK(hits > 0);
    }
    save_coverage(bench.context(), name);
    save_functional_coverage("common", name, bench.handshakes().points());
}

}  // namespace

TEST_CASE("pipelined units under random back-pressure", "[fp]") {
    regression<Acc16, Vfp16_fma_pipe>("fp16_fma_pipe");
    regression<Acc32, Vfp16_mac32_pipe>("fp16_mac32_pipe");
}
