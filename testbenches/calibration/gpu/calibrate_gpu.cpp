// SPDX-License-Identifier: Apache-2.0
// usage: calibrate_gpu fit | page | keys | evaluate FILE.csv
// fit: repeats the calibration on all measured kernels and prints the keys of the platform files.
// page: docs/results/gpu_kernels.md.
// keys: docs/gpu_keys.md.
// evaluate: simulates the kernels of another file of the same columns with the platform files as they are, and prints
// each beside its measured time, and errors by operator and size.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include <fmt/format.h>
#include <systemc>

#include "switchyard/platform/gpu/gpu_platform.h"
#include "switchyard/testbenches/calibration/gpu/simulated_kernels.h"

using namespace switchyard;
using namespace switchyard::calibration;

namespace {

constexpr const char* kData = "testbenches/calibration/gpu/a100_kernels.csv";
constexpr std::uint64_t kSeed = 1;

using Indices = std::vector<std::size_t>;

Indices all_of(const std::vector<FitKernel>& kernels) {
    Indices all(kernels.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
}

std::string cells(const KernelParameters& p) {
    return fmt::format("{:.0f} | {:.3f} | {:.3f} | {:.3f} | {:.2f} | {:.2f} |", p.kernel_overhead_cycles,
                       p.arithmetic_efficiency, p.memory_efficiency, p.l2_efficiency, p.warp_latency_cycles,
                       p.memory_instruction_cycles);
}

std::string cells(const ErrorSummary& s) {
    return fmt::format("{} | {:.1f} % | {:.1f} % | {:.1f} % | {:.2f} | {:.2f} | {:.2f} |", s.count, 100 * s.median,
                       100 * s.p90, 100 * s.worst, s.ratio_p10, s.ratio_median, s.ratio_p90);
}

constexpr const char* kErrorHead =
    "kernels | median | 90th percentile | worst | ours / measured: p10 | median | p90 |\n"
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";

std::vector<double> ratios(const std::vector<FitKernel>& kernels, const Indices& which, const KernelParameters& p) {
    std::vector<double> result;
    for (const std::size_t i : which) result.push_back(kernels[i].us(p) / kernels[i].measured.us);
    return result;
}

std::string size_of(double us) {
    if (us < 5) return "below 5 us";
    if (us < 20) return "5 to 20 us";
    if (us < 100) return "20 to 100 us";
    return "100 us and more";
}

void print_groups(const char* title, const std::vector<FitKernel>& kernels, const std::vector<double>& ours,
                  const std::function<std::string(const MeasuredKernel&)>& group) {
    std::map<std::string, std::vector<double>> groups;
    for (std::size_t i = 0; i < kernels.size(); ++i)
        groups[group(kernels[i].measured)].push_back(ours[i] / kernels[i].measured.us);
    fmt::print("\n| {} | {}", title, kErrorHead);
    for (const auto& [name, values] : groups) fmt::print("| {} | {}\n", name, cells(summarise(values)));
}

void print_worst(const std::vector<FitKernel>& kernels, const std::vector<double>& ours) {
    Indices order = all_of(kernels);
    const auto error = [&](std::size_t i) { return std::abs(ours[i] / kernels[i].measured.us - 1); };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return error(a) > error(b); });
    constexpr std::size_t kShown = 16;
    fmt::print("\n| line of the data | measured us | ours us | ours / measured |\n| --- | ---: | ---: | ---: |\n");
    for (std::size_t n = 0; n < kShown; ++n) {
        const FitKernel& k = kernels[order[n]];
        fmt::print("| `{}` | {:.2f} | {:.2f} | {:.2f} |\n", k.measured.line, k.measured.us, ours[order[n]],
                   ours[order[n]] / k.measured.us);
    }
}

void print_halves(const std::vector<FitKernel>& kernels) {
    const auto parts = halves(kernels.size(), kSeed);
    std::array<KernelParameters, 2> fitted{fit(kernels, parts[0]), fit(kernels, parts[1])};
    fmt::print(
        "\n| fitted on | overhead cycles | arithmetic | memory | L2 | warp latency | memory instruction |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    fmt::print("| first half | {}\n| second half | {}\n| all (the platform files) | {}\n", cells(fitted[0]),
               cells(fitted[1]), cells(file_parameters()));
    fmt::print("\n| fitted on, evaluated on | {}", kErrorHead);
    for (unsigned on = 0; on < 2; ++on)
        for (unsigned of = 0; of < 2; ++of)
            fmt::print("| {} half, {} | {}\n", on == 0 ? "first" : "second",
                       of == on ? "the same" : "the other half (held out)",
                       cells(summarise(ratios(kernels, parts[of], fitted[on]))));
    std::vector<double> held_out;
    const std::vector<Indices> parts5 = folds(kernels.size(), 5, kSeed);
    for (const Indices& part : parts5) {
        Indices rest;
        for (const Indices& other : parts5)
            if (&other != &part) rest.insert(rest.end(), other.begin(), other.end());
        const std::vector<double> values = ratios(kernels, part, fit(kernels, rest));
        held_out.insert(held_out.end(), values.begin(), values.end());
    }
    fmt::print("| four fifths, the fifth that is held out, five times | {}\n", cells(summarise(held_out)));
}

