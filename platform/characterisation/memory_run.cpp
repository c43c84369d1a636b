// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/characterisation/memory_run.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/hw/memory/bandwidth_timing.h"
#include "switchyard/hw/memory/dram/command_trace.h"
#include "switchyard/hw/memory/dram/dram_system.h"
#include "switchyard/hw/memory/dram/timing_checker.h"
#include "switchyard/platform/characterisation/memory_traffic.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/whole_time.h"

namespace switchyard::platform {

namespace dram = hw::dram;
using nlohmann::ordered_json;

namespace {

/// The fast model with the interface of a DramSystem; a time unit is a picosecond.
class BandwidthMemory {
public:
    BandwidthMemory(const hw::HbmConfig& config, const hw::BankCosts& costs) : timing_(config, costs, kTicksPerNs) {}
    static constexpr double kTicksPerNs = 1000;

    void submit(std::uint64_t address, std::uint64_t bytes, bool write, std::uint64_t arrival, std::uint64_t owner) {
        hw::BandwidthTiming::Progress progress;
        timing_.place(progress, address, address + bytes, write, arrival);
        ready_.push_back({progress.ready, arrival, owner, bytes, write});
        std::push_heap(ready_.begin(), ready_.end(), later);
    }
    void advance(std::uint64_t until) { now_ = until; }
    std::uint64_t now() const { return now_; }
    /// A request that comes now is not done earlier.
    std::uint64_t lookahead(bool writes) const {
        const std::uint64_t read = timing_.read_latency();
        return std::max<std::uint64_t>(1, writes ? std::min(read, timing_.write_latency()) : read);
    }
    bool pop(std::uint64_t until, dram::DramSystem::Completion& completion) {
        if (ready_.empty() || ready_.front().cycle >= until) return false;
        completion = ready_.front();
        std::pop_heap(ready_.begin(), ready_.end(), later);
        ready_.pop_back();
        return true;
    }

private:
    static bool later(const dram::DramSystem::Completion& a, const dram::DramSystem::Completion& b) {
        return a.cycle != b.cycle ? a.cycle > b.cycle : a.owner > b.owner;
    }
    hw::BandwidthTiming timing_;
    std::vector<dram::DramSystem::Completion> ready_;
    std::uint64_t now_ = 0;
};

/// Requests come evenly (load), or a new one whenever one is done. What is done within the lookahead is known before
/// it is, so that the memory can be advanced by as much at a time.
template <class Memory>
MemoryFigures measure(Memory& memory, MemoryTrafficSource& source, double unit_ns, std::uint64_t outstanding) {
    const std::uint64_t count = source.count(), lookahead = memory.lookahead(source.may_write());
    MemoryFigures figures;
    std::vector<std::uint64_t> latencies;
    latencies.reserve(count);
    std::uint64_t sent = 0, done = 0, last = 0;
    const auto send = [&](std::uint64_t at) {
        const MemoryRequest request = source.next();
        memory.submit(request.address, request.bytes, request.write, at, sent++);
        figures.bytes += request.bytes;
    };
    const std::clock_t begin = std::clock();
    if (!source.scheduled())
        for (std::uint64_t i = std::min(count, outstanding); i > 0; --i) send(0);
    const auto next_arrival = [&] {
        return whole_time(source.next_ns() / unit_ns, "cycles of memory",
                          source.timed() ? "--timed: the arrival of a request" : "--load: the arrival of a request",
                          WholeTime::up);
    };
    dram::DramSystem::Completion completion;
    while (done < count) {
        // Idle until the next one comes.
        if (source.scheduled() && sent == done)
            if (const std::uint64_t arrival = next_arrival(); arrival > memory.now() + 2 * lookahead)
                memory.advance(arrival - lookahead);
        const std::uint64_t until = memory.now() + lookahead;
        if (source.scheduled())
            while (sent < count && source.next_ns() < static_cast<double>(until) * unit_ns)
                send(std::max(memory.now(), next_arrival()));
        memory.advance(until);
        while (memory.pop(until + lookahead, completion)) {
            ++done;
            last = std::max(last, completion.cycle);
            latencies.push_back(completion.cycle - completion.arrival);
            if (!source.scheduled() && sent < count) send(std::max(completion.cycle, until));
        }
    }
    figures.host_seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    figures.requests = count;
    figures.time_ns = static_cast<double>(last) * unit_ns;
    figures.achieved_gb_per_s = figures.bus_gb_per_s = static_cast<double>(figures.bytes) / figures.time_ns;
    double sum = 0;
    for (const std::uint64_t latency : latencies) sum += static_cast<double>(latency);
    std::sort(latencies.begin(), latencies.end());
    const auto percentile = [&](double share) {
        const double place = std::ceil(share * static_cast<double>(latencies.size())) - 1;
        return static_cast<double>(latencies[static_cast<std::size_t>(std::max(place, 0.0))]) * unit_ns;
    };
    figures.latency_ns = sum / static_cast<double>(latencies.size()) * unit_ns;
    figures.latency_p50_ns = percentile(0.5);
    figures.latency_p99_ns = percentile(0.99);
    figures.latency_max_ns = percentile(1);
    return figures;
}

/// Refuses requests that come over so long a time that the refreshes between them are all that would be simulated.
void check_duration(const MemoryTrafficSource& source, const dram::Device& device) {
    constexpr double kMaxRefreshes = 1 << 26;
    const double interval_ns = device.refresh_interval_ns();
    if (!source.scheduled() || interval_ns == 0) return;
    const double max_ns = kMaxRefreshes * interval_ns / device.geometry.pseudo_channels_in_all();
    if (!(source.last_ns() <= max_ns))
        throw InputError(source.timed() ? "--timed" : "--load", 0, "",
                         fmt::format("expected requests that come within {:.3g} s of simulated time, found {:.3g} s; "
                                     "take a higher load, fewer requests or --impl bandwidth",
                                     max_ns * 1e-9, source.last_ns() * 1e-9));
}

/// The fast model with the device's pins, latencies, refresh and layout.
hw::HbmConfig bandwidth_config(const dram::Device& device) {
    const dram::Timing& t = device.timing;
    hw::HbmConfig config;
    config.pseudo_channels_per_interface = device.geometry.pseudo_channels_in_all();
    if (config.pseudo_channels_per_interface > hw::kMaxPseudoChannels)
        throw InputError(
            "--impl", 0, "",
            fmt::format("expected at most {} pseudo-channels for bandwidth, found more", hw::kMaxPseudoChannels));
    config.pseudo_channel_gb_per_s = device.pseudo_channel_gb_per_s();
    config.read_latency_ns = t.ns(t.trcd_read_cycles + t.tcl_cycles);
    config.write_latency_ns = t.ns(t.trcd_write_cycles + t.tcwl_cycles);
    config.refresh_share = device.refresh_loss();
    config.burst_bytes = device.geometry.burst_bytes;
    constexpr std::uint64_t kMax = 1u << 31;
    config.interleave_bytes = static_cast<unsigned>(std::min(hw::interleave_bytes(device), kMax));
    return config;
}

}  // namespace

MemoryFigures run_memory(const dram::Device& device, const MemoryTraffic& traffic, const MemoryRunOptions& options) {
    MemoryTrafficSource source(traffic, device);
    // By default eight rows a channel are in flight: a sequential stream reaches all channels under any mapping that
    // leaves no more than that together.
    const std::uint64_t window = 8 * device.geometry.row_bytes() * device.geometry.pseudo_channels_in_all();
    const std::uint64_t outstanding =
        traffic.outstanding > 0 ? traffic.outstanding : std::max<std::uint64_t>(window / traffic.request_bytes, 16);
    if (options.impl == "bandwidth") {
        BandwidthMemory memory(bandwidth_config(device), hw::bank_costs(device));
        MemoryFigures figures = measure(memory, source, 1 / BandwidthMemory::kTicksPerNs, outstanding);
        figures.refresh_share = device.refresh_loss();
        return figures;
    }
    std::unique_ptr<dram::TimingChecker> checker;
    std::unique_ptr<dram::CommandTrace> trace;
    dram::CommandFanout sinks;
    if (options.check_timing) sinks.add(*(checker = std::make_unique<dram::TimingChecker>(device)));
    if (!options.commands.empty())
        sinks.add(*(trace = std::make_unique<dram::CommandTrace>(options.commands, device.geometry)));
    check_duration(source, device);
    dram::DramSystem memory(device, sinks.empty() ? nullptr : &sinks);
    MemoryFigures figures = measure(memory, source, device.timing.ns(1), outstanding);
    if (trace) trace->finish();
    const dram::ChannelStats stats = memory.stats();
    const double bursts = static_cast<double>(stats.reads + stats.writes);
    // Reads that a waiting write answers do not take the bus.
    figures.bus_gb_per_s = figures.achieved_gb_per_s * bursts / (bursts + static_cast<double>(stats.forwarded));
    figures.row_hit_rate = bursts > 0 ? static_cast<double>(stats.row_hits) / bursts : 0;
    figures.refresh_share = device.timing.ns(static_cast<double>(stats.refresh_bank_cycles)) / figures.time_ns /
                            device.geometry.banks() / device.geometry.pseudo_channels_in_all();
    figures.activates = stats.activates;
    figures.refreshes = stats.refreshes;
    figures.turnarounds = stats.turnarounds;
    figures.forwarded_reads = stats.forwarded;
    return figures;
}

ordered_json memory_json(const dram::Device& device, const MemoryTraffic& traffic, const MemoryRunOptions& options,
                         const MemoryFigures& figures) {
    const dram::ActivationBounds bounds = dram::activation_bounds(device);
    ordered_json asked = {{"pattern", traffic.pattern}};
    if (traffic.pattern == "trace") {
        asked["trace"] = traffic.trace;
        asked["timed"] = traffic.timed;
    } else {
        asked["read_share"] = traffic.read_share;
        asked["request_bytes"] = traffic.request_bytes;
        asked["seed"] = traffic.seed;
        if (traffic.pattern == "strided") asked["stride_bytes"] = traffic.stride_bytes;
        if (traffic.pattern == "streams") asked["streams"] = traffic.streams;
    }
    if (traffic.load_gb_per_s > 0) asked["load_gbps"] = traffic.load_gb_per_s;
    ordered_json result = {{"format", "switchyard-mem"},
                           {"version", 1},
                           {"device", device.name},
                           {"impl", options.impl},
                           {"mapping", device.policy.mapping},
                           {"page", device.policy.page},
                           {"traffic", asked},
                           {"requests", figures.requests},
                           {"bytes", figures.bytes},
                           {"time_ns", figures.time_ns},
                           {"achieved_gbps", figures.achieved_gb_per_s},
                           {"peak_gbps", device.peak_gb_per_s()},
                           {"share_of_peak", figures.bus_gb_per_s / device.peak_gb_per_s()},
                           {"latency_ns", figures.latency_ns},
                           {"latency_p50_ns", figures.latency_p50_ns},
                           {"latency_p99_ns", figures.latency_p99_ns},
                           {"latency_max_ns", figures.latency_max_ns}};
    if (options.impl == "bandwidth") {
        result["row_hit_rate"] = nullptr;  // rows are not modelled
    } else {
        result["row_hit_rate"] = figures.row_hit_rate;
    }
    result["refresh_share"] = figures.refresh_share;
    if (options.impl != "bandwidth") {
        result["activates"] = figures.activates;
        result["refreshes"] = figures.refreshes;
        result["turnarounds"] = figures.turnarounds;
        result["forwarded_reads"] = figures.forwarded_reads;
        result["timing_checked"] = options.check_timing;
    }
    result["activation_bounds_gbps"] = {
        {"tfaw", bounds.tfaw}, {"trrd", bounds.trrd}, {"trc", bounds.trc}, {"command_bus", bounds.command_bus}};
    return result;
}

std::string memory_text(const dram::Device& device, const MemoryTraffic& traffic, const MemoryRunOptions& options,
                        const MemoryFigures& f) {
    const std::string what = traffic.pattern == "trace" ? traffic.trace
                                                        : fmt::format("{} {} requests of {} bytes", f.requests,
                                                                      traffic.pattern, traffic.request_bytes);
    std::string text =
        fmt::format("mem {} ({}, {}): {}: {:.1f} GB/s of {:.1f} ({:.1f} %), latency {:.1f} ns (p99 {:.1f})\n",
                    device.name, options.impl, device.policy.mapping, what, f.achieved_gb_per_s, device.peak_gb_per_s(),
                    100 * f.bus_gb_per_s / device.peak_gb_per_s(), f.latency_ns, f.latency_p99_ns);
    if (options.impl == "bank")
        text += fmt::format("    row hits {:.1f} %, refresh {:.2f} %, {} activates, {} turnarounds{}\n",
                            100 * f.row_hit_rate, 100 * f.refresh_share, f.activates, f.turnarounds,
                            options.check_timing ? "; every command checked" : "");
    return text + fmt::format("    {:.0f} k requests per second of processor time\n",
                              static_cast<double>(f.requests) / std::max(f.host_seconds, 1e-6) / 1000);
}

}  // namespace switchyard::platform
