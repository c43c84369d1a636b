// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/m_tenant/tenant_kernels.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/workload/profile.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/unit/compiler/chips.h"
#include "switchyard/testbenches/unit/workload/model_text.h"

using namespace switchyard;
using namespace switchyard::platform;
using sched::HardwareDescription;
using sched::Operator;

namespace {

sched::Model chain() {
    return sched::model_of(sched::with_layers(
        "  - {name: a, kind: convolution, from: input, out_channels: 24, filter: 3, pad: 1, fused: [bias, relu]}\n"
        "  - {name: b, kind: convolution, out_channels: 40, filter: 3, stride: 2, pad: 1, fused: [bias]}\n"
        "  - {name: c, kind: pool, filter: 2, stride: 2}\n"
        "  - {name: d, kind: global_pool}\n"
        "  - {name: e, kind: matmul, out_channels: 10, fused: [bias]}\n"));
}

double bytes_of_weights(const Operator& op) {
    return static_cast<double>(op.weight_bytes);
}

}  // namespace

TEST_CASE("a tenant's kernel is no slower than what the scheduler would do on as many tiles", "[m-tenant]") {
    const sched::Model model = chain();
    const HardwareDescription chip = sched::mini_chip();
    TenantKernels tenants(model.graph, chip);
    const sched::Workload workload(model.graph, chip, sched::worst_case_fractions(model.graph));
    sched::StageSearch stages(workload, chip);
    sched::KernelSearch search(chip);
    for (int op = 0; op < static_cast<int>(model.graph.operators.size()); ++op) {
        const Operator& one = model.graph.operators[static_cast<std::size_t>(op)];
        for (const unsigned tiles : {1u, 2u, 3u, 4u}) {
            for (const std::uint32_t samples : {1u, 3u, 8u}) {
                const sched::BufferSlots slots{sched::BufferSlots::Inputs(one.inputs.size(), 2), 2};
                const sched::Stage& stage = stages.best({op, samples, slots}, tiles);
                REQUIRE(stage.fits);
                const sched::TileWork work =
                    sched::tile_work(one.shape, workload.items[op].operands, stage.largest, stage.k_factor);
                const auto cycles = static_cast<double>(search.best(work).cost.cycles);
                const double bandwidth = chip.memory_bytes_per_cycle() * tiles / chip.tiles();
                const TenantKernel& kernel = tenants.best(op, samples, tiles);
                CAPTURE(one.name, tiles, samples);
                // One round: all operands, then the kernel, then all results. The search goes by an estimate that is
                // within 10 % of the kernel (test_stage.cpp).
                const double one_round = (kernel.bytes.hbm_read + kernel.bytes.hbm_written) / bandwidth +
                                         std::max({cycles, stage.in_cycles, stage.out_cycles});
                CHECK(kernel.cycles_at(bandwidth) <= 1.1 * one_round);
                CHECK(kernel.tiles() <= tiles);
            }
        }
    }
}

TEST_CASE("no kernel beats its PEs, its bytes or its links", "[m-tenant]") {
    const sched::Model model = chain();
    const HardwareDescription chip = sched::mini_chip();
    TenantKernels tenants(model.graph, chip);
    for (int op = 0; op < static_cast<int>(model.graph.operators.size()); ++op) {
        const Operator& one = model.graph.operators[static_cast<std::size_t>(op)];
        for (const std::uint32_t samples : {1u, 5u, 8u}) {
            const TenantKernel& kernel = tenants.best(op, samples, 4);
            CAPTURE(one.name, samples);
            const double macs = static_cast<double>(one.macs_per_sample) * samples;
            CHECK(kernel.cycles_at(1e12) >= macs / (4 * 64));
            CHECK(kernel.rounds() * kernel.block_cycles >= macs / (4 * 64));
            const double min = tenants.read_bytes_per_sample(op) * samples + bytes_of_weights(one);
            CHECK(kernel.bytes.hbm_read >= min * (1 - 1e-12));
            CHECK(kernel.bytes.hbm_written == tenants.written_bytes_per_sample(op) * samples);
            CHECK(kernel.cycles_at(10) >= kernel.hbm_bytes() / 10 * (1 - 1e-12));
            CHECK(kernel.cycles_at(chip.memory_bytes_per_cycle()) >= tenants.min_cycles(op, samples) * (1 - 1e-12));
            // What arrives passes four links, what leaves too.
            CHECK(kernel.cycles_at(1e12) >= min / (4 * chip.link_bytes_per_cycle) * (1 - 1e-12));
            // Tiles that read along get copies; accesses of the arrays come on top.
            CHECK(kernel.bytes.scratchpad_written >= kernel.bytes.hbm_read);
            CHECK(kernel.bytes.scratchpad_read >= kernel.bytes.hbm_written);
        }
    }
}

