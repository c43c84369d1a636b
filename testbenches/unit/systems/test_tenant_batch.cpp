// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "switchyard/platform/systems/m_tenant/tenant_batch.h"
#include "switchyard/sw_scheduler/workload/dataflow.h"
#include "switchyard/sw_scheduler/workload/route_provider.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/unit/compiler/chips.h"
#include "switchyard/testbenches/unit/systems/branches.h"

using namespace switchyard;
using namespace switchyard::platform;
using sched::HardwareDescription;

namespace {

/// Four tiles and 64 bytes a cycle, so that element-wise operators wait for memory only.
HardwareDescription slow_memory() {
    HardwareDescription chip = sched::mini_chip();
    chip.memory = {{0, 32}, {2, 32}};
    return chip;
}

/// From a request to its first byte, or from a last byte until it is written, on slow_memory(): 8 cycles of set-up,
/// twice one hop of 2 cycles on average (a quarter of a ring of two in each dimension), 100 cycles of HBM.
constexpr double kAccess = 8 + 2 * 2 + 100;
constexpr double kHost = 10 * 1000;  // cycles of 10 us at 1 GHz

std::size_t id_of(const sched::Model& model, const char* name) {
    return static_cast<std::size_t>(model.graph.find_operator(name));
}

TenantBatch run(const sched::Model& model, const HardwareDescription& hardware, const BatchRouting& routing,
                const TenantConfig& config = {}) {
    return TenantChip(model.graph, hardware, config).run(routing);
}

}  // namespace

TEST_CASE("tiles are shared out in proportion to remaining work", "[m-tenant]") {
    TenantConfig config;
    CHECK(share_tiles(config, 144, {1}) == std::vector<unsigned>{144});
    CHECK(share_tiles(config, 144, {1, 1}) == std::vector<unsigned>{72, 72});
    CHECK(share_tiles(config, 144, {3, 1}) == std::vector<unsigned>{108, 36});
    CHECK(share_tiles(config, 4, {1, 7}) == std::vector<unsigned>{1, 3});
    CHECK(share_tiles(config, 2, {5, 1, 3}) == std::vector<unsigned>{1, 0, 1});
    CHECK(share_tiles(config, 4, {}).empty());
    SECTION("or to its inverse") {
        config.shares = "inverse";
        CHECK(share_tiles(config, 144, {3, 1}) == std::vector<unsigned>{36, 108});
    }
    SECTION("in powers of two") {
        config.groups = "power_of_two";
        CHECK(share_tiles(config, 144, {1}) == std::vector<unsigned>{128});
        CHECK(share_tiles(config, 144, {1, 1}) == std::vector<unsigned>{64, 64});
        CHECK(share_tiles(config, 144, {3, 1}) == std::vector<unsigned>{64, 64});
        CHECK(share_tiles(config, 16, {4, 1, 1}) == std::vector<unsigned>{8, 4, 4});
    }
}

TEST_CASE("one operator alone takes as long as its kernel", "[m-tenant]") {
    const sched::Model model = sched::model_of(sched::with_layers(
        "  - {name: a, kind: convolution, from: input, out_channels: 32, filter: 3, pad: 1, fused: [bias]}\n"));
    const HardwareDescription chip = sched::mini_chip();
    TenantChip tenants(model.graph, chip, {});
    const TenantBatch batch = tenants.run(BatchRouting{8, {}});
    const TenantKernel& kernel = tenants.kernels().best(0, 8, 4);
    CHECK(batch.cycles == Approx(2 * kAccess + kernel.cycles_at(chip.memory_bytes_per_cycle())));
    CHECK(batch.idle_cycles == Approx(2 * kAccess));
    CHECK(batch.macs == 8.0 * 64 * 32 * 16 * 9);
    CHECK(batch.bytes.hbm_read == Approx(kernel.bytes.hbm_read));
    CHECK(batch.tile_cycles == Approx(4 * (batch.cycles - 2 * kAccess)));
    CHECK(batch.operator_tiles[0] == Approx(4));
    CHECK(batch.synchronisations == 0);
    // Arithmetic bounds it here: 8 x 64 x 32 x 144 products on 256 PEs.
    CHECK(batch.cycles >= 8.0 * 64 * 32 * 144 / 256);
    CHECK(batch.cycles <= 1.15 * 8 * 64 * 32 * 144 / 256 + 2 * kAccess);
}

