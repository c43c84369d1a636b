// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <filesystem>

#include "switchyard/rtl/dispatcher/lockstep_dispatcher.h"
#include "switchyard/testbenches/cosim/dispatcher/fst_changes.h"
#include "switchyard/testbenches/sim_test.h"
#include "switchyard/testbenches/unit/compute/dispatcher_implementations.h"

using namespace switchyard;
using namespace switchyard::testing;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;

namespace switchyard::testing {
std::unique_ptr<rtl::DispatcherModel> make_dispatcher_traced_mutant();  // its search compares with <=
}

namespace {

ComputeConfig with_mutant() {
    ComputeConfig config;
    config.make_dispatcher = [](const char* name, const hw::KernelDispatcher::Config& dispatcher,
                                SimulationRegistry& registry) -> std::unique_ptr<hw::KernelDispatcher> {
        return std::make_unique<rtl::LockstepDispatcher>(name, dispatcher, registry, make_dispatcher_traced_mutant());
    };
    return config;
}

std::vector<Kernel> two_kernels() {
    return {gemm_kernel(4, 32, 64, 4, 32), gemm_kernel(16, 32, 64, 16, 32)};
}

DispatchExtension request(unsigned dyn_dim) {
    DispatchExtension dispatch;
    dispatch.kernel_count = 2;
    dispatch.dyn_dim = dyn_dim;
    dispatch.input_offset = dispatch.weight_offset = dispatch.output_offset = 0x8000;
    return dispatch;
}

}  // namespace

SIM_TEST("dispatcher lockstep: stops at the first difference with both sides and a waveform", "[dispatcher]") {
    const std::string wave = "difference.dispatcher.lockstep.fst";
    {
        ComputeBench bench("difference", with_mutant());
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
        bench.load(two_kernels());
        DispatchExtension same = request(3), other = request(4);  // the mutant takes a dyn_dim of 4 for too small for 4
        CHECK(bench.dispatch(same).status == ::tlm::TLM_OK_RESPONSE);
        sc_core::sc_start(1, sc_core::SC_US);
        std::string message;
        try {
            bench.dispatch(other);
        } catch (const ModelError& error) {
            message = error.what();
        }
        CHECK_THAT(message, ContainsSubstring("1 us: difference.dispatcher.rtl: fetch 0 of the command is of kernel 1, "
                                              "not of kernel 0, which fits dyn_dim 4; cycle "));
        CHECK_THAT(message, ContainsSubstring("state fetch, 2 kernels, asks for kernel 1"));
        CHECK_THAT(message, EndsWith("; waveform: " + wave));
    }
    const auto changes = fst_changes(wave);
    CHECK(changes.at("clk_i") > 20);
    CHECK(changes.at("state_o [2:0]") > 8);
    CHECK(changes.at("instr_valid_o") > 1);
    CHECK(std::remove(wave.c_str()) == 0);
}

SIM_TEST("dispatcher lockstep: leaves no files when there is no difference", "[dispatcher]") {
    {
        ComputeBench bench("same", with_dispatcher({}, "lockstep"));
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
        bench.load(two_kernels());
        for (unsigned i = 0; i < 1500; ++i) {
            DispatchExtension dispatch = request(i % 17);
            CHECK(bench.dispatch(dispatch).status == ::tlm::TLM_OK_RESPONSE);
            sc_core::sc_start(1, sc_core::SC_US);
        }
    }
    CHECK(!std::filesystem::exists("same.dispatcher.lockstep.fst"));
}

SIM_TEST("dispatcher RTL: not evaluated while it has nothing to do", "[dispatcher]") {
    ComputeBench bench("bench", with_dispatcher({}, "rtl"));
    const auto& dispatcher = dynamic_cast<const rtl::RtlDispatcher&>(bench.dispatcher);
    sc_core::sc_start(1, sc_core::SC_MS);
    CHECK(dispatcher.cycles() == 0);
    bench.load(two_kernels());
    CHECK(dispatcher.cycles() == 1 + 2 * 2 + 1);  // command, two fetches, result
    DispatchExtension dispatch = request(4);
    bench.dispatch(dispatch);
    const std::uint64_t cycles = dispatcher.cycles();
    CHECK(cycles == 6 + 1 + 2 + 2 + 1 + 1 + 1);  // command, search, fetch, one block, send, result
    sc_core::sc_start(1, sc_core::SC_MS);
    CHECK(dispatcher.cycles() == cycles);
}
