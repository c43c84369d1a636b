// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/adyna/simulation.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <systemc>

#include "switchyard/platform/system/no_progress.h"
#include "switchyard/platform/systems/adyna/chip_model.h"
#include "switchyard/sw_scheduler/base/crc32.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/tlm/activity_log.h"
#include "switchyard/tlm/clock_period.h"
#include "switchyard/tlm/simulation_registry.h"

namespace switchyard::platform {

namespace {

std::map<std::string, std::uint32_t> tensors_in_memory(ChipModel& chip, const PlatformConfig& platform,
                                                       const Image& image, std::size_t batches) {
    std::map<std::string, std::uint32_t> checksums;
    const auto add = [&](const OperatorPlacement& tensor) {
        const Partition& cut = tensor.partitions.front();
        std::uint32_t crc = 0;
        for (std::uint32_t piece = 0; piece < std::uint32_t{cut.n} * cut.p; ++piece) {
            std::vector<std::uint8_t> bytes(piece_bytes(tensor, piece));
            chip.read_memory(
                tensor.store.address(piece, static_cast<std::uint32_t>(batches - 1), platform.hbm.region_bytes),
                bytes.data(), static_cast<unsigned>(bytes.size()));
            crc = crc32_of(bytes.data(), bytes.size(), crc);
        }
        checksums[image.meta.operators[tensor.op_id].name] = crc;
    };
    for (const TileProgram& tile : image.tiles) {
        for (const OperatorPlacement& placement : tile.placements) {
            if (placement.in_memory() && checksums.count(image.meta.operators[placement.op_id].name) == 0)
                add(placement);
        }
    }
    return checksums;
}

/// Bytes that memory and links have moved since the last call, a microsecond, and how busy the links were.
class TrafficLog {
public:
    TrafficLog(ActivityLog& log, const PlatformConfig& platform)
        : log_(log),
          ticks_per_us_(sc_core::sc_time(1, sc_core::SC_US).value()),
          ticks_per_cycle_(ClockPeriod(platform.chip.clock_ghz).cycles(1).value()),
          memory_(log.track("counters", "memory GB/s")),
          links_(log.track("counters", "links GB/s")),
          mean_(log.track("counters", "links, mean share busy")),
          busiest_(log.track("counters", "busiest link, share busy")) {}

    void sample(const SimulationRegistry& registry, std::vector<double> busy, std::uint64_t now) {
        double memory = 0, links = 0;
        for (const SimulationRegistry::Counter& counter : registry.counters()) {
            if (counter.name == "link_bytes") links += counter.read();
            const bool of_memory = counter.module.find(".hbm.") != std::string::npos;
            if (of_memory && (counter.name == "read_bytes" || counter.name == "write_bytes")) memory += counter.read();
        }
        const auto ticks = static_cast<double>(now - last_);
        if (last_ > 0 && ticks > 0) {
            double sum = 0, most = 0;
            std::size_t used = 0;
            for (std::size_t i = 0; i < busy.size(); ++i) {
                sum += busy[i] - busy_[i];
                most = std::max(most, busy[i] - busy_[i]);
                used += busy[i] > 0 ? 1 : 0;
            }
            const double cycles = ticks / static_cast<double>(ticks_per_cycle_);
            const double kilobytes = 1e-3 * static_cast<double>(ticks_per_us_) / ticks;
            log_.value(memory_, last_, (memory - bytes_) * kilobytes);
            log_.value(links_, last_, (links - link_bytes_) * kilobytes);
            log_.value(mean_, last_, used == 0 ? 0 : sum / static_cast<double>(used) / cycles);
            log_.value(busiest_, last_, most / cycles);
        }
        last_ = now;
        bytes_ = memory;
        link_bytes_ = links;
        busy_ = std::move(busy);
    }

private:
    ActivityLog& log_;
    std::uint64_t ticks_per_us_, ticks_per_cycle_, last_ = 0;
    ActivityLog::Track memory_, links_, mean_, busiest_;
    double bytes_ = 0, link_bytes_ = 0;
    std::vector<double> busy_;
};

/// Samples once the chip is there.
std::function<void(std::uint64_t)> traffic_sampler(ActivityLog& log, const PlatformConfig& platform,
                                                   const SimulationRegistry& registry,
                                                   const std::unique_ptr<ChipModel>& chip) {
    const auto traffic = std::make_shared<TrafficLog>(log, platform);
    return [&registry, &chip, traffic](std::uint64_t now) {
        if (chip) traffic->sample(registry, chip->link_busy_cycles(), now);
    };
}

}  // namespace

class Simulation::Inside {
public:
    Inside(const std::string& prefix, const PlatformConfig& platform, const Image& image,
           std::vector<std::uint8_t> image_bytes, const std::vector<BatchRouting>& routing, const RunOptions& options)
        : platform_(platform),
          image_(image),
          values_(options.values),
          started_(std::chrono::steady_clock::now()),
          log_(ActivityLog::current()),
          irq_((prefix + "irq").c_str()) {
        if (log_ != nullptr) log_traffic();
        chip_ = make_chip((prefix + "chip").c_str(), platform, registry_);
        host_ = std::make_unique<SimulatedHost>((prefix + "host").c_str(), platform.host_memory,
                                                job(std::move(image_bytes), routing, options));
        hw::HostInterface& interface = chip_->host();
        host_->config.bind(interface.config);
        interface.host_memory.bind(host_->memory.port);
        interface.irq(irq_);
        host_->irq(irq_);
    }

