// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/m_tenant/m_tenant.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "switchyard/platform/chip/platform_json.h"
#include "switchyard/platform/chip/static_power.h"
#include "switchyard/platform/system/batch_report.h"
#include "switchyard/platform/system/checks.h"
#include "switchyard/platform/system/report_parts.h"
#include "switchyard/platform/systems/m_tenant/simulation/tenant_simulation.h"
#include "switchyard/platform/systems/m_tenant/tenant_batch.h"
#include "switchyard/sw_scheduler/workload/dataflow.h"

namespace switchyard::platform {

using nlohmann::ordered_json;

namespace {

/// All batches.
struct Sum {
    TenantBatch all;              ///< `most_` are the largest of all
    double expected_macs = 0;     ///< of the routes
    double expected_written = 0;  ///< bytes of the results that the routes ask for
    std::vector<double> operator_samples;
};

void add(Sum& sum, const TenantBatch& batch) {
    sum.all.cycles += batch.cycles;
    sum.all.idle_cycles += batch.idle_cycles;
    sum.all.macs += batch.macs;
    sum.all.vector_elements += batch.vector_elements;
    sum.all.bytes.add(batch.bytes);
    sum.all.min_read_bytes += batch.min_read_bytes;
    sum.all.max_bytes_per_cycle = std::max(sum.all.max_bytes_per_cycle, batch.max_bytes_per_cycle);
    sum.all.max_tiles = std::max(sum.all.max_tiles, batch.max_tiles);
    sum.all.tile_cycles += batch.tile_cycles;
    sum.all.synchronisations += batch.synchronisations;
    for (std::size_t op = 0; op < batch.operator_cycles.size(); ++op) {
        sum.all.operator_cycles[op] += batch.operator_cycles[op];
        sum.all.operator_tiles[op] += batch.operator_tiles[op];
    }
}

Activity events_of(const TenantBatch& batch) {
    Activity activity;
    activity.pe_operations = batch.macs + batch.vector_elements;
    activity.scratchpad_read_bytes = batch.bytes.scratchpad_read;
    activity.scratchpad_write_bytes = batch.bytes.scratchpad_written;
    activity.link_bytes = batch.bytes.link;
    activity.hbm_bytes = batch.bytes.hbm_read + batch.bytes.hbm_written;
    return activity;
}

ordered_json operators_json(const sched::DynGraph& graph, const Sum& sum, double batches, double cycles_per_us) {
    ordered_json list = ordered_json::array();
    for (std::size_t id = 0; id < graph.operators.size(); ++id) {
        const sched::Operator& op = graph.operators[id];
        if (is_index_only(op)) continue;
        list.push_back({{"operator", op.name},
                        {"kind", sched::to_string(op.shape.kind)},
                        {"switch", op.path.empty() ? "" : graph.switches[op.path.back().switch_id].name},
                        {"samples_per_batch", sum.operator_samples[id] / batches},
                        {"macs", sum.operator_samples[id] * static_cast<double>(op.macs_per_sample)},
                        {"tiles", sum.all.operator_tiles[id] / batches},
                        {"us_per_batch", sum.all.operator_cycles[id] / batches / cycles_per_us}});
    }
    return list;
}

/// Bytes are whole, and of a task that was stopped whole samples are left.
constexpr double kLeftTolerance = 1e-3, kStoppedTolerance = 0.05;

std::vector<Check> check(const PlatformConfig& platform, const TenantConfig& config,
                         const sched::HardwareDescription& hardware, const Sum& sum, double parts_picojoules,
                         double batches_picojoules) {
    Checks checks;
    const TenantBatch& all = sum.all;
    checks.equal("multiply-accumulates that the routing asks for = done", sum.expected_macs, all.macs, kSumTolerance);
    if (config.impl == "tiles") {
        checks.at_most("bytes of the results that the routing asks for, at most those written", all.bytes.hbm_written,
                       sum.expected_written * (1 - kLeftTolerance));
        checks.at_most("bytes written, at most those of the results and of samples that were cut",
                       sum.expected_written * (1 + kStoppedTolerance), all.bytes.hbm_written);
    } else {
        checks.equal("bytes of the results that the routing asks for = written by tenants", sum.expected_written,
                     all.bytes.hbm_written, kSumTolerance);
    }
    checks.at_most("bytes of operands and weights, each once, at most those read", all.bytes.hbm_read,
                   all.min_read_bytes * (1 - (config.impl == "tiles" ? kLeftTolerance : kSumTolerance)));
    checks.at_most("tiles with a tenant", platform.tiles(), all.max_tiles);
    checks.at_most("tiles times cycles with a tenant", platform.tiles() * all.cycles * (1 + kSumTolerance),
                   all.tile_cycles);
    checks.at_most("multiply-accumulates a PE and cycle of a tile with a tenant", 1,
                   all.tile_cycles > 0 ? all.macs / (all.tile_cycles * hardware.pes()) : 0);
    checks.at_most("memory bytes a cycle, at any time", hardware.memory_bytes_per_cycle() * (1 + kSumTolerance),
                   all.max_bytes_per_cycle);
    checks.equal("energy of all batches, host and time = energy of all parts, pJ", batches_picojoules, parts_picojoules,
                 kSumTolerance);
    return checks.take();
}

ordered_json fidelity_of(const PlatformConfig& platform, const TenantConfig& config) {
    const bool tiles = config.impl == "tiles";
    return {{"chip", tiles ? "tenants on tiles" : "tenants"},
            {"pe_array", "closed form"},
            {"scratchpad", "bytes"},
            {"noc", tiles ? platform.noc.impl : "bytes of a tile's link"},
            {"hbm", tiles ? platform.hbm.impl : "shared bandwidth"},
            {"host", "synchronisation latency"},
            {"values", "timing only"}};
}

}  // namespace

ordered_json run_m_tenant(const sched::DynGraph& graph, const std::vector<BatchRouting>& routing,
                          const sched::RoutingSource& source, const PlatformConfig& platform,
                          const TenantConfig& config) {
    const sched::HardwareDescription hardware = make_hardware_description(platform);
    const double cycles_per_us = platform.chip.clock_ghz * 1e3;
    TenantChip chip(graph, hardware, config);

    Sum sum;
    sum.operator_samples.assign(graph.operators.size(), 0);
    sum.all.operator_cycles = sum.all.operator_tiles = sum.operator_samples;
    BatchRun run;
    run.design = "m-tenant";
    double batches_picojoules = 0;
    const bool simulated = config.impl == "tiles";
    const std::vector<TenantBatch> batches_done =
        simulated ? simulate_tenants(chip.readers(), routing, platform, chip.kernels(), config)
                  : std::vector<TenantBatch>{};
    for (std::size_t index = 0; index < routing.size(); ++index) {
        const BatchRouting& batch = routing[index];
        const std::vector<std::uint32_t> counts = sample_counts(graph, batch);
        for (std::size_t op = 0; op < counts.size(); ++op) {
            sum.operator_samples[op] += counts[op];
            if (!is_index_only(graph.operators[op]))
                sum.expected_written += chip.kernels().written_bytes_per_sample(static_cast<int>(op)) * counts[op];
        }
        run.macs.push_back(batch_macs(graph, counts));
        sum.expected_macs += static_cast<double>(run.macs.back());
        const TenantBatch done = simulated ? batches_done[index] : chip.run(batch);
        run.latency_us.push_back(done.cycles / cycles_per_us);
        add(sum, done);
        batches_picojoules += energy_of(platform.energy, events_of(done)).sum();
    }

    const auto batches = static_cast<double>(routing.size());
    const double host_bytes_per_us = platform.host.link_bytes_per_cycle * cycles_per_us;
    const auto input_bytes = static_cast<double>(batch_input_bytes(graph));
    const auto output_bytes = static_cast<double>(batch_output_bytes(graph));
    run.input_us = input_bytes / host_bytes_per_us;
    run.output_us = output_bytes / host_bytes_per_us;
    run.peak_macs_per_us = platform.pes() * cycles_per_us;
    run.peak_bytes_per_us = platform.hbm.interfaces() * platform.hbm.peak_bytes_per_cycle() * cycles_per_us;
    // The first batch's input is there when the run begins, the last one's output is fetched after its end.
    run.hbm_read_bytes = sum.all.bytes.hbm_read + output_bytes * (batches - 1);
    run.hbm_written_bytes = sum.all.bytes.hbm_written + input_bytes * (batches - 1);

    const double run_ns = BatchClock(run.input_us, run.output_us, run.latency_us).run_us() * 1e3;
    Activity around;  // beside the batches
    around.hbm_bytes = (input_bytes + output_bytes) * (batches - 1);
    add_static(around, platform, platform.tiles(), run_ns);
    Activity activity = events_of(sum.all);
    activity.hbm_bytes += around.hbm_bytes;
    activity.tile_nanoseconds = around.tile_nanoseconds;
    activity.leaking_kib_nanoseconds = around.leaking_kib_nanoseconds;
    const Energy energy = energy_of(platform.energy, activity);
    batches_picojoules += energy_of(platform.energy, around).sum();

    ordered_json report = batch_report(graph, source, run, platform_json(platform), fidelity_of(platform, config),
                                       energy_json(energy.parts(), energy.sum(), run_ns, routing.size()),
                                       check(platform, config, hardware, sum, energy.sum(), batches_picojoules));
    report["time_us_per_batch"] = {{"tiles_at_work", (sum.all.cycles - sum.all.idle_cycles) / batches / cycles_per_us},
                                   {"tiles_idle", sum.all.idle_cycles / batches / cycles_per_us}};
    report["events_per_batch"] = {{"synchronisations", static_cast<double>(sum.all.synchronisations) / batches}};
    report["operators"] = operators_json(graph, sum, batches, cycles_per_us);
    return report;
}

}  // namespace switchyard::platform
