// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/adyna/conservation.h"

#include <algorithm>

#include <fmt/format.h>

#include "switchyard/platform/chip/static_power.h"
#include "switchyard/tlm/clock_period.h"

namespace switchyard::platform {

namespace {

/// Sums of floating-point numbers in different orders differ in the last digits; counts do not.
constexpr double kEnergyTolerance = 1e-9;

Activity events_in(const Counters& counters) {
    Activity activity;
    const Counters pe = counters.of("pe_array"), scratchpad = counters.of("scratchpad"), hbm = counters.of("hbm");
    activity.pe_operations = pe.sum("macs") + pe.sum("vector_elements");
    activity.scratchpad_read_bytes = scratchpad.sum("read_bytes");
    activity.scratchpad_write_bytes = scratchpad.sum("write_bytes");
    activity.link_bytes = counters.sum("link_bytes");
    activity.hbm_bytes = hbm.sum("read_bytes") + hbm.sum("write_bytes");
    return activity;
}

void check_routing(Checks& checks, const Image& image, const std::vector<Expectation>& expected,
                   const Counters& at_end) {
    for (std::size_t s = 0; s < image.meta.switches.size(); ++s) {
        for (std::size_t branch = 0; branch < image.meta.switches[s].branches; ++branch) {
            double samples = 0;
            for (const Expectation& batch : expected) samples += static_cast<double>(batch.branch_samples[s][branch]);
            checks.equal(fmt::format("samples of switch {} to branch {}", image.meta.switches[s].name, branch), samples,
                         at_end.sum(fmt::format("switch_{}_branch_{}_samples", s, branch)));
        }
    }
    const Counters interfaces = at_end.of("network_interface");
    checks.equal("samples that left tiles = samples that arrived", interfaces.sum("samples_sent"),
                 interfaces.sum("samples_received"));
}

void check_work(Checks& checks, const PlatformConfig& platform, const std::vector<Expectation>& expected,
                const RunResult& result) {
    double macs = 0;
    for (const Expectation& batch : expected) macs += static_cast<double>(batch.macs);
    checks.equal("multiply-accumulates that the routing asks for = done", macs,
                 result.at_end.of("pe_array").sum("macs"));

    double invocations = 0, recorded = 0;
    const std::vector<SimulatedHost::Phase>& phases = result.host.phases;
    for (std::size_t i = 0; i < phases.size(); ++i) {
        const std::size_t end = i + 1 < phases.size() ? phases[i + 1].first_batch : expected.size();
        for (const TileProgram& tile : phases[i].image->tiles)
            for (const TileOperator& op : tile.operators) {
                const OperatorPlacement& placement = tile.placement(op.op_id);
                const double a_doorbell =
                    placement.invoked_by_batch() ? placement.units / placement.units_of_invocation() : placement.units;
                invocations += a_doorbell * static_cast<double>(end - phases[i].first_batch);
            }
    }
    for (const SimulatedHost::Profile* profile : result.host.last_profiles())
        for (const auto& tile : profile->by_tile)
            for (const ProfileRecord& record : tile) recorded += record.invocations;
    checks.equal("kernel invocations of the program = in the profiles", invocations, recorded);

    const double pes_of_a_tile = static_cast<double>(platform.pe_array.rows) * platform.pe_array.columns;
    double max_macs = 0, max_busy = 0;
    for (const auto& [place, counters] : result.at_end.by_place()) {
        const Counters pe = counters.of("pe_array");
        const double busy = pe.sum("busy_cycles");
        if (busy > 0) max_macs = std::max(max_macs, pe.sum("macs") / (busy * pes_of_a_tile));
        max_busy = std::max(max_busy, busy);
    }
    checks.at_most("multiply-accumulates a PE and busy cycle, busiest tile", 1, max_macs);
    // In periods as the simulator has them: rounded to its resolution, of which more may fit into the run than the
    // frequency says.
    const sc_core::sc_time end(result.end_ns, sc_core::SC_NS);
    checks.at_most("busy cycles of a PE array", static_cast<double>(ClockPeriod(platform.chip.clock_ghz).count(end)),
                   max_busy);
}

void check_bytes(Checks& checks, const RunResult& result) {
    const Counters noc = result.at_end.of("torus"), hbm = result.at_end.of("hbm");
    const Counters interfaces = result.at_end.of("network_interface");
    checks.equal("packets addressed to endpoints = packets ejected", noc.sum("addressed_packets"),
                 noc.sum("ejected_packets"));
    checks.equal("bytes addressed to endpoints = bytes ejected", noc.sum("addressed_bytes"), noc.sum("ejected_bytes"));
    checks.equal("tensor bytes sent by tiles and memory = received by tiles",
                 interfaces.sum("delivered_copy_bytes") + interfaces.sum("memory_requested_bytes"),
                 interfaces.sum("received_bytes"));
    const SimulatedHost::Result& host = result.host;
    checks.equal("bytes written by tiles and host = written to memory",
                 interfaces.sum("memory_written_bytes") +
                     static_cast<double>(host.weight_bytes + host.input_bytes + host.mask_bytes),
                 hbm.sum("write_bytes"));
}

void check_peaks(Checks& checks, const PlatformConfig& platform, const RunResult& result) {
    const double cycles = platform.cycles(result.end_ns);
    const Counters hbm = result.at_end.of("hbm");
    const double peak = platform.hbm.interfaces() * platform.hbm.peak_bytes_per_cycle();
    checks.at_most("memory bytes a cycle", peak, (hbm.sum("read_bytes") + hbm.sum("write_bytes")) / cycles);
    // Writes are posted: the memory may still store the last chunk when the run ends.
    const double posted = platform.hbm.max_packet_bytes / platform.hbm.peak_bytes_per_cycle();
    checks.at_most("busy cycles of a memory interface", cycles + posted, hbm.max("busy_cycles"));
    checks.at_most("busy cycles of a link", cycles, result.at_end.of("torus").max("max_link_busy_cycles"));
    checks.at_most("busy cycles of a scratchpad", cycles, result.at_end.of("scratchpad").max("busy_cycles"));
}

}  // namespace

RunActivity run_activity(const PlatformConfig& platform, const RunResult& result) {
    RunActivity run;
    const SimulatedHost::Result& host = result.host;
    run.nanoseconds =
        (host.batches.back().interrupt - host.batches.front().doorbell) / sc_core::sc_time(1, sc_core::SC_NS);
    const Counters counters = result.after_run.since(result.before_run);
    run.chip = events_in(counters);
    add_static(run.chip, platform, platform.tiles(), run.nanoseconds);
    for (const auto& [place, here] : counters.by_place()) {
        Activity activity = events_in(here);
        if (place.rfind("tile_", 0) == 0) add_static(activity, platform, 1, run.nanoseconds);
        run.total_picojoules += energy_of(platform.energy, activity).sum();
    }
    return run;
}

std::vector<Check> check_conservation(const PlatformConfig& platform, const Image& image,
                                      const std::vector<Expectation>& expected, const RunResult& result) {
    Checks checks;
    check_routing(checks, image, expected, result.at_end);
    check_work(checks, platform, expected, result);
    check_bytes(checks, result);
    check_peaks(checks, platform, result);
    const RunActivity run = run_activity(platform, result);
    checks.equal("energy of all places = energy of all parts, pJ", run.total_picojoules,
                 energy_of(platform.energy, run.chip).sum(), kEnergyTolerance);
    return checks.take();
}

}  // namespace switchyard::platform
