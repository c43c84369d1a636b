// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/calibration/gpu/kernel_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "switchyard/platform/gpu/gpu_platform.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/random_source.h"

namespace switchyard::calibration {

namespace {

using Indices = std::vector<std::size_t>;

constexpr double kTolerated = 0.35;
constexpr double kEfficiencies = 1;  ///< none is larger

double best_us(const FitKernel& kernel, const Indices& list, const sched::GpuDescription& gpu) {
    double best = std::numeric_limits<double>::infinity();
    for (const std::size_t i : list)
        best = std::min(best, sched::estimate_ns(kernel.measured.op, kernel.schedules[i], gpu));
    return best / 1000;
}

/// The schedules that were the quickest for some parameters: a fit looks at these, and then whether it has missed one.
class Shortlist {
public:
    Shortlist(const std::vector<FitKernel>& kernels, const Indices& which) : kernels_(kernels), which_(which) {
        list_.resize(kernels.size());
        RandomSource random(1, 0);
        constexpr int kSamples = 24;
        for (int i = 0; i < kSamples; ++i) {
            KernelParameters p;
            for (double* value : p.all()) *value *= random.log_uniform(0.5, 2);
            add(clipped(p));
        }
    }

    /// The quickest of all schedules; true if one of them is new.
    bool add(const KernelParameters& p) {
        bool found = false;
        for (const std::size_t k : which_) {
            const FitKernel& kernel = kernels_[k];
            const sched::GpuSchedule& best =
                sched::best_schedule(kernel.measured.op, kernel.schedules, a100(kernel.measured.device, p));
            const auto index = static_cast<std::size_t>(&best - kernel.schedules.data());
            if (std::find(list_[k].begin(), list_[k].end(), index) != list_[k].end()) continue;
            list_[k].push_back(index);
            found = true;
        }
        return found;
    }

    double loss(const KernelParameters& p) const {
        double sum = 0;
        for (const std::size_t k : which_) {
            const FitKernel& kernel = kernels_[k];
            const double us = best_us(kernel, list_[k], a100(kernel.measured.device, p));
            const double error = std::abs(std::log(us / kernel.measured.us));
            sum += error + std::max(0.0, error - kTolerated);
        }
        return sum / static_cast<double>(which_.size());
    }

    static KernelParameters clipped(KernelParameters p) {
        for (double* share : {&p.arithmetic_efficiency, &p.memory_efficiency, &p.l2_efficiency})
            *share = std::min(*share, kEfficiencies);
        return p;
    }

private:
    const std::vector<FitKernel>& kernels_;
    const Indices& which_;
    std::vector<Indices> list_;  ///< by kernel
};

KernelParameters search(const Shortlist& list, KernelParameters best) {
    double loss = list.loss(best);
    for (const double step : {1.3, 1.15, 1.08, 1.04, 1.02, 1.01}) {
        for (bool better = true; better;) {
            better = false;
            for (std::size_t i = 0; i < KernelParameters::kCount; ++i) {
                for (const double factor : {step, 1 / step}) {
                    KernelParameters tried = best;
                    *tried.all()[i] *= factor;
                    tried = Shortlist::clipped(tried);
                    const double tried_loss = list.loss(tried);
                    if (tried_loss >= loss - 1e-9) continue;
                    best = tried;
                    loss = tried_loss;
                    better = true;
                }
            }
        }
    }
    return best;
}

std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed) {
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    RandomSource random(seed, 0);
    for (std::size_t i = count; i > 1; --i)
        std::swap(order[i - 1], order[random.integer(0, static_cast<unsigned>(i - 1))]);
    return order;
}

}  // namespace

std::map<std::string, std::string> base_clock(const std::string& device) {
    if (device != "A100-40GB") return {};
    // 765 MHz, with the latencies in cycles as they are.
    return {{"multiprocessors.clock_ghz", "0.765"},
            {"memory.l2_latency_ns", fmt::format("{}", 200 / 0.765)},
            {"memory.memory_latency_ns", fmt::format("{}", 290 / 0.765)}};
}

std::string platform_file(const std::string& device) {
    if (device == "A100-40GB") return "configs/gpus/a100_40gb.yaml";
    if (device == "A100-80GB") return "configs/gpus/a100_80gb.yaml";
    throw InputError(device + ": no such device");
}

