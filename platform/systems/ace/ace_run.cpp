// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/ace/ace_run.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "switchyard/platform/system/checks.h"
#include "switchyard/platform/system/report_parts.h"
#include "switchyard/platform/systems/ace/ace_host.h"
#include "switchyard/platform/systems/ace/full_graph_source.h"
#include "switchyard/platform/systems/ace/value_memory.h"
#include "switchyard/sw_scheduler/ace/kernel_graph.h"
#if defined(SWITCHYARD_RTL)
#include "switchyard/rtl/scheduling_window/make_window_core.h"
#endif

namespace switchyard::platform::ace {

using nlohmann::ordered_json;
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
    static const std::map<std::string, std::string> names{{"gpu-serial", "serial"},
                                                          {"gpu-multi-stream", "multi_stream"},
                                                          {"gpu-graph", "cuda_graph"},
                                                          {"ace-sw", "ace_sw"},
                                                          {"ace-hw", "ace_hw"}};
    return names;
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

class AceChip : public sc_core::sc_module {
public:
    AceChip(const sc_core::sc_module_name& module_name, const AceWork& work, const AceConfig& config,
            const std::string& design)
        : sc_module(module_name),
          work_(work),
          config_(config),
          design_(design),
          layout_(layout_of(work, config.run.streams)),
          gpu_("gpu", gpu_config(config), registry_),
          memory_("memory", config.gpu.memory_config(), registry_),
          link_("link", config.gpu.host_link, registry_),
          bars_("bars"),
          access_("access", registry_),
          window_("scheduling_window", config.window, registry_, kMakeWindowCore),
          graph_source_("full_graph"),
          host_("host", access_, layout_, config.run.streams, config.run.watchdog_us, registry_) {
        access_.link.bind(link_.from_host);
        link_.to_device.bind(bars_.in);
        bars_.memory.bind(gpu_.window);
        bars_.registers.bind(gpu_.registers);
        bars_.window.bind(window_.entries);
        gpu_.host_memory.bind(link_.from_device);
        link_.to_host.bind(host_memory_);
        host_memory_.register_b_transport(this, &AceChip::refuse_host_access);
        gpu_.device_memory.bind(memory_.socket);
        gpu_.irq.bind(irq_);
        window_.kernels.bind(gpu_.kernels[kWindowSource]);
        gpu_.completions[kWindowSource].bind(window_.completed);
        graph_source_.kernels.bind(gpu_.kernels[kGraphSource]);
        gpu_.completions[kGraphSource].bind(graph_source_.completed);
        gpu_.set_hooks([this](const hw::KernelLaunch& launch) { begin_kernel(launch); },
                       [this](const hw::KernelLaunch& launch) { end_kernel(launch); });
        SC_HAS_PROCESS(AceChip);
        SC_THREAD(run_inputs);
    }

    bool finished() const { return results_.size() == work_.inputs.size(); }
    std::string waits() const { return fmt::format("{}", fmt::join(registry_.waits(), "; ")); }
    ordered_json report() const;

private:
    struct Result {
        double us = 0;
        sched::ace::RuntimeStats host;
        std::uint64_t memory_digest = 0;
    };

    static hw::Gpu::Config gpu_config(const AceConfig& config) {
        hw::Gpu::Config gpu = config.gpu.gpu;
        gpu.kernel_sources = kSources;
        gpu.command_processor.queues = std::max(gpu.command_processor.queues, config.run.streams);
        return gpu;
    }
    void refuse_host_access(::tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
        payload.set_response_status(::tlm::TLM_ADDRESS_ERROR_RESPONSE);  // no design copies
    }

    void run_inputs();
    std::vector<hw::GpuPacket> store_input(const std::vector<sched::GpuKernel>& kernels);
    void begin_kernel(const hw::KernelLaunch& launch);
    void end_kernel(const hw::KernelLaunch& launch);
    ordered_json host_json() const;
    ordered_json kernels_json() const;
    ordered_json window_json() const;

    const AceWork& work_;
    const AceConfig& config_;
    std::string design_;
    DeviceLayout layout_;
    SimulationRegistry registry_;
    hw::Gpu gpu_;
    hw::DeviceMemory memory_;
    hw::PcieLink link_;
    BaseAddresses bars_;
    DeviceAccess access_;
    hw::SchedulingWindow window_;
    FullGraphSource graph_source_;
    AceHost host_;
    tlm_utils::simple_target_socket<AceChip> host_memory_{"host_memory"};
    sc_core::sc_signal<bool> irq_{"irq"};