TEST_CASE("two branches, worked by hand", "[m-tenant]") {
    const sched::Model model = two_branches();
    const HardwareDescription chip = slow_memory();
    TenantChip tenants(model.graph, chip, {});
    const auto cycles = [&](const char* name, std::uint32_t samples, unsigned tiles) {
        return tenants.kernels().best(static_cast<int>(id_of(model, name)), samples, tiles).cycles_at(16.0 * tiles);
    };
    // stem: 8 samples of 2048 bytes in, out, and 8 x 16 partial sums of 2 bytes a sample for the gate; 64 bytes a
    // cycle.
    const double stem = cycles("stem", 8, 4), stem_bytes = 8 * (2048 + 2048 + 256);
    CHECK(stem >= stem_bytes / 64);
    CHECK(stem <= 1.15 * stem_bytes / 64);
    const double gate = cycles("gate", 8, 4);
    CHECK(gate >= (8 * 256 + 16 * 2 + 8 * 2) / 64.0);
    CHECK(gate < 150);
    // Each of stem, gate, branches waits for its first byte and until its last one is written; the host makes the index
    // lists of the switch and of the merge.
    const double around = 6 * kAccess + stem + gate + 2 * kHost;

    SECTION("equal ones have two tiles each") {
        const double branch = cycles("e0", 4, 2);
        CHECK(branch >= 4 * 2 * 2048 / 32.0);
        CHECK(branch <= 1.15 * 4 * 2 * 2048 / 32.0);
        const TenantBatch batch = tenants.run(routed(4));
        CHECK(batch.cycles == Approx(around + branch));
        CHECK(batch.idle_cycles == Approx(6 * kAccess + 2 * kHost));
        CHECK(batch.operator_tiles[id_of(model, "e0")] == Approx(2));
        CHECK(batch.operator_tiles[id_of(model, "e1")] == Approx(2));
        CHECK(batch.synchronisations == 2);
        CHECK(batch.bytes.hbm_read == Approx(2 * 8 * 2048 + 8 * 256 + 16 * 2));
        CHECK(batch.bytes.hbm_written == Approx(2 * 8 * 2048 + 8 * 256 + 8 * 2));
        CHECK(batch.max_bytes_per_cycle <= 64);
        CHECK(batch.macs == Approx(8 * 16));
        CHECK(batch.vector_elements == Approx(2 * 8 * 1024));
    }
    SECTION("a tenant that has ended leaves its tiles to the other, which keeps its progress") {
        // 1 and 7 samples on 1 and 3 tiles.
        const double first = cycles("e0", 1, 1), second = cycles("e1", 7, 3), rest = cycles("e1", 7, 4);
        REQUIRE(first < second);
        const double branches = first + (1 - first / second) * rest;
        CHECK(branches >= 8 * 2 * 2048 / 64.0);
        CHECK(branches <= 1.2 * 8 * 2 * 2048 / 64.0);
        const TenantBatch batch = tenants.run(routed(1));
        CHECK(batch.cycles == Approx(around + branches));
        CHECK(batch.operator_tiles[id_of(model, "e0")] == Approx(1));
        CHECK(batch.operator_tiles[id_of(model, "e1")] == Approx((3 * first + 4 * (branches - first)) / branches));
        CHECK(batch.operator_cycles[id_of(model, "e0")] == Approx(2 * kAccess + first));
        CHECK(batch.operator_cycles[id_of(model, "e1")] == Approx(2 * kAccess + branches));
    }
    SECTION("a branch without samples gets no tiles") {
        const TenantBatch batch = tenants.run(routed(0));
        CHECK(batch.cycles == Approx(around + cycles("e1", 8, 4)));
        CHECK(batch.operator_tiles[id_of(model, "e0")] == 0);
        CHECK(batch.operator_cycles[id_of(model, "e0")] == 0);
        CHECK(batch.operator_tiles[id_of(model, "e1")] == Approx(4));
    }
    SECTION("the host's latency is paid where the configuration says") {
        const double usual = tenants.run(routed(4)).cycles;
        TenantConfig config;
        config.host_synchronisation_us = 45;
        CHECK(run(model, chip, routed(4), config).cycles == Approx(usual + 2 * 35e3));
        config.synchronisations_per_merge = 0;
        CHECK(run(model, chip, routed(4), config).cycles == Approx(usual + 45e3 - 2 * kHost));
        config.synchronisations_per_switch = 0;
        CHECK(run(model, chip, routed(4), config).cycles == Approx(usual - 2 * kHost));
    }
}

