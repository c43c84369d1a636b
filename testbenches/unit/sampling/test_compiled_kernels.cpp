// SPDX-License-Identifier: Apache-2.0
// What the compiler makes of a profile: which kernels an operator has, and how long its micro-batches take with them.

#include <algorithm>

#include <fmt/format.h>

#include "random_distributions.h"
#include "switchyard/sw_scheduler/adyna/compiler/compile.h"
#include "switchyard/sw_scheduler/adyna/compiler/kernel_search.h"
#include "switchyard/sw_scheduler/adyna/sampling/micro_batches.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/unit/compiler/chips.h"
#include "switchyard/testbenches/unit/workload/model_text.h"

namespace switchyard::sched {
namespace {

constexpr std::uint32_t kBatch = 64;
constexpr std::uint64_t kBatches = 100;

/// A residual block that samples may skip.
const Model& skipping_model() {
    static const Model kModel = model_of(
        "name: skipping\n"
        "batch: 64\n"
        "input: {channels: 16, rows: 4, columns: 4}\n"
        "layers:\n"
        "  - {name: stem, kind: convolution, from: input, out_channels: 16, filter: 3, pad: 1}\n"
        "  - {name: mean, kind: global_pool}\n"
        "  - {name: gate, kind: matmul, out_channels: 1}\n"
        "  - {name: skip, kind: switch, from: stem, gate: gate}\n"
        "  - {name: body, kind: convolution, from: skip.1, out_channels: 16, filter: 3, pad: 1}\n"
        "  - {name: out, kind: merge, from: [skip.0, body]}\n");
    return kModel;
}

/// `kernels` kernels a tile.
HardwareDescription with_store(HardwareDescription chip, unsigned kernels) {
    chip.kernel_share = kernels * static_cast<double>(kKernelBytes) / chip.scratchpad_bytes;
    return chip;
}

/// All micro-batches are whole batches, so that a profile's dyn_dims are those of the kernels.
Image compiled(const HardwareDescription& chip, const Profile* profile, Sampling sampling,
               const std::string& design = "adyna") {
    CompileOptions options;
    options.design = design;
    options.profile = profile;
    options.sampling = sampling;
    options.unit_samples = kBatch;
    return compile(skipping_model().graph, chip, options);
}

Profile profile_with(const std::map<std::uint32_t, std::uint64_t>& body) {
    const DynGraph& graph = skipping_model().graph;
    Profile profile{kBatch, kBatch, kBatches, {}, nullptr};
    profile.operators.resize(graph.operators.size(), {kBatch, false, {{kBatch, kBatches}}});
    profile.operators[static_cast<std::size_t>(graph.find_operator("body"))].frequency = body;
    return profile;
}

/// An operator of an image: its kernels, by tile.
struct Placed {
    const OperatorPlacement* placement = nullptr;
    std::vector<Kernel> kernels;
};

Placed find(const Image& image, const std::string& name) {
    const auto id = static_cast<std::uint16_t>(skipping_model().graph.find_operator(name));
    for (const TileProgram& tile : image.tiles) {
        for (const TileOperator& op : tile.operators) {
            if (op.op_id != id) continue;
            const auto first = tile.kernels.begin() + op.kernel_first;
            return {&tile.placement(id), {first, first + op.kernel_count}};
        }
    }
    FAIL(name << " is on no tile");
    return {};
}

DynDims dyn_dims(const Placed& placed) {
    DynDims values;
    for (const Kernel& kernel : placed.kernels) values.push_back(kernel.dyn_dim());
    return values;
}

/// Cycles of the fullest tile for a unit of `samples`: the best-fitting kernel, whose walk ends at the last sample.
double unit_cycles(const HardwareDescription& chip, const Placed& placed, std::uint32_t samples) {
    if (samples == 0) return 0;
    const DynDims values = dyn_dims(placed);
    const auto k = static_cast<std::size_t>(std::lower_bound(values.begin(), values.end(), samples) - values.begin());
    TileWork work = tile_work(placed.placement->shape, 1, placed.placement->partitions[k], placed.placement->k_factor);
    work.size[kN] = static_cast<std::uint16_t>(std::min<std::uint32_t>(work.size[kN], samples));
    return static_cast<double>(nest_cost(chip, work, blocking_of(placed.kernels[k])).cycles);
}

double expected_cycles(const HardwareDescription& chip, const Placed& placed, const Distribution& phi) {
    double sum = 0;
    for (std::size_t v = 1; v < phi.frequencies().size(); ++v)
        sum += phi.frequencies()[v] * unit_cycles(chip, placed, static_cast<std::uint32_t>(v));
    return sum / phi.total();
}

TEST_CASE("A spike in the profile gets a kernel of its own", "[sampling][compile]") {
    const HardwareDescription chip = with_store(mini_chip(), 8);
    for (const std::uint32_t spike : {5u, 12u, 19u, 26u, 33u, 45u}) {
        const Profile profile = profile_with({{0, 2}, {spike - 3, 3}, {spike, 90}, {spike + 1, 5}});
        const Image uniform = compiled(chip, &profile, Sampling::uniform);
        const Placed before = find(uniform, "body");
        const DynDims even = dyn_dims(before);
        REQUIRE(even.size() > 2);
        REQUIRE(even.size() < kBatch);
        CHECK(even == uniform_dyn_dims(kBatch, static_cast<unsigned>(even.size())));
        CHECK(std::count(even.begin(), even.end(), spike) == 0);

        const Distribution phi = distribution_of(profile.operators[before.placement->op_id], kBatch);
        for (const Sampling sampling : {Sampling::profile, Sampling::optimal}) {
            const Image image = compiled(chip, &profile, sampling);
            CHECK_NOTHROW(decode_image(encode(image), "sampled"));
            CHECK(encode(image) == encode(compiled(chip, &profile, sampling)));
            const Placed body = find(image, "body");
            const DynDims sampled = dyn_dims(body);
            CHECK(sampled.size() == even.size());
            CHECK(sampled.back() == kBatch);
            CHECK(std::count(sampled.begin(), sampled.end(), spike) == 1);
            INFO("spike at " << spike);
            CHECK(expected_cycles(chip, body, phi) <= expected_cycles(chip, before, phi));
            // Evenly spaced, it runs the kernel for 22, whose samples lie on fewer tiles.
            if (spike == 12) CHECK(expected_cycles(chip, body, phi) < 0.6 * expected_cycles(chip, before, phi));
            // The store is as full as before.
            for (std::size_t t = 0; t < image.tiles.size(); ++t) {
                CHECK(image.tiles[t].kernels.size() == uniform.tiles[t].kernels.size());
                CHECK(image.tiles[t].kernels.size() <= chip.kernel_store_size());
            }
        }
    }
}

TEST_CASE("The chip's own counts bring a kernel near a spike", "[sampling][compile]") {
    constexpr int kSpike = 28;
    const HardwareDescription chip = with_store(mini_chip(), 12);
    Profile profile = profile_with({{kSpike, kBatches}});
    OperatorProfile& counted =
        profile.operators[static_cast<std::size_t>(skipping_model().graph.find_operator("body"))];
    Image image = compiled(chip, &profile, Sampling::uniform);
    const auto distance = [&] {
        const DynDims kernels = dyn_dims(find(image, "body"));
        return *std::lower_bound(kernels.begin(), kernels.end(), kSpike) - kSpike;
    };
    CHECK(distance() >= 4);
    for (unsigned round = 0; round < 4; ++round) {
        counted = {kBatch, true, {{0, 0}}};
        for (const std::uint16_t kernel : dyn_dims(find(image, "body"))) counted.frequency[kernel] = 0;
        counted.frequency.lower_bound(kSpike)->second = kBatches;
        image = compiled(chip, &profile, Sampling::profile);
    }
    CHECK(distance() <= 1);
}

TEST_CASE("Sampled kernels take no more cycles than evenly spaced ones", "[sampling][compile]") {
    std::mt19937 random(3);
    double uniform_cycles = 0, sampled_cycles = 0;
    constexpr unsigned kRounds = 20;
    for (unsigned round = 0; round < kRounds; ++round) {
        std::map<std::uint32_t, std::uint64_t> body;
        const double share = 0.1 + 0.8 * uniform(random);
        for (unsigned batch = 0; batch < kBatches; ++batch) {
            unsigned samples = 0;
            for (unsigned sample = 0; sample < kBatch; ++sample) samples += uniform(random) < share ? 1 : 0;
            ++body[samples];
        }
        const HardwareDescription chip = with_store(mini_chip(), 5 + round % 4);
        const Profile profile = profile_with(body);
        const Image even = compiled(chip, &profile, Sampling::uniform);
        const Image sampled = compiled(chip, &profile, Sampling::profile);
        const Distribution phi = distribution_of(profile.operators[find(even, "body").placement->op_id], kBatch);
        const double before = expected_cycles(chip, find(even, "body"), phi);
        const double after = expected_cycles(chip, find(sampled, "body"), phi);
        INFO(fmt::format("share {:.2f}, {} kernels: {} and {} cycles", share, dyn_dims(find(even, "body")).size(),
                         before, after));
        // A kernel's blocking is best for its own dyn_dim only, and fitting skips what is beyond the real one: where
        // samples are not cut, a kernel for fewer samples may even be a little slower.
        CHECK(after < 1.05 * before);
        uniform_cycles += before;
        sampled_cycles += after;
    }
    INFO(uniform_cycles / kRounds << " and " << sampled_cycles / kRounds << " cycles on average");
    CHECK(sampled_cycles < 0.95 * uniform_cycles);
}

TEST_CASE("Profiles of other micro-batches are converted", "[sampling][compile]") {
    const HardwareDescription chip = with_store(mini_chip(), 8);
    Profile halves = profile_with({});
    const auto body = static_cast<std::size_t>(skipping_model().graph.find_operator("body"));
    halves.operators[body] = {kBatch / 2, false, {{18, kBatches}, {19, kBatches}}};
    // Two independent halves with 18 or 19 samples: 36, 37 or 38.
    const DynDims sampled = dyn_dims(find(compiled(chip, &halves, Sampling::profile), "body"));
    for (const int dyn_dim : {36, 37, 38}) CHECK(std::count(sampled.begin(), sampled.end(), dyn_dim) == 1);
}

TEST_CASE("Sampling needs a profile, and a design that does it", "[sampling][compile]") {
    const HardwareDescription chip = mini_chip();
    const Profile profile = profile_with({{37, 100}});
    CHECK_THROWS_WITH(
        compiled(chip, nullptr, Sampling::profile),
        Catch::Matchers::ContainsSubstring("skipping: expected a profile for sampling profile, found none"));
    for (const char* design : {"adyna-static", "m-tile"}) {
        CHECK_FALSE(resamples(design));
        CHECK_THROWS_WITH(compiled(chip, &profile, Sampling::optimal, design),
                          Catch::Matchers::ContainsSubstring(std::string("design ") + design +
                                                             ": expected sampling uniform, found optimal"));
    }
    CHECK(resamples("adyna"));
    const Image fixed = compiled(with_store(mini_chip(), 8), &profile, Sampling::uniform, "adyna-static");
    const Image uniform = compiled(with_store(mini_chip(), 8), &profile, Sampling::uniform);
    CHECK(dyn_dims(find(fixed, "body")) == dyn_dims(find(uniform, "body")));
    CHECK(fixed.meta.design == "adyna-static");
}

}  // namespace
}  // namespace switchyard::sched
