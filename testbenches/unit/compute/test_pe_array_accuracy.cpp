// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "switchyard/platform/chip/platform_config.h"
#include "switchyard/sw_scheduler/adyna/compiler/compile.h"
#include "switchyard/sw_scheduler/adyna/compiler/kernel_search.h"
#include "switchyard/sw_scheduler/workload/model_reader.h"
#include "switchyard/testbenches/cosim/seed.h"
#include "switchyard/testbenches/sim_test.h"
#include "switchyard/testbenches/unit/compute/compute_bench.h"
#include "switchyard/testbenches/unit/compute/random_kernel.h"

using namespace switchyard;
using namespace switchyard::testing;

namespace {

constexpr double kBound = 0.03;  ///< of each kernel

/// Busy cycles of the PE array for one kernel.
struct Cycles {
    std::uint64_t nest = 0;   ///< `analytic`, which knows the loops
    std::uint64_t walk = 0;   ///< `analytic`, which is told one block after another
    std::uint64_t truth = 0;  ///< `cycle`, which testbenches/cosim/pe_array compares with the RTL cycle by cycle
};

/// The same dispatches on three tiles, whose PE arrays and dispatchers differ.
class Comparison {
public:
    explicit Comparison(const platform::PlatformConfig& chip)
        : nest_("nest", configuration(chip, "analytic", "analytic")),
          walk_("walk", configuration(chip, "analytic", "walk")),
          cycle_("cycle", configuration(chip, "cycle", "walk")) {
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
    }

    Cycles run(const Kernel& kernel, unsigned rank, unsigned dyn_dim, bool channelwise) {
        DispatchExtension request;
        request.kernel_count = 1;
        request.rank = static_cast<std::uint16_t>(rank);
        request.dyn_dim = dyn_dim;
        request.channelwise = channelwise;
        request.input_offset = request.weight_offset = request.output_offset =
            static_cast<std::uint32_t>(nest_.scratchpad.kernel_region_bytes());
        return {run(nest_, kernel, request), run(walk_, kernel, request), run(cycle_, kernel, request)};
    }

private:
    static ComputeConfig configuration(const platform::PlatformConfig& chip, const std::string& pe_array,
                                       const std::string& dispatcher) {
        ComputeConfig config;
        config.scratchpad = chip.scratchpad;
        config.pe_array = chip.pe_array;
        config.pe_array.impl = pe_array;
        config.dispatcher.impl = dispatcher;
        return config;
    }
    static std::uint64_t run(ComputeBench& bench, const Kernel& kernel, DispatchExtension request) {
        REQUIRE(bench.load({kernel}).status == ::tlm::TLM_OK_RESPONSE);
        sc_core::sc_start(10, sc_core::SC_MS);  // nothing is under way any more
        const std::uint64_t before = bench.pe_array.stats().busy_cycles;
        REQUIRE(bench.dispatch(request).status == ::tlm::TLM_OK_RESPONSE);
        return bench.pe_array.stats().busy_cycles - before;
    }

    ComputeBench nest_, walk_, cycle_;
};

double error_of(std::uint64_t model, std::uint64_t truth) {
    return std::abs(static_cast<double>(model) / static_cast<double>(truth) - 1);
}

/// What a set of kernels says of the models, one by one and all together.
class Errors {
public:
    void add(const Cycles& cycles) {
        const double worst = std::max(error_of(cycles.nest, cycles.truth), error_of(cycles.walk, cycles.truth));
        equal_ += cycles.nest == cycles.truth;
        within_ += worst <= kBound;
        model_ += cycles.nest;
        truth_ += cycles.truth;
        ++kernels_;
    }
    unsigned kernels() const { return kernels_; }
    unsigned equal() const { return equal_; }
    unsigned within_bound() const { return within_; }
    double of_the_sum() const { return error_of(model_, truth_); }

private:
    unsigned kernels_ = 0, equal_ = 0, within_ = 0;
    std::uint64_t model_ = 0, truth_ = 0;
};

/// As many random multiply-accumulate kernels as asked for, each of which must be within `bound`.
Errors random_kernels(const platform::PlatformConfig& chip, unsigned kernels, double bound) {
    Comparison comparison(chip);
    Errors errors;
    const std::uint64_t seed = random_seed();
    std::mt19937 random(static_cast<unsigned>(seed));
    while (errors.kernels() < kernels) {
        const unsigned made_for = 1 + random() % 24, dyn_dim = 1 + random() % made_for;
        Kernel kernel = random_kernel(random, chip.pe_array.rows, chip.pe_array.columns, made_for);
        kernel.vector_op = 0;
        const bool channelwise = random() % 5 == 0;
        const Cycles cycles = comparison.run(kernel, random() % ranks_of(kernel), dyn_dim, channelwise);
        if (cycles.truth == 0) continue;  // a rank without work
        INFO("replay with SWITCHYARD_SEED=" << seed);
        CAPTURE(errors.kernels(), made_for, dyn_dim, channelwise, cycles.nest, cycles.walk, cycles.truth);
        CHECK(error_of(cycles.nest, cycles.truth) <= bound);
        CHECK(error_of(cycles.walk, cycles.truth) <= bound);
        errors.add(cycles);
    }
    return errors;
}

}  // namespace

