// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/gpu_roofline/gpu.h"

#include <nlohmann/json.hpp>

#include "switchyard/platform/system/batch_report.h"
#include "switchyard/platform/system/checks.h"
#include "switchyard/platform/system/report_parts.h"
#include "switchyard/platform/systems/gpu_roofline/gpu_batch.h"
#include "switchyard/sw_scheduler/workload/dataflow.h"

namespace switchyard::platform {

using nlohmann::ordered_json;

namespace {

constexpr double kFlopsPerMac = 2;

std::vector<Check> check(const GpuConfig& gpu, const BatchRun& run, const GpuBatch& all, double expected_macs,
                         double host_bytes, double batches_picojoules, double parts_picojoules) {
    Checks checks;
    checks.equal("multiply-accumulates that the routing asks for = done", expected_macs, all.macs, kSumTolerance);
    const double busy = all.operators_us + all.routing_us;
    checks.at_most("time of kernels, one after another", all.us * (1 + kSumTolerance), busy);
    checks.at_most("FLOP a microsecond of kernels", gpu.tensor_flops_per_us() * (1 + kSumTolerance),
                   busy > 0 ? kFlopsPerMac * all.macs / busy : 0);
    checks.at_most("memory bytes a microsecond of kernels", gpu.memory_bytes_per_us() * (1 + kSumTolerance),
                   busy > 0 ? (all.read_bytes + all.written_bytes) / busy : 0);
    checks.equal("memory bytes of kernels and host = reported", all.read_bytes + all.written_bytes + host_bytes,
                 run.hbm_read_bytes + run.hbm_written_bytes, kSumTolerance);
    checks.equal("energy of all parts = power times time, pJ", batches_picojoules, parts_picojoules, kSumTolerance);
    return checks.take();
}

ordered_json operators_json(const sched::DynGraph& graph, const std::vector<double>& samples,
                            const std::vector<double>& operator_us, double batches) {
    ordered_json list = ordered_json::array();
    for (std::size_t id = 0; id < graph.operators.size(); ++id) {
        const sched::Operator& op = graph.operators[id];
        if (is_renaming(op)) continue;
        list.push_back({{"operator", op.name},
                        {"kind", sched::to_string(op.shape.kind)},
                        {"switch", op.path.empty() ? "" : graph.switches[op.path.back().switch_id].name},
                        {"samples_per_batch", samples[id] / batches},
                        {"macs", samples[id] * static_cast<double>(op.macs_per_sample)},
                        {"us_per_batch", operator_us[id] / batches}});
    }
    return list;
}

}  // namespace

ordered_json run_gpu(const sched::DynGraph& graph, const std::vector<BatchRouting>& routing,
                     const sched::RoutingSource& source, const GpuConfig& gpu) {
    BatchRun run;
    run.design = "gpu";
    GpuBatch all;
    std::vector<double> samples(graph.operators.size(), 0);
    all.operator_us = samples;
    double expected_macs = 0;
    for (const BatchRouting& batch : routing) {
        const std::vector<std::uint32_t> counts = sample_counts(graph, batch);
        run.macs.push_back(batch_macs(graph, counts));
        expected_macs += static_cast<double>(run.macs.back());
        const GpuBatch done = run_gpu_batch(graph, gpu, batch);
        run.latency_us.push_back(done.us);
        all.us += done.us;
        all.operators_us += done.operators_us;
        all.routing_us += done.routing_us;
        all.operator_launches += done.operator_launches;
        all.routing_launches += done.routing_launches;
        all.synchronisations += done.synchronisations;
        all.macs += done.macs;
        all.read_bytes += done.read_bytes;
        all.written_bytes += done.written_bytes;
        for (std::size_t op = 0; op < counts.size(); ++op) {
            samples[op] += counts[op];
            all.operator_us[op] += done.operator_us[op];
        }
    }

    const auto batches = static_cast<double>(routing.size());
    const auto input_bytes = static_cast<double>(batch_input_bytes(graph));
    const auto output_bytes = static_cast<double>(batch_output_bytes(graph));
    run.input_us = input_bytes / (gpu.host_link_gb_per_s * 1e3);
    run.output_us = output_bytes / (gpu.host_link_gb_per_s * 1e3);
    run.peak_macs_per_us = gpu.tensor_flops_per_us() / kFlopsPerMac;
    run.peak_bytes_per_us = gpu.memory_bytes_per_us();
    // The first batch's input is there when the run begins, the last one's output is fetched after its end.
    run.hbm_read_bytes = all.read_bytes + output_bytes * (batches - 1);
    run.hbm_written_bytes = all.written_bytes + input_bytes * (batches - 1);

    const double run_ns = BatchClock(run.input_us, run.output_us, run.latency_us).run_us() * 1e3;
    const double picojoules = gpu.board_power_w * 1e3 * run_ns;
    const ordered_json energy = energy_json({{"board", picojoules}}, picojoules, run_ns, routing.size());
    ordered_json report =
        batch_report(graph, source, run,
                     {{"name", gpu.name},
                      {"multiprocessors", gpu.multiprocessors},
                      {"clock_ghz", gpu.clock_ghz},
                      {"peak_tflops", gpu.tensor_flops_per_us() * 1e-6},
                      {"hbm_gb_per_s", gpu.memory_gb_per_s},
                      {"l2_bytes", gpu.l2_bytes}},
                     {{"kernels", "roofline with waves"},
                      {"l2", "whole tensors"},
                      {"launches", "queue"},
                      {"energy", "power times time"},
                      {"values", "timing only"}},
                     energy,
                     check(gpu, run, all, expected_macs, (input_bytes + output_bytes) * (batches - 1),
                           gpu.board_power_w * 1e3 * run_ns, energy.at("total_mj").get<double>() * 1e9));
    report["time_us_per_batch"] = {{"operators", all.operators_us / batches},
                                   {"routing", all.routing_us / batches},
                                   {"no_kernel", (all.us - all.operators_us - all.routing_us) / batches}};
    report["events_per_batch"] = {{"operator_launches", static_cast<double>(all.operator_launches) / batches},
                                  {"routing_launches", static_cast<double>(all.routing_launches) / batches},
                                  {"synchronisations", static_cast<double>(all.synchronisations) / batches}};
    report["operators"] = operators_json(graph, samples, all.operator_us, batches);
    return report;
}

}  // namespace switchyard::platform