void print_page(const std::vector<FitKernel>& kernels) {
    const std::vector<double> ours = simulate_us(kernels);
    std::vector<double> values, bounds, with_overhead, distances;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        values.push_back(ours[i] / kernels[i].measured.us);
        bounds.push_back(roofline_us(kernels[i].measured) / kernels[i].measured.us);
        const sched::GpuDescription gpu = a100(kernels[i].measured.device, file_parameters());
        with_overhead.push_back(bounds.back() + gpu.kernel_overhead_ns / 1000 / kernels[i].measured.us);
        distances.push_back(ours[i] / kernels[i].us(file_parameters()));
    }
    fmt::print(
        "# Kernels on an A100: ours against measured\n\n"
        "{} kernels that others tuned and measured (`{}` says who and how), and the same operators on `hw/gpu` "
        "with `gpu.impl: cta`: the quickest schedule of those of `sw_scheduler/workload/gpu_schedule.h`, several "
        "times in a row on one queue. Six parameters are calibrated on these kernels; the tables below say how "
        "well kernels are predicted that the calibration has not seen. `calibrate_gpu fit` repeats it. "
        "Error: |ours / measured - 1|.\n\nWritten by `./run results gpu_kernels`.\n\n",
        kernels.size(), kData);
    fmt::print("| model | {}", kErrorHead);
    fmt::print("| `cta`, parameters of the platform files | {}\n", cells(summarise(values)));
    fmt::print("| roofline: peak FP32 or bytes at the pins, no launch | {}\n", cells(summarise(bounds)));
    fmt::print("| the same and the calibrated overhead of a kernel | {}\n", cells(summarise(with_overhead)));
    fmt::print(
        "\nThe simulation against the closed form that chooses schedules (`estimate_ns()`), as ours / measured "
        "above: p10 {:.3f}, median {:.3f}, p90 {:.3f}, largest difference {:.1f} %.\n",
        summarise(distances).ratio_p10, summarise(distances).ratio_median, summarise(distances).ratio_p90,
        100 * summarise(distances).worst);
    fmt::print("\n## Held out\n");
    print_halves(kernels);
    fmt::print("\n## By operator, size and device\n");
    print_groups("operator", kernels, ours, [](const MeasuredKernel& k) { return type_of(k.op); });
    print_groups("measured time", kernels, ours, [](const MeasuredKernel& k) { return size_of(k.us); });
    print_groups("device", kernels, ours, [](const MeasuredKernel& k) { return k.device; });
    fmt::print("\n## The largest errors\n");
    print_worst(kernels, ours);
}

void evaluate(const std::vector<FitKernel>& kernels) {
    const std::vector<double> ours = simulate_us(kernels);
    std::vector<double> values;
    fmt::print("ours_us,ours_over_measured,line\n");
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        values.push_back(ours[i] / kernels[i].measured.us);
        fmt::print("{:.2f},{:.3f},{}\n", ours[i], values.back(), kernels[i].measured.line);
    }
    fmt::print("\n| all | {}| all | {}\n", kErrorHead, cells(summarise(values)));
    print_groups("operator", kernels, ours, [](const MeasuredKernel& k) { return type_of(k.op); });
    print_groups("measured time", kernels, ours, [](const MeasuredKernel& k) { return size_of(k.us); });
}

}  // namespace

int sc_main(int argc, char** argv) {
    try {
        const std::string command = argc >= 2 ? argv[1] : "";
        if (command == "evaluate" && argc == 3) {
            evaluate(fit_kernels(read_measured_kernels(argv[2])));
            return 0;
        }
        if (command == "keys") {
            fmt::print("{}", platform::gpu_keys_markdown());
            return 0;
        }
        const std::vector<FitKernel> kernels = fit_kernels(read_measured_kernels(kData));
        if (command == "page") {
            print_page(kernels);
        } else if (command == "fit") {
            const KernelParameters p = fit(kernels, all_of(kernels));
            fmt::print(
                "overhead of a kernel: {:.1f} cycles = {:.0f} ns at 1.41 GHz (dependent_launch_ns + "
                "kernel_end_ns)\narithmetic_efficiency: {:.4f}\nmemory_efficiency: {:.4f}\nl2_efficiency: "
                "{:.4f}\nwarp_latency_cycles: {:.4f}\nmemory_instruction_cycles: {:.4f}\n",
                p.kernel_overhead_cycles, p.kernel_overhead_cycles / 1.41, p.arithmetic_efficiency, p.memory_efficiency,
                p.l2_efficiency, p.warp_latency_cycles, p.memory_instruction_cycles);
            fmt::print("errors: {}\n", cells(summarise(ratios(kernels, all_of(kernels), p))));
        } else {
            fmt::print(stderr, "usage: calibrate_gpu fit | page | keys | evaluate FILE.csv\n");
            return 2;
        }
        return 0;
    } catch (const std::exception& error) {
        fmt::print(stderr, "calibrate_gpu: {}\n", error.what());
        return 2;
    }
}
