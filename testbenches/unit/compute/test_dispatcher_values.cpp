// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/cosim/seed.h"
#include "switchyard/testbenches/sim_test.h"
#include "switchyard/testbenches/unit/compute/dispatcher_implementations.h"
#include "switchyard/testbenches/unit/compute/valued_operator.h"

using namespace switchyard;
using namespace switchyard::testing;
using Catch::Matchers::ContainsSubstring;

// Dispatcher, PE array and scratchpad together compute what plain loops over the operator's tensors compute.
TEST_CASE("dispatcher with values: each kind of operator, on each rank", "[dispatcher][values]") {
    for (const std::string& impl : dispatcher_implementations()) {
        in_child([&] {
            ComputeConfig config;
            config.pe_array.rows = 6;
            config.pe_array.columns = 4;
            ComputeBench bench("bench", with_dispatcher(config, impl));
            sc_core::sc_start(sc_core::SC_ZERO_TIME);
            INFO("implementation " << impl << ", SWITCHYARD_SEED=" << random_seed());
            std::mt19937 random(static_cast<unsigned>(random_seed()));
            for (unsigned trial = 0; trial < 12; ++trial) {
                for (const ValuedOperator::Case which : ValuedOperator::kCases) {
                    const ValuedOperator valued(which, 6, 4, random);
                    REQUIRE(bench.load({valued.kernel()}).status == ::tlm::TLM_OK_RESPONSE);
                    for (unsigned rank = 0; rank <= valued.ranks(); ++rank) {
                        valued.check(bench, rank);
                        sc_core::sc_start(1, sc_core::SC_MS);
                    }
                }
            }
        });
    }
}

TEST_CASE("dispatcher with values: a kernel that is not the operator's", "[dispatcher][values]") {
    for (const std::string& impl : dispatcher_implementations()) {
        in_child([&] {
            ComputeBench bench("bench", with_dispatcher({}, impl));
            sc_core::sc_start(sc_core::SC_ZERO_TIME);
            bench.load({gemm_kernel(4, 8, 16, 4, 8)});
            OperatorValues values;
            values.shape.out_channels = 9;
            values.shape.in_channels = 16;
            values.sources.emplace_back();
            DispatchExtension dispatch;
            dispatch.kernel_count = 1;
            dispatch.dyn_dim = 4;
            dispatch.values = &values;
            CHECK(bench.dispatch(dispatch).status == ::tlm::TLM_GENERIC_ERROR_RESPONSE);
            CHECK_THAT(bench.registry.errors().back(),
                       ContainsSubstring("bench.dispatcher: kernel 0: expected a result of its operator's 9 channels"));
        });
    }
}
