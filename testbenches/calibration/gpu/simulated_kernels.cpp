// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/calibration/gpu/simulated_kernels.h"

#include <cstdint>
#include <memory>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>

#include "switchyard/platform/gpu/gpu_device.h"
#include "switchyard/tlm/has_process.h"

namespace switchyard::calibration {

namespace {

namespace reg = hw::gpu_registers;
constexpr std::uint64_t kRingAddress = 1ull << 20, kSegmentsAddress = 1ull << 24;
constexpr std::uint64_t kTensors = 1ull << 32;
constexpr unsigned kLaunches = 3;

/// A host with one queue on one GPU.
class QueueHost : public sc_core::sc_module {
public:
    QueueHost(const sc_core::sc_module_name& module_name, const platform::GpuPlatform& platform,
              SimulationRegistry& registry)
        : sc_module(module_name), device("device", platform, registry), bus_("bus"), memory_("memory") {
        bus_.bind(device.from_host);
        device.to_host.bind(memory_);
        memory_.register_b_transport(this, &QueueHost::no_host_memory);
        device.irq.bind(irq_);
        SWITCHYARD_HAS_PROCESS(QueueHost);
        SC_THREAD(run);
    }

    /// Before the simulation; the tag is the kernel's number.
    void add(const sched::GpuKernel& kernel, std::uint64_t tag) { kernels_.push_back({kernel, tag}); }

    platform::GpuDevice device;

private:
    struct Launch {
        sched::GpuKernel kernel;
        std::uint64_t tag;
    };
    void no_host_memory(::tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
        payload.set_response_status(::tlm::TLM_ADDRESS_ERROR_RESPONSE);
    }
    void write(std::uint64_t offset, std::uint32_t value) {
        ::tlm::tlm_generic_payload payload;
        hw::set_access(payload, true, platform::GpuDevice::kGpuRegisters + offset, &value, sizeof value);
        sc_core::sc_time delay;
        bus_->b_transport(payload, delay);
    }
    void run() {
        std::uint32_t packets = 1;
        while (packets < kernels_.size()) packets *= 2;
        std::uint64_t segments = kSegmentsAddress, ring = kRingAddress;
        for (const Launch& launch : kernels_) {
            const std::vector<std::uint8_t> bytes = hw::encode_segments(launch.kernel);
            device.write_memory(segments, bytes.data(), static_cast<unsigned>(bytes.size()));
            const hw::GpuPacketBytes packet = hw::encode(hw::kernel_packet(launch.kernel, launch.tag, segments));
            device.write_memory(ring, packet.data(), hw::kGpuPacketBytes);
            segments += bytes.size();
            ring += hw::kGpuPacketBytes;
        }
        write(reg::queue(0, reg::kBaseLow), static_cast<std::uint32_t>(kRingAddress));
        write(reg::queue(0, reg::kPackets), packets);
        write(reg::queue(0, reg::kWriteIndex), static_cast<std::uint32_t>(kernels_.size()));
    }

    std::vector<Launch> kernels_;
    tlm_utils::simple_initiator_socket<QueueHost> bus_;
    tlm_utils::simple_target_socket<QueueHost> memory_;
    sc_core::sc_signal<bool> irq_;
};

}  // namespace

std::vector<double> simulate_us(const std::vector<MeasuredKernel>& kernels, const KernelChoice& choose,
                                const std::map<std::string, std::string>& overrides) {
    SimulationRegistry registry;
    std::map<std::string, std::unique_ptr<QueueHost>> hosts;
    std::map<std::string, sched::GpuDescription> gpus;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        const MeasuredKernel& measured = kernels[i];
        std::unique_ptr<QueueHost>& host = hosts[measured.device];
        if (host == nullptr) {
            std::map<std::string, std::string> settings = overrides;
            settings.merge(base_clock(measured.device));
            // Calibrated in cycles, written in ns of 1.41 GHz.
            const KernelParameters p = file_parameters();
            const double clock_ghz = a100(measured.device, p).clock_ghz;
            settings["cta_scheduler.kernel_end_ns"] = "0";
            settings["command_processor.dependent_launch_ns"] = std::to_string(p.kernel_overhead_cycles / clock_ghz);
            settings["cta_scheduler.keep_records"] = "yes";
            const platform::GpuPlatform platform =
                platform::read_gpu_platform(platform_file(measured.device), settings);
            gpus[measured.device] = platform::describe_gpu(platform);
            host = std::make_unique<QueueHost>(("host_" + std::to_string(hosts.size())).c_str(), platform, registry);
        }
        const sched::GpuKernel kernel = choose(measured, gpus[measured.device]);
        for (unsigned launch = 0; launch < kLaunches; ++launch) host->add(kernel, i);
    }
    sc_core::sc_start();
    std::vector<double> us(kernels.size());
    for (const auto& [device, host] : hosts) {
        std::map<std::uint64_t, sc_core::sc_time> last;
        for (const hw::KernelRecord& record : host->device.gpu().records()) {
            us[record.tag] = (record.completed - last[record.tag]) / sc_core::sc_time(1, sc_core::SC_US);
            last[record.tag] = record.completed;
        }
    }
    return us;
}

std::vector<double> simulate_us(const std::vector<FitKernel>& kernels,
                                const std::map<std::string, std::string>& overrides) {
    std::vector<MeasuredKernel> measured;
    for (const FitKernel& kernel : kernels) measured.push_back(kernel.measured);
    std::size_t next = 0;  // they are asked for in their order
    return simulate_us(
        measured,
        [&](const MeasuredKernel& kernel, const sched::GpuDescription& gpu) {
            const std::vector<sched::GpuSchedule>& schedules = kernels[next++].schedules;
            return sched::make_kernel(kernel.op, sched::best_schedule(kernel.op, schedules, gpu), kTensors);
        },
        overrides);
}

}  // namespace switchyard::calibration