TEST_CASE("a switch that no sample reaches costs nothing", "[m-tenant]") {
    const sched::Model model =
        sched::model_of(sched::with_switch("  - {name: a, kind: elementwise, from: s.1, fused: [relu]}\n"
                                           "  - {name: m2, kind: global_pool, from: a}\n"
                                           "  - {name: gate2, kind: matmul, from: m2, out_channels: 1}\n"
                                           "  - {name: t, kind: switch, from: a, gate: gate2}\n"
                                           "  - {name: b, kind: elementwise, from: t.1, fused: [relu]}\n"
                                           "  - {name: inner, kind: merge, from: [t.0, b]}\n"
                                           "  - {name: out, kind: merge, from: [s.0, inner]}\n"));
    const BatchRouting skipped{8, {std::vector<std::uint64_t>(8, 1), std::vector<std::uint64_t>(8, 0)}};
    const BatchRouting taken{8, {std::vector<std::uint64_t>(8, 2), std::vector<std::uint64_t>(8, 2)}};
    CHECK(run(model, slow_memory(), skipped).synchronisations == 2);  // s and out
    CHECK(run(model, slow_memory(), taken).synchronisations == 4);
    CHECK(run(model, slow_memory(), skipped).cycles < run(model, slow_memory(), taken).cycles);
}

TEST_CASE("a sum of sources reads the samples that each of them has", "[m-tenant]") {
    const sched::Model model = sched::model_of(
        sched::with_switch("  - {name: none, kind: sink, from: s.0}\n"
                           "  - {name: a, kind: elementwise, from: s.1, fused: [relu]}\n"
                           "  - {name: out, kind: merge, mode: sum, from: [stem, a], fused: [relu]}\n"));
    const TenantBatch batch = run(model, slow_memory(), routed(6));  // 2 samples take branch 1
    CHECK(batch.bytes.hbm_read == Approx(8 * 2048 + (8 * 256 + 32) + 2 * 2048 + (8 + 2) * 2048));
    CHECK(batch.bytes.hbm_written == Approx(8 * 2048 + 8 * 256 + 16 + 2 * 2048 + 8 * 2048));
}

TEST_CASE("two equal tenants take as long as one of twice the size", "[m-tenant]") {
    const std::string head = "name: t\nbatch: 32\ninput: {channels: 128, rows: 28, columns: 28}\n";
    const sched::Model two =
        sched::model_of(head +
                        "outputs: [a, b]\nlayers:\n"
                        "  - {name: a, kind: convolution, from: input, out_channels: 128, filter: 3, pad: 1}\n"
                        "  - {name: b, kind: convolution, from: input, out_channels: 128, filter: 3, pad: 1}\n");
    const sched::Model one = sched::model_of(
        head + "layers:\n  - {name: a, kind: convolution, from: input, out_channels: 256, filter: 3, pad: 1}\n");
    const HardwareDescription chip = sched::large_chip();
    const TenantBatch pair = run(two, chip, BatchRouting{32, {}}), single = run(one, chip, BatchRouting{32, {}});
    CHECK(pair.operator_tiles[0] == Approx(72));
    CHECK(pair.operator_tiles[1] == Approx(72));
    CHECK(pair.macs == Approx(single.macs));
    // Groups of 72 and 144 tiles divide samples, rows and channels differently.
    CHECK(pair.cycles == Approx(single.cycles).epsilon(0.05));
    CHECK(pair.cycles >= pair.macs / (144 * 1024));
}