sched::GpuDescription a100(const std::string& device, const KernelParameters& p) {
    static std::map<std::string, sched::GpuDescription> known;
    auto found = known.find(device);
    if (found == known.end())
        found =
            known
                .emplace(device,
                         platform::describe_gpu(platform::read_gpu_platform(platform_file(device), base_clock(device))))
                .first;
    sched::GpuDescription gpu = found->second;
    gpu.kernel_overhead_ns = p.kernel_overhead_cycles / gpu.clock_ghz;
    gpu.arithmetic_efficiency = p.arithmetic_efficiency;
    gpu.memory_efficiency = p.memory_efficiency;
    gpu.l2_efficiency = p.l2_efficiency;
    gpu.warp_latency_cycles = p.warp_latency_cycles;
    gpu.memory_instruction_cycles = p.memory_instruction_cycles;
    return gpu;
}

KernelParameters file_parameters() {
    const sched::GpuDescription gpu = platform::describe_gpu(platform::read_gpu_platform(platform_file("A100-80GB")));
    return {gpu.kernel_overhead_ns * gpu.clock_ghz,
            gpu.arithmetic_efficiency,
            gpu.memory_efficiency,
            gpu.l2_efficiency,
            gpu.warp_latency_cycles,
            gpu.memory_instruction_cycles};
}

double FitKernel::us(const KernelParameters& parameters) const {
    const sched::GpuDescription gpu = a100(measured.device, parameters);
    return sched::estimate_ns(measured.op, sched::best_schedule(measured.op, schedules, gpu), gpu) / 1000;
}

std::vector<FitKernel> fit_kernels(std::vector<MeasuredKernel> kernels) {
    std::vector<FitKernel> result;
    for (MeasuredKernel& kernel : kernels) {
        std::vector<sched::GpuSchedule> schedules = sched::gpu_schedules(kernel.op);
        result.push_back({std::move(kernel), std::move(schedules)});
    }
    return result;
}

KernelParameters fit(const std::vector<FitKernel>& kernels, const std::vector<std::size_t>& which) {
    Shortlist list(kernels, which);
    KernelParameters best;
    constexpr int kRounds = 4;
    for (int round = 0; round < kRounds; ++round) {
        best = search(list, best);
        if (!list.add(best)) break;
    }
    return best;
}

std::array<std::vector<std::size_t>, 2> halves(std::size_t count, std::uint64_t seed) {
    const std::vector<std::vector<std::size_t>> parts = folds(count, 2, seed);
    return {parts[0], parts[1]};
}

std::vector<std::vector<std::size_t>> folds(std::size_t count, std::size_t parts, std::uint64_t seed) {
    std::vector<std::vector<std::size_t>> result(parts);
    const std::vector<std::size_t> order = shuffled(count, seed);
    for (std::size_t i = 0; i < count; ++i) result[i % parts].push_back(order[i]);
    return result;
}

ErrorSummary summarise(std::vector<double> ratios) {
    ErrorSummary summary;
    summary.count = ratios.size();
    std::vector<double> errors;
    errors.reserve(ratios.size());
    for (const double ratio : ratios) errors.push_back(std::abs(ratio - 1));
    std::sort(errors.begin(), errors.end());
    std::sort(ratios.begin(), ratios.end());
    const auto at = [](const std::vector<double>& sorted, double share) {
        return sorted[std::min(sorted.size() - 1,
                               static_cast<std::size_t>(share * static_cast<double>(sorted.size())))];
    };
    summary.median = at(errors, 0.5);
    summary.p90 = at(errors, 0.9);
    summary.worst = errors.back();
    summary.ratio_p10 = at(ratios, 0.1);
    summary.ratio_median = at(ratios, 0.5);
    summary.ratio_p90 = at(ratios, 0.9);
    return summary;
}

double roofline_us(const MeasuredKernel& kernel) {
    const platform::GpuPlatform gpu = platform::read_gpu_platform(platform_file(kernel.device));
    const hw::MultiprocessorConfig& m = gpu.gpu.multiprocessors;
    const auto bytes =
        static_cast<double>(kernel.op.input_bytes() + kernel.op.weight_bytes() + kernel.op.output_bytes());
    return std::max(static_cast<double>(kernel.op.flops()) / (m.count * m.fp32_flops_per_cycle * m.clock_ghz),
                    bytes / gpu.device_memory.peak_gb_per_s) /
           1000;
}

}  // namespace switchyard::calibration