    std::vector<Result> results_;
    std::vector<std::size_t> chains_;
    const std::vector<sched::GpuKernel>* present_ = nullptr;
    ValueMemory values_;
    std::map<std::uint64_t, std::uint64_t> digests_;  ///< of running kernels by number
    std::uint64_t completed_ = 0, sent_to_window_ = 0;
};

std::vector<hw::GpuPacket> AceChip::store_input(const std::vector<sched::GpuKernel>& kernels) {
    std::vector<hw::GpuPacket> packets;
    std::uint64_t address = layout_.segments;
    for (const sched::GpuKernel& kernel : kernels) {
        const std::vector<std::uint8_t> segments = hw::encode_segments(kernel);
        packets.push_back(hw::kernel_packet(kernel, packets.size(), segments.empty() ? 0 : address));
        if (!segments.empty()) access_.debug_write(kMemoryBar + address, segments);
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
        chains_.push_back(sched::ace::longest_chain(graph));
        values_ = {};

        Result result;
        const sc_core::sc_time begin = sc_core::sc_time_stamp();
        if (design_ == kFullGraph) {
            std::vector<hw::GpuPacketBytes> bytes;
            for (const hw::GpuPacket& packet : packets) bytes.push_back(hw::encode(packet));
            graph_source_.run(graph, std::move(bytes));
        } else {
            host_.begin_input(packets, results_.size() + 1);
            const auto thread = host_.thread();
            sched::ace::runtime_of(runtimes().at(design_))(*thread, job, result.host);
            if (design_ == "ace-hw") sent_to_window_ += input.kernels.size();
        }
        result.us = us_of(sc_core::sc_time_stamp() - begin);
        result.memory_digest = values_.digest();
        results_.push_back(result);
    }
}

void AceChip::begin_kernel(const hw::KernelLaunch& launch) {
    if (config_.run.functional)
        digests_[launch.packet.tag] = values_.digest(present_->at(launch.packet.tag).reads, launch.packet.tag);
}

void AceChip::end_kernel(const hw::KernelLaunch& launch) {
    ++completed_;
    host_.note_progress();
    if (launch.source == 1 + kWindowSource) host_.count_window_completion();
    if (!config_.run.functional) return;
    values_.write(present_->at(launch.packet.tag).writes, digests_.at(launch.packet.tag));
    digests_.erase(launch.packet.tag);
}

/// Memory after the kernels have run one after another.
std::uint64_t serial_digest(const std::vector<sched::GpuKernel>& kernels) {
    ValueMemory memory;
    for (std::size_t k = 0; k < kernels.size(); ++k)
        memory.write(kernels[k].writes, memory.digest(kernels[k].reads, k));
    return memory.digest();
}

ordered_json AceChip::host_json() const {
    sched::ace::RuntimeStats sum;
    for (const Result& result : results_) {
        sum.launches += result.host.launches;
        sum.event_records += result.host.event_records;
        sum.event_waits += result.host.event_waits;
        sum.synchronisations += result.host.synchronisations;
        sum.segment_pairs += result.host.segment_pairs;
        sum.check_us += result.host.check_us;
        sum.construction_us += result.host.construction_us;
    }
    return {{"launches", sum.launches},
            {"event_records", sum.event_records},
            {"event_waits", sum.event_waits},
            {"synchronisations", sum.synchronisations},
            {"segment_pairs", sum.segment_pairs},
            {"check_us", sum.check_us},
            {"construction_us", sum.construction_us}};
}

ordered_json AceChip::kernels_json() const {
    std::vector<std::uint64_t> ctas;
    for (const sched::GeneratedStream& input : work_.inputs)
        for (const sched::GpuKernel& kernel : input.kernels) ctas.push_back(kernel.ctas());
    std::sort(ctas.begin(), ctas.end());
    const auto share_below = [&](std::uint64_t limit) {
        return static_cast<double>(std::lower_bound(ctas.begin(), ctas.end(), limit) - ctas.begin()) /
               static_cast<double>(ctas.size());
    };
    const double sum = std::accumulate(ctas.begin(), ctas.end(), 0.0);
    const double chain = std::accumulate(chains_.begin(), chains_.end(), 0.0);
    return {{"count", ctas.size()},
            {"ctas", sum},
            {"mean_ctas", sum / static_cast<double>(ctas.size())},
            {"median_ctas", ctas[ctas.size() / 2]},
            {"share_below_50_ctas", share_below(50)},
            {"share_below_200_ctas", share_below(200)},
            {"longest_chain", chain},
            {"mean_parallelism", static_cast<double>(ctas.size()) / chain}};
}

ordered_json AceChip::window_json() const {
    ordered_json json = ordered_json::object();
    for (const auto& counter : hw::SchedulingWindow::kCounters) json[counter.name] = counter.read(window_.stats());
    return json;
}

ordered_json AceChip::report() const {
    std::vector<double> us;
    double kernel_us = 0;
    for (const Result& result : results_) us.push_back(result.us);
    const double total_us = std::accumulate(us.begin(), us.end(), 0.0);
    for (const hw::KernelRecord& record : gpu_.records()) kernel_us += us_of(record.completed - record.started);
    const hw::Multiprocessors::Stats& stats = gpu_.multiprocessors().stats();
    const auto& sm = config_.gpu.gpu.multiprocessors;
    const ordered_json kernels = kernels_json(), host = host_json();

    Checks checks;
    const double count = kernels.at("count").get<double>();
    checks.equal("kernels completed = kernels of the streams", count, static_cast<double>(completed_));
    checks.equal("CTAs run = CTAs of the kernels", kernels.at("ctas").get<double>(), static_cast<double>(stats.ctas));
    if (design_ == "ace-hw") {
        checks.equal("kernels out of the window = kernels into it", static_cast<double>(window_.stats().inserted),
                     static_cast<double>(window_.stats().completed));
        checks.at_most("kernels in the window <= slots", config_.window.slots,
                       static_cast<double>(window_.stats().max_kernels));
    }
    if (config_.run.functional)
        for (std::size_t i = 0; i < results_.size(); ++i)
            checks.equal(fmt::format("memory after input {} = memory after its kernels one by one", i), 1,
                         results_[i].memory_digest == serial_digest(work_.inputs[i].kernels) ? 1 : 0);
    const std::vector<Check> held = checks.take();

    ordered_json batches = ordered_json::array();
    for (std::size_t i = 0; i < results_.size(); ++i)
        batches.push_back({{"batch", i}, {"latency_us", us[i]}, {"kernels", work_.inputs[i].kernels.size()}});
    ordered_json report{{"format", "switchyard-report"},
                        {"version", 1},
                        {"ok", std::all_of(held.begin(), held.end(), [](const Check& check) { return check.ok; })},
                        {"model", work_.model.name},
                        {"design", design_},
                        {"fidelity", {{"gpu", config_.gpu.gpu.impl}, {"scheduling_window", config_.window.impl}}},
                        {"gpu", config_.gpu.gpu.name},
                        {"summary",
                         {{"batches", results_.size()},
                          {"latency_us", latency_json(us)},
                          {"kernels_per_ms", count / total_us * 1e3},
                          {"occupancy", stats.warp_ns * 1e-3 / (total_us * sm.count * sm.max_warps)},
                          {"busy_share", stats.busy_ns * 1e-3 / (total_us * sm.count)},
                          {"mean_running_kernels", kernel_us / total_us},
                          {"construction_share", host.at("construction_us").get<double>() / total_us},
                          {"check_share", host.at("check_us").get<double>() / total_us}}},
                        {"kernels", kernels},
                        {"host", host}};
    if (design_ == "ace-hw") report["scheduling_window"] = window_json();
    report["batches"] = batches;
    report["conservation"] = checks_json(held);
    return report;
}

}  // namespace

const std::vector<std::string>& ace_designs() {
    static const std::vector<std::string> names{"gpu-serial", "gpu-multi-stream", "gpu-graph",
                                                "ace-sw",     "ace-hw",           kFullGraph};
    return names;
}

ordered_json run_ace(const AceWork& work, const AceConfig& config, const std::string& design) {
    const AceChip chip("chip", work, config, design);
    sc_core::sc_start();
    if (!chip.finished()) throw std::runtime_error("no progress: " + chip.waits());
    return chip.report();
}

}  // namespace switchyard::platform::ace
