// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/gpu/gpu_platform.h"

#include <algorithm>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/sections.h"

namespace switchyard::platform {

namespace {

/// Calls visit(name, what it is, config) for each section.
template <class Visit>
void for_each_gpu_section(GpuPlatform& p, Visit&& visit) {
    visit("gpu", "The GPU as a whole.", p.gpu);
    visit("multiprocessors", "The streaming multiprocessors (SMs).", p.gpu.multiprocessors);
    visit("memory", "The L2, and the device memory as kernels see it.", p.gpu.memory);
    visit("device_memory", "The device memory.", p.device_memory);
    visit("command_processor", "Queues, launches, events.", p.gpu.command_processor);
    visit("cta_scheduler", "CTAs of kernels to SMs.", p.gpu.cta_scheduler);
    visit("copy_engines", "Copies between host and device.", p.gpu.copy_engines);
    visit("host_link", "PCI Express to the host.", p.host_link);
}

void check_message(const std::string& message, const char* section, const YAML::Node& root, const std::string& path) {
    if (!message.empty()) throw InputError(path, line_of(root[section]), section, message);
}

}  // namespace

hw::DeviceMemory::Config GpuPlatform::memory_config() const {
    return {device_memory.bytes, device_memory.latency_ns, gpu.memory.memory_gb_per_s};
}

double sustained_gb_per_s(double peak_gb_per_s, const hw::dram::Device& device) {
    return peak_gb_per_s * (1 - device.refresh_loss());
}

std::vector<std::string> gpu_sections() {
    std::vector<std::string> names;
    GpuPlatform defaults;
    for_each_gpu_section(defaults, [&names](const char* name, const char*, auto&) { names.emplace_back(name); });
    return names;
}

GpuPlatform read_gpu_sections(const YAML::Node& root, const std::string& path,
                              std::map<std::string, std::string>& overrides) {
    GpuPlatform platform;
    for_each_gpu_section(platform, [&](const char* name, const char*, auto& config) {
        ConfigReader reader(root[name], path, name, &overrides);
        describe(reader, config);
        reader.finish();
    });
    platform.gpu.memory.memory_gb_per_s =
        sustained_gb_per_s(platform.device_memory.peak_gb_per_s, hw::dram::read_device(platform.device_memory.device));
    check_message(validation_error(platform.gpu), "gpu", root, path);
    check_message(validation_error(platform.host_link), "host_link", root, path);
    return platform;
}

GpuPlatform read_gpu_file(const std::string& path, std::map<std::string, std::string>& overrides) {
    const YAML::Node root = load_yaml(path);
    const std::vector<std::string> sections = gpu_sections();
    check_sections(root, path, {"", {sections.begin(), sections.end()}, {}, {"gpu"}});
    return read_gpu_sections(root, path, overrides);
}

GpuPlatform read_gpu_platform(const std::string& path, std::map<std::string, std::string> overrides) {
    GpuPlatform platform = read_gpu_file(path, overrides);
    refuse_left_overrides(overrides, gpu_keys());
    return platform;
}

std::vector<std::string> gpu_keys() {
    std::vector<KeyDescription> keys;
    GpuPlatform defaults;
    for_each_gpu_section(defaults, [&keys](const char* name, const char*, auto& config) {
        ConfigReader reader(YAML::Node(), "", name, nullptr, &keys);
        describe(reader, config);
    });
    std::vector<std::string> names;
    for (const KeyDescription& key : keys) names.push_back(key.key);
    return names;
}

std::string gpu_keys_markdown() {
    std::string text =
        "# Keys of a GPU\n\n"
        "A GPU is a YAML file with the sections below (`configs/gpus/`); what is left out has its default. Keys that "
        "are "
        "called calibrated are those of `docs/results/gpu_kernels.md`. `calibrate_gpu keys` prints this page; a test "
        "compares the two.\n";
    GpuPlatform defaults;
    for_each_gpu_section(defaults, [&text](const char* name, const char* meaning, auto& config) {
        std::vector<KeyDescription> keys;
        ConfigReader reader(YAML::Node(), "", name, nullptr, &keys);
        describe(reader, config);
        text += fmt::format("\n## {}\n\n{}\n\n{}", name, meaning, key_table(keys));
    });
    return text;
}

sched::GpuDescription describe_gpu(const GpuPlatform& platform) {
    const hw::MultiprocessorConfig& m = platform.gpu.multiprocessors;
    const hw::GpuMemoryConfig& memory = platform.gpu.memory;
    sched::GpuDescription gpu;
    gpu.multiprocessors = m.count;
    gpu.clock_ghz = m.clock_ghz;
    gpu.max_ctas = m.max_ctas;
    gpu.max_warps = m.max_warps;
    gpu.registers = m.registers;
    gpu.shared_bytes = m.shared_bytes;
    gpu.register_unit = m.register_unit;
    gpu.shared_unit_bytes = m.shared_unit_bytes;
    gpu.reserved_shared_bytes = m.reserved_shared_bytes;
    gpu.partitions = m.partitions;
    gpu.fp32_flops_per_cycle = m.fp32_flops_per_cycle;
    gpu.issue_per_cycle = m.issue_per_cycle;
    gpu.l2_port_bytes_per_cycle = m.l2_port_bytes_per_cycle;
    gpu.l2_bytes = static_cast<double>(memory.l2_bytes);
    gpu.l2_bytes_per_cycle = memory.l2_bytes_per_cycle;
    gpu.l2_latency_ns = memory.l2_latency_ns;
    gpu.memory_latency_ns = memory.memory_latency_ns;
    gpu.memory_gb_per_s = memory.memory_gb_per_s;
    gpu.kernel_overhead_ns =
        platform.gpu.command_processor.dependent_launch_ns + platform.gpu.cta_scheduler.kernel_end_ns + m.cta_launch_ns;
    gpu.arithmetic_efficiency = m.arithmetic_efficiency;
    gpu.memory_instruction_cycles = m.memory_instruction_cycles;
    gpu.warp_latency_cycles = m.warp_latency_cycles;
    gpu.l2_efficiency = memory.l2_efficiency;
    gpu.memory_efficiency = memory.memory_efficiency;
    return gpu;
}

}  // namespace switchyard::platform