SIM_TEST("PE array: the analytic model on every kernel of the digits network", "[pe_array]") {
    const platform::PlatformConfig chip = platform::read_platform("configs/platforms/mini.yaml");
    const sched::Model model = sched::read_model("configs/workloads/digits_skipnet.yaml");
    const Image image = sched::compile(model.graph, platform::make_hardware_description(chip));
    Comparison comparison(chip);
    Errors errors;
    for (const TileProgram& tile : image.tiles) {
        for (const TileOperator& op : tile.operators) {
            for (unsigned k = op.kernel_first; k < op.kernel_first + op.kernel_count; ++k) {
                const unsigned made_for = tile.kernels[k].dyn_dim();
                for (const unsigned dyn_dim : {made_for, made_for * 3 / 4 + 1}) {
                    const Cycles cycles = comparison.run(tile.kernels[k], op.rank, dyn_dim, false);
                    if (cycles.truth == 0) continue;  // a rank without work
                    CAPTURE(tile.tile, op.op_id, k, dyn_dim, op.rank, cycles.nest, cycles.walk, cycles.truth);
                    CHECK(error_of(cycles.nest, cycles.truth) <= kBound);
                    CHECK(error_of(cycles.walk, cycles.truth) <= kBound);
                    errors.add(cycles);
                }
            }
        }
    }
    CHECK(errors.kernels() > 100);
    CHECK(errors.equal() == errors.kernels());
}

TEST_CASE("PE array: the analytic model on random kernels", "[pe_array]") {
    for (const char* file : {"configs/platforms/mini.yaml", "configs/platforms/adyna.yaml"})
        in_child([file] {
            INFO(file);
            const Errors errors = random_kernels(platform::read_platform(file), 200, kBound);
            CHECK(errors.of_the_sum() < 0.001);
            CHECK(errors.equal() > 190);
        });
}

// Waves and beats wait for whole cycles, in the model for fractions of one: that shows in blocks of a few cycles.
TEST_CASE("PE array: the analytic model with a scratchpad that cannot keep up", "[pe_array]") {
    struct Ports {
        unsigned read, write;
    };
    for (const Ports ports : {Ports{16, 4}, Ports{27, 11}, Ports{128, 6}, Ports{8, 64}})
        in_child([ports] {
            platform::PlatformConfig chip = platform::read_platform("configs/platforms/mini.yaml");
            chip.scratchpad.bytes_per_cycle = ports.read;
            chip.scratchpad.write_bytes_per_cycle = ports.write;
            CAPTURE(ports.read, ports.write);
            const Errors errors = random_kernels(chip, 100, 0.1);
            CHECK(errors.within_bound() >= 98);
            CHECK(errors.of_the_sum() < 0.005);
        });
}

SIM_TEST("PE array: a kernel takes what the scheduler expects", "[pe_array]") {
    const platform::PlatformConfig chip = platform::read_platform("configs/platforms/mini.yaml");
    sched::KernelSearch search(platform::make_hardware_description(chip));
    Comparison comparison(chip);
    std::mt19937 random(static_cast<unsigned>(random_seed()));
    const auto up_to = [&random](unsigned max) { return static_cast<std::uint16_t>(1 + random() % max); };
    for (unsigned trial = 0; trial < 100; ++trial) {
        OperatorShape shape;
        shape.kind = trial % 5 == 0 ? OpKind::depthwise : OpKind::convolution;
        shape.out_channels = up_to(40);
        shape.in_channels = shape.kind == OpKind::depthwise ? shape.out_channels : up_to(12);
        shape.filter_rows = shape.filter_columns = up_to(3);
        shape.out_rows = up_to(12);
        shape.out_columns = up_to(12);
        shape.in_rows = static_cast<std::uint16_t>(shape.out_rows + shape.filter_rows - 1);
        shape.in_columns = static_cast<std::uint16_t>(shape.out_columns + shape.filter_columns - 1);
        const Partition partition{up_to(24), 1, 1};
        const sched::TileWork work = sched::tile_work(shape, 1, partition, 1);
        const Kernel kernel = sched::make_kernel(search, shape, 1, partition, 1, 0);
        const Cycles cycles = comparison.run(kernel, 0, partition.dyn_dim, work.channelwise);
        CAPTURE(trial, shape.out_channels, work.reduction, partition.dyn_dim);
        CHECK(cycles.nest == search.best(work).cost.cycles + chip.scratchpad.latency_cycles);
        CHECK(cycles.walk == cycles.nest);
        CHECK(error_of(cycles.nest, cycles.truth) <= kBound);
    }
}