TEST_CASE("no batch of the networks beats PEs or memory", "[m-tenant]") {
    const char* const file =
        GENERATE("configs/workloads/skipnet_resnet34.yaml", "configs/workloads/skipnet_resnet101.yaml",
                 "configs/workloads/digits_skipnet.yaml", "testbenches/data/moe.yaml", "testbenches/data/fig6.yaml",
                 "testbenches/data/early_exit.yaml");
    const char* const groups = GENERATE("free", "power_of_two");
    const char* const shares = GENERATE("work", "inverse");
    CAPTURE(file, groups, shares);
    const sched::Model model = sched::read_model(file);
    TenantConfig config;
    config.groups = groups;
    config.shares = shares;
    const HardwareDescription chip = sched::large_chip();
    TenantChip tenants(model.graph, chip, config);
    for (const BatchRouting& routing : sched::declared_routing(model, 4)) {
        const TenantBatch batch = tenants.run(routing);
        const auto useful = static_cast<double>(batch_macs(model.graph, sample_counts(model.graph, routing)));
        CHECK(batch.macs == Approx(useful));
        const double at_work = batch.cycles - batch.idle_cycles;
        CHECK(at_work >= useful / (144 * 1024));
        CHECK(at_work >= (batch.min_read_bytes + batch.bytes.hbm_written) / chip.memory_bytes_per_cycle() * (1 - 1e-9));
        CHECK(batch.bytes.hbm_read >= batch.min_read_bytes * (1 - 1e-9));
        CHECK(batch.max_bytes_per_cycle <= chip.memory_bytes_per_cycle() * (1 + 1e-9));
        CHECK(batch.max_tiles <= 144);
        CHECK(batch.tile_cycles <= 144 * at_work * (1 + 1e-9));
    }
}

TEST_CASE("sample counts are those that the images' expectations have", "[m-tenant]") {
    const sched::Model model = sched::read_model("testbenches/data/early_exit.yaml");
    BatchRouting routing{16, {std::vector<std::uint64_t>(16, 1), std::vector<std::uint64_t>(16, 1)}};
    for (const std::size_t sample : {0, 3, 9}) routing.masks[0][sample] = 2, routing.masks[1][sample] = 0;  // leave
    for (const std::size_t sample : {1, 2}) routing.masks[1][sample] = 2;
    const std::vector<std::uint32_t> counts = sample_counts(model.graph, routing);
    const auto count = [&](const char* name) { return counts[id_of(model, name)]; };
    CHECK(count("qkv0") == 16);
    CHECK(count("head0") == 3);
    CHECK(count("qkv1") == 13);
    CHECK(count("head1") == 2);
    CHECK(count("qkv2") == 11);
    CHECK(count("logits") == 16);
    const auto& merge = model.graph.operators[id_of(model, "logits")];
    CHECK(source_samples(model.graph, merge.inputs[0], routing, counts) == 3);
    CHECK(source_samples(model.graph, merge.inputs[1], routing, counts) == 2);
    CHECK(source_samples(model.graph, merge.inputs[2], routing, counts) == 11);
    CHECK_THROWS_WITH(sample_counts(model.graph, BatchRouting{16, {}}),
                      Catch::Matchers::ContainsSubstring("expected 16 samples and 2 switches, found 16 and 0"));
}
