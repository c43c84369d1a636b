// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <yaml-cpp/yaml.h>

#include "switchyard/hw/gpu/gpu.h"
#include "switchyard/hw/link/pcie_link.h"
#include "switchyard/hw/memory/dram/device.h"
#include "switchyard/sw_scheduler/base/config.h"
#include "switchyard/sw_scheduler/workload/gpu_schedule.h"

namespace switchyard::platform {

/// Which memory a GPU has.
struct GpuMemoryDevice {
    std::string device = "hbm2_2400";
    double peak_gb_per_s = 1555;
    std::uint64_t bytes = 40ull << 30;
    double latency_ns = 206;
};

template <class V>
void describe(V& v, GpuMemoryDevice& c) {
    v.field("device", c.device,
            "a device of configs/devices, or the path of a file: what refresh takes of the bandwidth");
    v.field("peak_gb_per_s", c.peak_gb_per_s, 0.001, 1e6, "at the pins of all devices");
    v.field("bytes", c.bytes, 4096, 1ull << 44, "capacity");
    v.field("latency_ns", c.latency_ns, 0, 1e6, "of packets, events and copies; kernels: memory.memory_latency_ns");
}

/// A GPU with its memory and its host link, as a file of configs/gpus describes it.
struct GpuPlatform {
    hw::Gpu::Config gpu;
    GpuMemoryDevice device_memory;
    hw::PcieLink::Config host_link;

    hw::DeviceMemory::Config memory_config() const;
};

/// What a memory sustains: its peak less what refresh takes, (tRP + tRFC + tRCD) / tREFI of the device. The one place
/// where the `cta` and `warp` fidelities get bandwidth from hw/memory; what banks and turnarounds take is in the
/// calibrated memory_efficiency.
double sustained_gb_per_s(double peak_gb_per_s, const hw::dram::Device& device);

/// Names of the sections: gpu, multiprocessors, memory, device_memory, command_processor, cta_scheduler, copy_engines,
/// host_link.
std::vector<std::string> gpu_sections();
/// The sections of a GPU in a file that may have others too; what is not there has its default. Overrides
/// ("multiprocessors.count" -> "46") win and are removed. Throws InputError "file:line: section.key: ...".
GpuPlatform read_gpu_sections(const YAML::Node& root, const std::string& path,
                              std::map<std::string, std::string>& overrides);
/// A file of configs/gpus: the sections above and nothing else.
GpuPlatform read_gpu_platform(const std::string& path, std::map<std::string, std::string> overrides = {});
/// The same; overrides that the GPU has no key for are left.
GpuPlatform read_gpu_file(const std::string& path, std::map<std::string, std::string>& overrides);
/// "multiprocessors.count" and so on.
std::vector<std::string> gpu_keys();
/// Keys of all sections, for documents.
std::string gpu_keys_markdown();

/// For sched::tuned_kernel().
sched::GpuDescription describe_gpu(const GpuPlatform& platform);

}  // namespace switchyard::platform