    RunResult finish() {
        if (log_ != nullptr) log_->set_sampler({}, {});
        if (!host_->result().finished) throw no_progress(registry_);
        chip_->finish_logs();
        result_.host = host_->result();
        result_.at_end = Counters(registry_);
        if (values_ != nullptr)
            result_.tensors = tensors_in_memory(*chip_, platform_, image_, result_.host.batches.size());
        result_.end_ns = sc_core::sc_time_stamp() / sc_core::sc_time(1, sc_core::SC_NS);
        result_.host_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
        return std::move(result_);
    }

private:
    SimulatedHost::Job job(std::vector<std::uint8_t> image_bytes, const std::vector<BatchRouting>& routing,
                           const RunOptions& options) {
        SimulatedHost::Job job;
        job.image = &image_;
        job.image_bytes = std::move(image_bytes);
        job.routing = &routing;
        job.tiles = platform_.tiles();
        job.values = options.values;
        job.sends_inputs = options.sends_inputs;
        job.fetches_outputs = options.fetches_outputs;
        job.profile_interval = options.profile_interval;
        job.reschedule_interval = options.reschedule_interval;
        job.reschedule = options.reschedule;
        job.before_batch = options.before_batch;
        job.batch_ended = options.batch_ended;
        job.ends_early = options.ends_early;
        job.run_begins = [this] {
            result_.before_run = Counters(registry_);
            result_.link_busy_cycles = chip_->link_busy_cycles();
        };
        job.run_ends = [this] {
            result_.after_run = Counters(registry_);
            const std::vector<double> links = chip_->link_busy_cycles();
            for (std::size_t i = 0; i < links.size(); ++i)
                result_.link_busy_cycles[i] = links[i] - result_.link_busy_cycles[i];
            for (const auto& add : registry_.time_uses().operators) add(result_.times);
            result_.segments = registry_.time_uses().segments();
        };
        return job;
    }

    void log_traffic() {
        std::vector<std::string> names;
        for (const ImageMeta::Operator& op : image_.meta.operators) names.push_back(op.name);
        log_->set_operator_names(std::move(names));
        log_->set_sampler([] { return sc_core::sc_time_stamp().value(); },
                          traffic_sampler(*log_, platform_, registry_, chip_));
    }

    const PlatformConfig& platform_;
    const Image& image_;
    NetworkValues* values_;
    std::chrono::steady_clock::time_point started_;
    RunResult result_;
    SimulationRegistry registry_;
    ActivityLog* const log_;
    std::unique_ptr<ChipModel> chip_;
    std::unique_ptr<SimulatedHost> host_;
    sc_core::sc_signal<bool> irq_;
};

Simulation::Simulation(const std::string& prefix, const PlatformConfig& platform, const Image& image,
                       std::vector<std::uint8_t> image_bytes, const std::vector<BatchRouting>& routing,
                       const RunOptions& options) {
    if (platform.chip.impl == "auto") throw std::logic_error("chip.impl: auto has not been decided");
    sc_core::sc_report_handler::set_actions(sc_core::SC_ERROR, sc_core::SC_THROW);
    sc_core::sc_report_handler::set_actions(sc_core::SC_FATAL, sc_core::SC_THROW);
    inside_ = std::make_unique<Inside>(prefix, platform, image, std::move(image_bytes), routing, options);
}

Simulation::~Simulation() = default;

RunResult Simulation::finish() {
    return inside_->finish();
}

RunResult run_simulation(const PlatformConfig& platform, const Image& image, std::vector<std::uint8_t> image_bytes,
                         const std::vector<BatchRouting>& routing, const RunOptions& options) {
    Simulation simulation("", platform, image, std::move(image_bytes), routing, options);
    sc_core::sc_start();
    return simulation.finish();
}

}  // namespace switchyard::platform
