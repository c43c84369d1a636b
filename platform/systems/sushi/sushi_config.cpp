// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/sushi/sushi_config.h"

#include <filesystem>

#include <fmt/format.h>

#include "switchyard/hw/memory/dram/device.h"
#include "switchyard/platform/system/platform_sections.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/input_file.h"

namespace switchyard::platform::sushi {

template <class Visit>
void for_each_section(SushiConfig& config, Visit visit) {
    visit("accelerator", config.accelerator);
    visit("array", config.array);
    visit("buffers", config.buffers);
    visit("buffers_without_pb", config.buffers_without_pb);
    visit("dram", config.dram);
    visit("commands", config.commands);
    visit("host", config.host);
    visit("queries", config.queries);
    visit("scheduler", config.scheduler);
    visit("dpu", config.dpu);
    visit("cpu", config.cpu);
}

namespace {

std::uint64_t kib(double value) {
    return static_cast<std::uint64_t>(value * 1024);
}

}  // namespace

sched::TileBuffers BufferConfig::bytes() const {
    return {kib(persistent_kib), kib(dynamic_kib), kib(streaming_kib),
            kib(line_kib),       kib(output_kib),  kib(parameters_kib)};
}

SushiConfig::SushiConfig() {
    // SUSHI, Table 3, without a persistent buffer.
    buffers_without_pb.persistent_kib = 0;
    buffers_without_pb.dynamic_kib = 1152;
    buffers_without_pb.streaming_kib = 1160;
}

std::map<std::string, std::string> SushiConfig::dram_settings() const {
    if (dram.bandwidth_scale == 1) return {};
    const double tck_ps = hw::dram::read_device(dram.device, {}).timing.tck_ps;
    return {{"timing.tck_ps", fmt::format("{:.9g}", tck_ps / dram.bandwidth_scale)}};
}

hw::DramRate SushiConfig::dram_rate() const {
    const hw::dram::Device device = hw::dram::read_device(dram.device, dram_settings());
    const hw::dram::Timing& timing = device.timing;
    const bool refreshes = timing.trefi_cycles > 0 && device.policy.refresh != "none";
    const unsigned stall_cycles = timing.trfc_cycles + timing.trp_all_cycles + timing.trcd_read_cycles;
    const double refresh = refreshes ? static_cast<double>(stall_cycles) / timing.trefi_cycles : 0;
    const double bursts_per_ns =
        device.geometry.pseudo_channels_in_all() / timing.ns(timing.column_s_cycles()) * (1 - refresh);
    hw::DramRate rate;
    rate.burst_bytes = device.geometry.burst_bytes;
    rate.bursts_per_cycle = bursts_per_ns / accelerator.clock_ghz;
    rate.latency_cycles = timing.ns(timing.tcl_cycles + timing.burst_cycles) * accelerator.clock_ghz;
    rate.other_row_cycles = timing.ns(timing.trp_cycles + timing.trcd_read_cycles) * accelerator.clock_ghz;
    rate.write_to_read_cycles = timing.ns(timing.tcwl_cycles + timing.twtr_l_cycles) * accelerator.clock_ghz;
    if (refreshes) {
        rate.refresh_cycles = timing.ns(stall_cycles) * accelerator.clock_ghz;
        rate.refresh_interval_cycles = timing.ns(timing.trefi_cycles) * accelerator.clock_ghz;
    }
    rate.request_bytes = accelerator.request_bytes;
    rate.outstanding = dram.outstanding;
    return rate;
}

std::string SushiConfig::fingerprint(const sched::sushi::Supernet& supernet, const BufferConfig& used) const {
    const sched::TileBuffers bytes = used.bytes();
    // Files of the same names may differ.
    const std::uint32_t device = hw::dram::read_device(dram.device, {}).contents;
    return fmt::format(
               "{} {:08x}; {} {} x {} at {} GHz; buffers {} {} {} {} {} {}; {} {:08x} x {}, requests of {} bytes, {} "
               "at a time{}",
               supernet.name, supernet.contents, accelerator.impl, array.rows, array.columns, accelerator.clock_ghz,
               bytes.persistent, bytes.dynamic, bytes.streaming, bytes.line, bytes.output, bytes.parameters,
               dram.device, device, dram.bandwidth_scale, accelerator.request_bytes, dram.outstanding,
               accelerator.hides_weights ? "" : ", weights not hidden") +
           (accelerator.array_at_peak ? ", array at peak" : "") +
           (accelerator.activations_on_chip ? ", activations on the chip" : "");
}

SushiConfig read_sushi_config(const std::string& path, std::map<std::string, std::string> overrides) {
    SushiConfig config;
    const YAML::Node file = load_sections(path, {"sushi", section_names<SushiConfig>(), {}, {}});
    read_sections(file, path, overrides, config);
    if (config.accelerator.impl == "cycle")
        for (const auto& [key, is_set] : {std::pair{"array_at_peak", config.accelerator.array_at_peak},
                                          {"activations_on_chip", config.accelerator.activations_on_chip}})
            if (is_set)
                throw InputError(path, 0, std::string("accelerator.") + key,
                                 "expected no, as impl is cycle, found yes; take impl analytic");
    refuse_left_overrides(overrides, names_of(sushi_keys()));
    if (!config.scheduler.table.empty() && !config.scheduler.subgraph_file.empty())
        throw InputError(path, 0, "scheduler.subgraph_file",
                         "expected no file of SubGraphs with scheduler.table, which has its own, found " +
                             config.scheduler.subgraph_file + "; leave one of them out");
    // A device file is found beside the platform's; devices of the library have names.
    const std::filesystem::path device =
        (std::filesystem::path(path).parent_path() / config.dram.device).lexically_normal();
    if (!path.empty() && config.dram.device.find('.') != std::string::npos && exists(device.string()))
        config.dram.device = device.string();
    config.dram_rate();
    return config;
}

std::vector<KeyDescription> sushi_keys() {
    return keys_of_sections<SushiConfig>();
}

}  // namespace switchyard::platform::sushi
