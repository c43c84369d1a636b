// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/ace/ace_run.h"

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

#include "switchyard/platform/gpu/gpu_device.h"
#include "switchyard/platform/system/no_progress.h"
#include "switchyard/platform/systems/ace/ace_host.h"
#include "switchyard/platform/systems/ace/full_graph_source.h"
#include "switchyard/platform/systems/ace/value_memory.h"
#include "switchyard/sw_scheduler/ace/kernel_graph.h"
#if defined(SWITCHYARD_RTL)
#include "switchyard/rtl/scheduling_window/make_window_core.h"
#include "switchyard/tlm/has_process.h"
#endif

namespace switchyard::platform::ace {

using sched::ace::Footprint;

namespace {

#if defined(SWITCHYARD_RTL)
const hw::WindowCoreFactory kMakeWindowCore = &rtl::make_window_core;
#else
const hw::WindowCoreFactory kMakeWindowCore = &hw::make_window_core;
#endif

/// Sources of kernels besides the queues.
enum Source : unsigned { kWindowSource, kGraphSource, kSources };

const std::map<std::string, std::string>& runtimes() {
    static const std::map<std::string, std::string> kNames{{"gpu-serial", "serial"},
                                                           {"gpu-multi-stream", "multi_stream"},
                                                           {"gpu-graph", "cuda_graph"},
                                                           {"ace-sw", "ace_sw"},
                                                           {"ace-hw", "ace_hw"}};
    return kNames;
}

std::uint32_t power_of_two_from(std::size_t value) {
    std::uint32_t result = 2;
    while (result < value) result *= 2;
    return result;
}

double us_of(const sc_core::sc_time& time) {
    return time / sc_core::sc_time(1, sc_core::SC_US);
}

/// Where rings, events and segments lie: room for every kernel with three packets in one queue.
DeviceLayout layout_of(const AceWork& work, unsigned queues) {
    DeviceLayout layout;
    std::size_t packets = 0, max_kernels = 0, edges = 0;
    for (const sched::GeneratedStream& input : work.inputs) {
        packets += 2 * input.kernels.size();
        max_kernels = std::max(max_kernels, input.kernels.size());
        for (const sched::GpuKernel& kernel : input.kernels) edges += kernel.reads.size();
    }
    layout.ring_packets = power_of_two_from(packets + 4 * edges + 64);
    layout.events = layout.rings + std::uint64_t{queues} * layout.ring_packets * hw::kGpuPacketBytes;
    layout.segments = layout.events + 8 * max_kernels;
    return layout;
}

/// Memory after the kernels have run one after another.
std::uint64_t serial_digest(const std::vector<sched::GpuKernel>& kernels) {
    ValueMemory memory;
    for (std::size_t k = 0; k < kernels.size(); ++k)
        memory.write(kernels[k].writes, memory.digest(kernels[k].reads, k));
    return memory.digest();
}

class AceChip : public sc_core::sc_module {
public:
    AceChip(const sc_core::sc_module_name& module_name, const AceWork& work, const AceConfig& config,
            const std::string& design)
        : sc_module(module_name),
          work_(work),
          config_(config),
          design_(design),
          layout_(layout_of(work, config.run.streams)),
          device_("device", platform_of(config), registry_),
          access_("access", registry_),
          window_("scheduling_window", config.window, registry_, kMakeWindowCore),
          graph_source_("full_graph"),
          host_("host", access_, layout_, config.run.streams, config.run.watchdog_us, registry_) {
        access_.link.bind(device_.from_host);
        device_.to_host.bind(host_memory_);
        host_memory_.register_b_transport(this, &AceChip::refuse_host_access);
        device_.extension.bind(window_.entries);
        device_.irq.bind(irq_);
        hw::Gpu& gpu = device_.gpu();
        window_.kernels.bind(gpu.kernels[kWindowSource]);
        gpu.completions[kWindowSource].bind(window_.completed);
        graph_source_.kernels.bind(gpu.kernels[kGraphSource]);
        gpu.completions[kGraphSource].bind(graph_source_.completed);
        gpu.set_hooks([this](const hw::KernelLaunch& launch) { begin_kernel(launch); },
                      [this](const hw::KernelLaunch& launch) { end_kernel(launch); });
        SWITCHYARD_HAS_PROCESS(AceChip);
        SC_THREAD(run_inputs);
    }

    bool finished() const { return outcome_.inputs.size() == work_.inputs.size(); }
    std::runtime_error stuck() const { return no_progress(registry_); }
    AceOutcome outcome() const;

private:
    static GpuPlatform platform_of(const AceConfig& config) {
        GpuPlatform platform = config.gpu;
        platform.gpu.kernel_sources = kSources;
        unsigned& queues = platform.gpu.command_processor.queues;
        queues = std::max(queues, config.run.streams);
        return platform;
    }
    void refuse_host_access(::tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
        payload.set_response_status(::tlm::TLM_ADDRESS_ERROR_RESPONSE);  // no design copies
    }

    void run_inputs();
    std::vector<hw::GpuPacket> store_input(const std::vector<sched::GpuKernel>& kernels);
    void begin_kernel(const hw::KernelLaunch& launch);
    void end_kernel(const hw::KernelLaunch& launch);

