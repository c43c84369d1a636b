#include <algorithm>

#include "switchyard/testbenches/sim_test.h"
#include "switchyard/testbenches/unit/compute/compute_bench.h"
#include "switchyard/testbenches/unit/compute/random_kernel.h"

using namespace switchyard;
using namespace switchyard::testing;

namespace {

constexpr unsigned kRows = 16, kColumns = 8;

ComputeConfig configuration(const std::string& impl) {
    ComputeConfig config;
    config.dispatcher.impl = impl;
    config.pe_array.rows = kRows;
    config.pe_array.columns = kColumns;
    config.scratchpad.bytes_per_cycle = 32;  // so that some blocks wait for their operands, some for the way out
    config.scratchpad.write_bytes_per_cycle = 16;
    return config;
}

/// Steady cycles of the blocks that the outputs lie in, without fill, drain and latency.
std::uint64_t steady_cycles(const Kernel& kernel, const CountedNest& nest) {
    const auto ceil = [](std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; };
    std::uint64_t cycles = 0;
    for (const auto& [index, block] : nest.blocks) {
        // Accumulators of a PE in its two directions: what a row (column) of PEs holds of distinct rows (columns).
        const std::uint64_t lanes = block.rows.size() * block.columns.size(), passes = block.deepest();
        if (kernel.vector_op != 0)
            cycles += std::max({ceil(lanes * passes * nest.reduction, kRows * kColumns),
                                ceil(lanes * passes * nest.reduction * 2, 32), ceil(lanes * passes * 2, 16)});
        else
            cycles += std::max({nest.reduction * passes, block.rows.size() * passes, ceil(lanes * passes * 2, 16)});
    }
    return cycles;
}

}  // namespace

// Both implementations do the same work in the same time, and the work is what an enumeration of all outputs finds.
SIM_TEST("dispatcher: both implementations agree on random kernels", "[dispatcher]") {
    ComputeBench analytic("analytic", configuration("analytic")), walk("walk", configuration("walk"));
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    std::mt19937 random(11);
    std::uint64_t macs = 0;
    for (unsigned trial = 0; trial < 120; ++trial) {
        std::vector<Kernel> kernels;
        for (unsigned made_for = 1 + random() % 6; made_for <= 24; made_for += 1 + random() % 9)
            kernels.push_back(random_kernel(random, kRows, kColumns, made_for));
        REQUIRE(analytic.load(kernels).status == ::tlm::TLM_OK_RESPONSE);
        REQUIRE(walk.load(kernels).status == ::tlm::TLM_OK_RESPONSE);
        sc_core::sc_start(1, sc_core::SC_MS);
        for (unsigned repeat = 0; repeat < 6; ++repeat) {
            DispatchExtension a;
            a.kernel_count = static_cast<std::uint16_t>(kernels.size());
            a.dyn_dim = random() % (kernels.back().dyn_dim() + 1u);
            a.input_offset = a.weight_offset = a.output_offset = 0x8000;
            const auto fit = std::find_if(kernels.begin(), kernels.end(),
                                          [&](const Kernel& kernel) { return kernel.dyn_dim() >= a.dyn_dim; });
            a.rank = static_cast<std::uint16_t>(random() % ranks_of(*fit));
            DispatchExtension w = a;
            CAPTURE(trial, repeat, a.dyn_dim, a.rank);
            CHECK(analytic.dispatch(a).status == ::tlm::TLM_OK_RESPONSE);
            CHECK(walk.dispatch(w).status == ::tlm::TLM_OK_RESPONSE);
            CHECK(a.kernel == fit - kernels.begin());
            CHECK(a.kernel == w.kernel);
            CHECK(a.cycles == w.cycles);
            CHECK(a.macs == w.macs);
            CHECK(a.blocks_issued == w.blocks_issued);
            CHECK(a.blocks_skipped == w.blocks_skipped);

            if (a.dyn_dim > 0) {
                const CountedNest truth = count_nest(*fit, a.rank, a.dyn_dim);
                CHECK(a.macs == truth.outputs * truth.reduction);
                CHECK(a.blocks_issued == truth.blocks.size());
                CHECK(a.blocks_skipped == truth.all_blocks - truth.blocks.size());
                CHECK(a.cycles >= steady_cycles(*fit, truth));
                macs += a.macs;
            }
            sc_core::sc_start(1, sc_core::SC_MS);
        }
    }
    for (const ComputeBench* bench : {&analytic, &walk}) {
        const auto& pes = bench->pe_array.stats();
        const auto& store = bench->scratchpad.stats();
        CHECK(pes.macs + pes.vector_elements == macs);
        CHECK(pes.macs + pes.vector_elements <= pes.busy_cycles * kRows * kColumns);
        CHECK(bench->sent.size() == 720);
        CHECK(store.read_bytes == analytic.scratchpad.stats().read_bytes);
        CHECK(store.write_bytes == analytic.scratchpad.stats().write_bytes);
    }
    // A burst's end is rounded down to 1 ps = 1/1000 cycle, and `walk` has up to three bursts a block.
    const auto most = static_cast<double>(analytic.scratchpad.stats().busy_cycles);
    const auto rounded = 1 + 3 * static_cast<double>(walk.pe_array.stats().commands) / 1000;
    CHECK(static_cast<double>(walk.scratchpad.stats().busy_cycles) == Approx(most).margin(rounded).epsilon(0));
    CHECK(analytic.pe_array.stats().commands < walk.pe_array.stats().commands / 5);
    CHECK(analytic.dispatcher.stats().kernels_picked == walk.dispatcher.stats().kernels_picked);
}