TEST_CASE("a matmul reads its operands once when they fit", "[m-tenant]") {
    const sched::Model model = sched::model_of(
        "name: t\nbatch: 8\ninput: {channels: 32, rows: 16}\nlayers:\n"
        "  - {name: a, kind: matmul, from: input, out_channels: 64}\n");
    TenantKernels tenants(model.graph, sched::mini_chip());
    const TenantKernel& kernel = tenants.best(0, 8, 4);
    CHECK(kernel.k_rounds == 1);
    CHECK(kernel.bytes.hbm_read == 8 * 32 * 16 * 2 + 32 * 64 * 2);
    CHECK(kernel.bytes.hbm_written == 8 * 64 * 16 * 2);
    CHECK(kernel.rounds() * kernel.block_cycles <= 1.1 * 8.0 * 16 * 32 * 64 / (4 * 64));
}

TEST_CASE("tiles that share no reads fetch what they need one by one", "[m-tenant]") {
    const sched::Model model = sched::model_of(
        "name: t\nbatch: 8\ninput: {channels: 32, rows: 16}\nlayers:\n"
        "  - {name: a, kind: matmul, from: input, out_channels: 64}\n");
    constexpr double kInputs = 8 * 32 * 16 * 2, kWeights = 32 * 64 * 2;
    HardwareDescription unicast = sched::mini_chip();
    unicast.multicast_reads = false;
    TenantKernels shared(model.graph, sched::mini_chip()), own(model.graph, unicast);
    const TenantKernel& kernel = own.best(0, 8, 4);
    REQUIRE(kernel.stays == Stays::weights);
    REQUIRE(kernel.tiles() == 4);
    const double inputs = kInputs * kernel.k_factor, weights = kWeights * kernel.n_factor * kernel.p_factor;
    // A tile's slice of weights is needed by n x p tiles, its samples and rows by k tiles.
    CHECK(kernel.bytes.hbm_read == inputs + weights);
    CHECK(kernel.first_bytes == inputs / kernel.rounds() + weights);
    CHECK(kernel.bytes.hbm_written == shared.best(0, 8, 4).bytes.hbm_written);
    CHECK(kernel.bytes.hbm_read > shared.best(0, 8, 4).bytes.hbm_read);
    const double bandwidth = sched::mini_chip().memory_bytes_per_cycle();
    CHECK(kernel.cycles_at(bandwidth) >= shared.best(0, 8, 4).cycles_at(bandwidth));
}

TEST_CASE("a tile of an attention reads its heads alone", "[m-tenant]") {
    const sched::Model model = sched::model_of(
        "name: t\nbatch: 8\ninput: {channels: 32, rows: 16}\nlayers:\n"
        "  - {name: a, kind: matmul, from: input, out_channels: 96}\n"
        "  - {name: b, kind: attention, heads: 8}\n");
    HardwareDescription unicast = sched::mini_chip();
    unicast.multicast_reads = false;
    for (const HardwareDescription& chip : {sched::mini_chip(), unicast}) {
        TenantKernels tenants(model.graph, chip);
        const TenantKernel& kernel = tenants.best(1, 1, 4);  // one sample: tiles share it by heads, or by rows
        REQUIRE(kernel.tiles() == 4);
        CHECK(kernel.bytes.hbm_read == 96 * 16 * 2 * kernel.p_factor);
    }
}

TEST_CASE("rounds take as long as their slowest resource, the first and the last wait for their bytes", "[m-tenant]") {
    TenantKernel kernel;
    kernel.n_rounds = 5;
    kernel.block_cycles = 100;
    kernel.bytes.hbm_read = 5000;
    kernel.bytes.hbm_written = 500;
    kernel.first_bytes = 1000;
    kernel.last_bytes = 100;
    SECTION("arithmetic") {
        CHECK(kernel.cycles_at(20) == 50 + 5 * 100 + 5);
    }
    SECTION("memory") {
        CHECK(kernel.cycles_at(10) == 100 + 100 + 4 * 110 + 10);
    }
    SECTION("a link") {
        kernel.in_cycles = 120;
        kernel.first_cycles = 60;
        kernel.last_cycles = 7;
        CHECK(kernel.cycles_at(20) == 60 + 100 + 4 * 120 + 7);
    }
    SECTION("latency that two slots do not hide") {
        kernel.access_cycles = 150;
        CHECK(kernel.cycles_at(20) == 50 + 100 + 4 * 150 + 5);
    }
    SECTION("one round hides nothing") {
        kernel.n_rounds = 1;
        kernel.first_bytes = 5000;
        kernel.last_bytes = 500;
        CHECK(kernel.cycles_at(10) == 500 + 100 + 50);
    }
}