    const AceWork& work_;
    const AceConfig& config_;
    std::string design_;
    DeviceLayout layout_;
    SimulationRegistry registry_;
    GpuDevice device_;
    DeviceAccess access_;
    hw::SchedulingWindow window_;
    FullGraphSource graph_source_;
    AceHost host_;
    tlm_utils::simple_target_socket<AceChip> host_memory_{"host_memory"};
    sc_core::sc_signal<bool> irq_{"irq"};

    AceOutcome outcome_;
    const std::vector<sched::GpuKernel>* present_ = nullptr;
    ValueMemory values_;
    std::map<std::uint64_t, std::uint64_t> digests_;  ///< of running kernels by number
    std::uint64_t sent_to_window_ = 0;
};

std::vector<hw::GpuPacket> AceChip::store_input(const std::vector<sched::GpuKernel>& kernels) {
    std::vector<hw::GpuPacket> packets;
    std::uint64_t address = layout_.segments;
    for (const sched::GpuKernel& kernel : kernels) {
        const std::vector<std::uint8_t> segments = hw::encode_segments(kernel);
        packets.push_back(hw::kernel_packet(kernel, packets.size(), segments.empty() ? 0 : address));
        if (!segments.empty()) access_.debug_write(GpuDevice::kGpuWindow + address, segments);
        address += segments.size();
    }
    return packets;
}

void AceChip::run_inputs() {
    if (design_ != kFullGraph) host_.set_up_queues();
    for (const sched::GeneratedStream& input : work_.inputs) {
        present_ = &input.kernels;
        const std::vector<hw::GpuPacket> packets = store_input(input.kernels);
        std::vector<Footprint> footprints;
        for (const sched::GpuKernel& kernel : input.kernels) footprints.push_back({kernel.reads, kernel.writes});
        sched::ace::Job job;
        job.kernels = &footprints;
        job.config.window = config_.window.slots;
        job.config.scheduled = config_.window.scheduled_kernels;
        job.config.streams = config_.run.streams;
        job.config.rule = config_.run.dependences == "as_printed" ? sched::ace::DependenceRule::as_printed
                                                                  : sched::ace::DependenceRule::all_hazards;
        job.config.costs = config_.host;
        job.config.prepared =
            config_.run.prepared == "yes" || (config_.run.prepared == "workload" && !work_.model.graph_changes);
        job.first_id = static_cast<sched::ace::KernelId>(sent_to_window_);
        const auto graph = sched::ace::kernel_graph(footprints, job.config.rule);
        values_ = {};

        AceOutcome::Input result;
        result.longest_chain = sched::ace::longest_chain(graph);
        const sc_core::sc_time begin = sc_core::sc_time_stamp();
        if (design_ == kFullGraph) {
            std::vector<hw::GpuPacketBytes> bytes;
            bytes.reserve(packets.size());
            for (const hw::GpuPacket& packet : packets) bytes.push_back(hw::encode(packet));
            graph_source_.run(graph, std::move(bytes));
        } else {
            host_.begin_input(packets, outcome_.inputs.size() + 1);
            const auto thread = host_.thread();
            sched::ace::runtime_of(runtimes().at(design_))(*thread, job, result.host);
            if (design_ == "ace-hw") sent_to_window_ += input.kernels.size();
        }
        result.us = us_of(sc_core::sc_time_stamp() - begin);
        if (config_.run.functional) result.memory_as_serial = values_.digest() == serial_digest(input.kernels);
        outcome_.inputs.push_back(result);
    }
}

void AceChip::begin_kernel(const hw::KernelLaunch& launch) {
    if (config_.run.functional)
        digests_[launch.packet.tag] = values_.digest(present_->at(launch.packet.tag).reads, launch.packet.tag);
}

void AceChip::end_kernel(const hw::KernelLaunch& launch) {
    ++outcome_.completed_kernels;
    host_.note_progress();
    if (launch.source == 1 + kWindowSource) host_.count_window_completion();
    if (!config_.run.functional) return;
    values_.write(present_->at(launch.packet.tag).writes, digests_.at(launch.packet.tag));
    digests_.erase(launch.packet.tag);
}

AceOutcome AceChip::outcome() const {
    AceOutcome outcome = outcome_;
    for (const hw::KernelRecord& record : device_.gpu().records())
        outcome.kernel_us += us_of(record.completed - record.started);
    outcome.multiprocessors = device_.gpu().multiprocessors().stats();
    outcome.window = window_.stats();
    return outcome;
}

}  // namespace

const std::vector<std::string>& ace_designs() {
    static const std::vector<std::string> kDesigns{"gpu-serial", "gpu-multi-stream", "gpu-graph",
                                                   "ace-sw",     "ace-hw",           kFullGraph};
    return kDesigns;
}

AceOutcome run_ace(const AceWork& work, const AceConfig& config, const std::string& design) {
    const AceChip chip("chip", work, config, design);
    sc_core::sc_start();
    if (!chip.finished()) throw chip.stuck();
    return chip.outcome();
}

}  // namespace switchyard::platform::ace
