// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "switchyard/testbenches/cosim/seed.h"
#include "switchyard/testbenches/sim_test.h"
#include "switchyard/testbenches/unit/compute/dispatcher_implementations.h"
#include "switchyard/testbenches/unit/compute/random_kernel.h"

using namespace switchyard;
using namespace switchyard::testing;

namespace {

constexpr unsigned kTileRows = 16, kTileColumns = 8;

ComputeConfig configuration(const std::string& impl) {
    ComputeConfig config;
    config.pe_array.rows = kTileRows;
    config.pe_array.columns = kTileColumns;
    config.scratchpad.bytes_per_cycle = 32;  // so that some blocks wait for their operands, some for the way out
    config.scratchpad.write_bytes_per_cycle = 16;
    return with_dispatcher(config, impl);
}

/// Cycles that the blocks in which the outputs lie keep the busiest part of the array or one of its ports.
std::uint64_t steady_cycles(const Kernel& kernel, const CountedNest& nest) {
    const auto ceil = [](std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; };
    std::uint64_t cycles = 0, waves = 0, beats = 0, written = 0;
    for (const auto& [index, block] : nest.blocks) {
        // Accumulators of a PE in its two directions: what a row (column) of PEs holds of distinct rows (columns).
        const std::uint64_t lanes = block.rows.size() * block.columns.size(), passes = block.deepest();
        if (kernel.vector_op != 0)
            cycles += std::max({ceil(lanes * passes * nest.reduction, kTileRows * kTileColumns),
                                ceil(lanes * passes * nest.reduction * 2, 32), ceil(lanes * passes * 2, 16)});
        waves += nest.reduction * passes;
        beats += block.rows.size() * passes;
        written += lanes * passes * 2;
    }
    return kernel.vector_op != 0 ? cycles : std::max({waves, beats, written / 16});
}

}  // namespace

// All implementations do the same work in the same time, and the work is what an enumeration of all outputs finds.
SIM_TEST("dispatcher: implementations agree on random kernels", "[dispatcher]") {
    std::vector<std::string> names{"analytic", "walk"};
    for (const std::string& name : dispatcher_implementations())
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    std::vector<std::unique_ptr<ComputeBench>> benches;
    benches.reserve(names.size());
    for (const std::string& name : names)
        benches.push_back(std::make_unique<ComputeBench>(name.c_str(), configuration(name)));
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    std::mt19937 random(static_cast<unsigned>(10 + random_seed()));
    std::uint64_t macs = 0;
    for (unsigned trial = 0; trial < 120; ++trial) {
        std::vector<Kernel> kernels;
        for (unsigned made_for = 1 + random() % 6; made_for <= 24; made_for += 1 + random() % 9)
            kernels.push_back(random_kernel(random, kTileRows, kTileColumns, made_for));
        for (const auto& bench : benches) REQUIRE(bench->load(kernels).status == ::tlm::TLM_OK_RESPONSE);
        sc_core::sc_start(1, sc_core::SC_MS);
        for (unsigned repeat = 0; repeat < 6; ++repeat) {
            DispatchExtension request;
            request.kernel_count = static_cast<std::uint16_t>(kernels.size());
            request.dyn_dim = random() % (kernels.back().dyn_dim() + 1u);
            request.input_offset = request.weight_offset = request.output_offset = 0x8000;
            request.multicast = random() % 2 == 0;
            const auto fit = std::find_if(kernels.begin(), kernels.end(),
                                          [&](const Kernel& kernel) { return kernel.dyn_dim() >= request.dyn_dim; });
            request.rank = static_cast<std::uint16_t>(random() % ranks_of(*fit));
            CAPTURE(random_seed(), trial, repeat, request.dyn_dim, request.rank);

            DispatchExtension first = request;
            CHECK(benches.front()->dispatch(first).status == ::tlm::TLM_OK_RESPONSE);
            CHECK(first.kernel == fit - kernels.begin());
            if (first.dyn_dim > 0) {
                const CountedNest truth = count_nest(*fit, first.rank, first.dyn_dim);
                CHECK(first.macs == truth.outputs * truth.reduction);
                CHECK(first.blocks_issued == truth.blocks.size());
                CHECK(first.blocks_skipped == truth.all_blocks - truth.blocks.size());
                CHECK(first.cycles >= steady_cycles(*fit, truth));
                macs += first.macs;
            }
            for (std::size_t i = 1; i < benches.size(); ++i) {
                INFO(names[i] << " and " << names.front());
                DispatchExtension other = request;
                CHECK(benches[i]->dispatch(other).status == ::tlm::TLM_OK_RESPONSE);
                CHECK(first.kernel == other.kernel);
                CHECK(first.cycles == other.cycles);
                CHECK(first.macs == other.macs);
                CHECK(first.blocks_issued == other.blocks_issued);
                CHECK(first.blocks_skipped == other.blocks_skipped);
                CHECK(benches[i]->sent.back().cycle == first.cycles);
                CHECK(benches[i]->sent.back().what.multicast == request.multicast);
            }
            sc_core::sc_start(1, sc_core::SC_MS);
        }
    }
    const ComputeBench &analytic = *benches[0], &walk = *benches[1];
    for (const auto& bench : benches) {
        const auto& pes = bench->pe_array.stats();
        const auto& store = bench->scratchpad.stats();
        CHECK(pes.macs + pes.vector_elements == macs);
        CHECK(pes.macs + pes.vector_elements <= pes.busy_cycles * kTileRows * kTileColumns);
        CHECK(bench->sent.size() == 720);
        CHECK(store.read_bytes == analytic.scratchpad.stats().read_bytes);
        CHECK(store.write_bytes == analytic.scratchpad.stats().write_bytes);
        CHECK(bench->dispatcher.stats().kernels_selected == analytic.dispatcher.stats().kernels_selected);
        CHECK(bench->dispatcher.stats().search_cycles == analytic.dispatcher.stats().search_cycles);
        CHECK(bench->registry.errors().empty());
        if (bench != benches.front()) CHECK(store.busy_cycles == walk.scratchpad.stats().busy_cycles);
    }
    // A burst's end is rounded down to 1 ps = 1/1000 cycle, and `walk` has up to three bursts a block.
    const auto max = static_cast<double>(analytic.scratchpad.stats().busy_cycles);
    const auto rounded = 1 + 3 * static_cast<double>(walk.pe_array.stats().commands) / 1000;
    CHECK(static_cast<double>(walk.scratchpad.stats().busy_cycles) == Approx(max).margin(rounded).epsilon(0));
    CHECK(analytic.pe_array.stats().commands < walk.pe_array.stats().commands / 5);
}
