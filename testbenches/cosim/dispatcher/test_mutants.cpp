// SPDX-License-Identifier: Apache-2.0
#include <Vprofiler_counters_mutants.h>
#include <Vstream_queue_mutants.h>

#include "switchyard/testbenches/cosim/dispatcher/counter_bench.h"
#include "switchyard/testbenches/cosim/dispatcher/queue_bench.h"
#include "switchyard/testbenches/cosim/dispatcher/regression.h"
#include "switchyard/testbenches/cosim/mutation/mutation_test.h"
#include "switchyard/testbenches/cosim/seed.h"

using namespace switchyard;
using namespace switchyard::testing;

namespace switchyard::testing {

std::unique_ptr<rtl::DispatcherModel> make_dispatcher_mutants();

}  // namespace switchyard::testing

namespace {

std::string regression(const Mutant& mutant) {
    if (mutant.file == "stream_queue.sv") {
        QueueBench<Vstream_queue_mutants> queue;
        if (std::string found = queue.difference(random_seed()); !found.empty()) return found;
    }
    if (mutant.file == "profiler_counters.sv") {
        CounterBench<Vprofiler_counters_mutants> counters;
        if (std::string found = counters.difference(random_seed()); !found.empty()) return found;
    }
    FunctionalCoverage coverage;
    std::string found = dispatcher_regression(make_dispatcher_mutants(), coverage, static_cast<unsigned>(random_seed()),
                                              {}, mutant.kind == "reset");
    if (found.empty() && !coverage.unexpected().empty()) found = "should not exist: " + coverage.unexpected().front();
    return found;
}

}  // namespace

TEST_CASE("dispatcher mutants: a sample", "[mutants]") {
    check_mutants("dispatcher", MUTANTS, 50, &regression);
}

TEST_CASE("dispatcher mutants: all", "[.all-mutants]") {
    check_mutants("dispatcher", MUTANTS, 1, &regression);
}
