// SPDX-License-Identifier: Apache-2.0
// Repeats the calibration of the GPU's kernels, and holds the GPU against what was measured.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "switchyard/sw_scheduler/kernel_streams/launch_shapes.h"
#include "switchyard/testbenches/calibration/gpu/simulated_kernels.h"
#include "switchyard/testbenches/sim_test.h"

using namespace switchyard;
using namespace switchyard::calibration;
using namespace switchyard::testing;

namespace {

const std::vector<FitKernel>& measured_kernels() {
    static const std::vector<FitKernel> kKernels =
        fit_kernels(read_measured_kernels("testbenches/calibration/gpu/a100_kernels.csv"));
    return kKernels;
}

ErrorSummary errors(const std::vector<std::size_t>& which, const KernelParameters& p) {
    std::vector<double> ratios;
    for (const std::size_t i : which) ratios.push_back(measured_kernels()[i].us(p) / measured_kernels()[i].measured.us);
    return summarise(ratios);
}

}  // namespace

TEST_CASE("the calibration gives the keys of the platform files again", "[calibration][gpu]") {
    std::vector<std::size_t> all(measured_kernels().size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    KernelParameters fitted = fit(measured_kernels(), all), file = file_parameters();
    for (std::size_t i = 0; i < KernelParameters::kCount; ++i) {
        INFO("parameter " << i);
        CHECK(*file.all()[i] == Approx(*fitted.all()[i]).epsilon(0.005));
    }
}

TEST_CASE("a half of the kernels predicts the other half", "[calibration][gpu]") {
    const auto parts = halves(measured_kernels().size(), 1);
    for (unsigned on = 0; on < 2; ++on) {
        const ErrorSummary held_out = errors(parts[1 - on], fit(measured_kernels(), parts[on]));
        CAPTURE(on, held_out.median, held_out.p90, held_out.worst);
        CHECK(held_out.median < 0.13);
        CHECK(held_out.p90 < 0.38);
    }
}

SIM_TEST("simulated kernels take what was measured, and what the closed form says", "[calibration][gpu]") {
    const std::vector<FitKernel>& kernels = measured_kernels();
    REQUIRE(kernels.size() == 303);
    const std::vector<double> ours = simulate_us(kernels);
    std::vector<double> ratios;
    double furthest = 0;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        ratios.push_back(ours[i] / kernels[i].measured.us);
        furthest = std::max(furthest, std::abs(ours[i] / kernels[i].us(file_parameters()) - 1));
    }
    const ErrorSummary summary = summarise(ratios);
    CAPTURE(summary.median, summary.p90, summary.worst);
    CHECK(summary.median < 0.11);
    CHECK(summary.p90 < 0.34);
    CHECK(summary.worst < 0.7);
    CHECK(furthest < 0.05);
}

SIM_TEST("the rule of kernel streams for matrix products takes about as long as tuned kernels", "[calibration][gpu]") {
    std::vector<MeasuredKernel> kernels;
    for (const FitKernel& kernel : measured_kernels()) {
        const sched::GpuOperator& op = kernel.measured.op;
        const bool product =
            op.kind == sched::GpuOperator::Kind::linear || op.kind == sched::GpuOperator::Kind::convolution;
        if (product && op.groups == 1) kernels.push_back(kernel.measured);
    }
    REQUIRE(kernels.size() > 250);
    std::vector<bool> divided;
    const std::vector<double> ours = simulate_us(kernels, [&](const MeasuredKernel& kernel, const auto&) {
        const sched::GpuOperator& op = kernel.op;
        const sched::LaunchShape shape =
            sched::matrix_product_shape(op.batch * op.out_height * op.out_width, op.out_channels, op.reduction());
        sched::GpuKernel result = sched::make_kernel(op, {});
        result.grid = shape.grid;
        result.block = {shape.threads, 1, 1};
        result.registers_per_thread = shape.registers_per_thread;
        result.shared_bytes = shape.shared_bytes;
        result.schedule = shape.schedule;
        result.work.flops = op.flops();
        divided.push_back(shape.grid[2] > 1);
        return result;
    });
    std::vector<double> small, all;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        all.push_back(ours[i] / kernels[i].us);
        if (divided[i]) small.push_back(all.back());
    }
    REQUIRE(small.size() > 60);
    const ErrorSummary of_all = summarise(all), of_small = summarise(small);
    CAPTURE(of_all.median, of_all.p90, of_all.worst, of_small.median, of_small.p90, of_small.worst);
    std::sort(all.begin(), all.end());
    std::sort(small.begin(), small.end());
    CAPTURE(all[all.size() / 2], small[small.size() / 2]);
    CHECK(of_all.median < 0.25);
    CHECK(of_all.p90 < 0.7);
    CHECK(of_small.median < 0.3);
    CHECK(of_small.p90 < 0.6);
    // Neither too long nor too short: with the depth in one piece the small ones took more than twice as long.
    CHECK(all[all.size() / 2] == Approx(1).epsilon(0.15));
    CHECK(small[small.size() / 2] == Approx(1).epsilon(0.15));
}

TEST_CASE("A100-40GB ran at its base clock", "[calibration][gpu]") {
    // Kernels that were measured on both devices: all columns but the device, the time and the trials are the same.
    std::map<std::string, std::map<std::string, double>> both;
    for (const FitKernel& kernel : measured_kernels()) {
        const std::string& line = kernel.measured.line;
        const std::size_t begin = line.find(','), end = line.rfind(',', line.rfind(',') - 1);
        both[line.substr(begin, end - begin)][kernel.measured.device] = kernel.measured.us;
    }
    std::vector<double> ratios;
    for (const auto& [shape, us] : both)
        if (us.size() == 2) ratios.push_back(us.at("A100-40GB") / us.at("A100-80GB"));
    REQUIRE(ratios.size() >= 16);
    std::sort(ratios.begin(), ratios.end());
    CHECK(ratios[ratios.size() / 2] == Approx(1.41 / 0.765).epsilon(0.05));
}