TEST_CASE("weights that do not fit pass in rounds, and something is read again", "[m-tenant]") {
    const sched::Model model = sched::model_of(
        "name: t\nbatch: 64\ninput: {channels: 1024}\nlayers:\n"
        "  - {name: a, kind: matmul, from: input, out_channels: 1024}\n");
    TenantKernels tenants(model.graph, sched::mini_chip());  // 2 MiB of weights, 4 tiles of 122 KiB
    const TenantKernel& kernel = tenants.best(0, 64, 4);
    const double inputs = 64 * 1024 * 2, weights = 1024 * 1024 * 2;
    CHECK(kernel.k_rounds > 1);
    switch (kernel.stays) {
        case Stays::weights:
            FAIL("they do not fit");
            break;
        case Stays::weight_rounds:
            CHECK(kernel.bytes.hbm_read == inputs * kernel.k_rounds + weights);
            break;
        case Stays::inputs:
            CHECK(kernel.bytes.hbm_read == inputs + weights * kernel.n_rounds * kernel.p_rounds);
            break;
        case Stays::results:
            CHECK(kernel.bytes.hbm_read == inputs * kernel.k_rounds + weights * kernel.n_rounds * kernel.p_rounds);
            break;
    }
    CHECK(kernel.first_bytes < kernel.bytes.hbm_read);
    CHECK(kernel.rounds() * kernel.block_cycles >= 64.0 * 1024 * 1024 / 256);
}

TEST_CASE("long reductions are cut where inputs do not fit otherwise", "[m-tenant]") {
    const sched::Model model = sched::model_of(
        "name: t\nbatch: 8\ninput: {channels: 16384, rows: 32}\nlayers:\n"
        "  - {name: a, kind: matmul, from: input, out_channels: 8}\n");
    TenantKernels tenants(model.graph, sched::mini_chip());  // 32 KiB of inputs a token
    const TenantKernel& kernel = tenants.best(0, 8, 4);
    CHECK(kernel.c_rounds > 1);
    CHECK(kernel.bytes.hbm_read >= 8 * 32 * 16384 * 2 + 16384 * 8 * 2);
    // Without it, a tile would hold one token at a time: one of eight rows of PEs.
    CHECK(kernel.rounds() * kernel.block_cycles < 8 * 32 * 16384.0 * 8 / 256 * 2);
}

TEST_CASE("a 1x1 convolution with stride 2 reads every second row", "[m-tenant]") {
    const sched::Model model = sched::model_of(
        sched::with_layers("  - {name: a, kind: convolution, from: input, out_channels: 32, filter: 1, stride: 2}\n"));
    TenantKernels tenants(model.graph, sched::mini_chip());
    CHECK(tenants.read_bytes_per_sample(0) == 2.0 * 16 * 8 * 7);  // up to the last row that it needs
    CHECK(tenants.min_read_bytes_per_sample(0) == 2.0 * 16 * 8 * 4);
    CHECK(tenants.best(0, 8, 4).bytes.hbm_read >= 8 * tenants.min_read_bytes_per_sample(0));
}

TEST_CASE("results are written the way they are asked for", "[m-tenant]") {
    const sched::Model model =
        sched::model_of(sched::with_switch("  - {name: e1, kind: elementwise, from: s.1, fused: [relu]}\n"
                                           "  - {name: out, kind: merge, from: [s.0, e1]}\n"
                                           "  - {name: last, kind: global_pool, from: out}\n"
                                           "  - {name: head, kind: matmul, out_channels: 10}\n"));
    TenantKernels tenants(model.graph, sched::mini_chip());
    const double whole = 16 * 8 * 8 * 2, pooled = 16 * 8 * 2;  // partial sums of eight rows
    const auto written = [&](const char* name) {
        return tenants.written_bytes_per_sample(model.graph.find_operator(name));
    };
    CHECK(written("stem") == whole + pooled);  // to the branches, for the gate; behind the merge pooled again
    CHECK(written("e1") == pooled);            // only its mean is used, behind the merge
    CHECK(written("gate") == 2);               // the mask goes to the host
    CHECK(written("head") == 20);
    CHECK(is_index_only(model.graph.operators[static_cast<std::size_t>(model.graph.find_operator("out"))]));
    CHECK_FALSE(is_index_only(model.graph.operators[static_cast<std::size_t>(model.graph.find_operator("e1"))]));
}

TEST_CASE("what does not fit whatever is tried is refused by name", "[m-tenant]") {
    const sched::Model model = sched::model_of(
        "name: t\nbatch: 2\ninput: {channels: 1536, rows: 64}\nlayers:\n"
        "  - {name: whole, kind: attention, from: input}\n");
    TenantKernels tenants(model.graph, sched::mini_chip());
    CHECK_THROWS_WITH(tenants.best(0, 2, 4),
                      Catch::Matchers::ContainsSubstring(
                          "layers.whole: expected a data area of a tile that holds one row and channel of one sample"));
}
