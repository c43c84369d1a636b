// SPDX-License-Identifier: Apache-2.0
#include <Vprofiler_counters.h>

#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/cosim/dispatcher/counter_bench.h"
#include "switchyard/testbenches/cosim/seed.h"

using namespace switchyard::testing;

TEST_CASE("profiler counters RTL: count through every carry up to 2^17, one at a time", "[dispatcher]") {
    CounterBench<Vprofiler_counters> bench;
    CHECK(bench.difference(random_seed()) == "");
}
