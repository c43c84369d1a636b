// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/gpu/warp_multiprocessors.h"
#include "switchyard/tlm/has_process.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "switchyard/tlm/simulated_time.h"

namespace switchyard::hw {

namespace {

constexpr double kRounding = 1e-3;  ///< of cycles
constexpr double kNeverCycle = std::numeric_limits<double>::infinity();

/// What falls to part i of n.
std::uint64_t part(std::uint64_t all, std::uint64_t i, std::uint64_t n) {
    return all * (i + 1) / n - all * i / n;
}

}  // namespace

WarpMultiprocessors::WarpMultiprocessors(const sc_core::sc_module_name& module_name, const MultiprocessorConfig& config,
                                         const GpuMemoryConfig& memory, SimulationRegistry& registry)
    : Multiprocessors(module_name, config, memory, registry), multiprocessors_(config.count), changed_("changed") {
    for (Multiprocessor& m : multiprocessors_) m.partitions.resize(config.partitions);
    SWITCHYARD_HAS_PROCESS(WarpMultiprocessors);
    SC_THREAD(run);
}

WarpMultiprocessors::Cycle WarpMultiprocessors::now_in_cycles() const {
    return sc_core::sc_time_stamp() / sc_core::sc_time(1, sc_core::SC_NS) * config_.clock_ghz;
}

std::uint64_t WarpMultiprocessors::instructions(double of_a_warp, const char* what, const GpuPacket& packet) const {
    // They are issued one by one, and products of their numbers must fit 64 bits.
    constexpr double kMaxOfWarp = 0x1p31;
    if (!(of_a_warp <= kMaxOfWarp))
        throw ModelError(*this,
                         fmt::format("kernel {}: expected at most {:.0f} {} instructions of a warp, found {:.4g}; "
                                     "take gpu.impl: cta",
                                     packet.tag, kMaxOfWarp, what, of_a_warp));
    return static_cast<std::uint64_t>(std::llround(of_a_warp));
}

std::size_t WarpMultiprocessors::kernel_of(const std::shared_ptr<const KernelLaunch>& launch) {
    const std::size_t slot = slot_of(kernels_, launch);
    if (kernels_[slot].launch == launch) return slot;

    const GpuPacket& packet = launch->packet;
    const MemoryTraffic traffic = traffic_of(*launch);
    const CtaCost cost = cta_cost(config_, memory_, packet, traffic);
    const auto all_ctas = static_cast<double>(packet.ctas());
    const double warps = packet.warps_per_cta();
    const double tensor = static_cast<double>(packet.work.tensor_flops) / kTensorFlopsOfInstruction / all_ctas / warps;
    const double fp32 = static_cast<double>(packet.work.flops) / kFlopsOfInstruction / all_ctas / warps;
    const double accesses = packet.schedule.memory_instructions > 0
                                ? static_cast<double>(packet.schedule.memory_instructions) / all_ctas / warps
                                : cost.l2_bytes / kBytesOfInstruction / warps;
    Kernel& kernel = kernels_[slot];
    kernel.launch = launch;
    kernel.unfinished_ctas = packet.ctas();
    kernel.arithmetic = instructions(fp32 + tensor, "arithmetic", packet);
    kernel.memory = instructions(accesses, "memory", packet);
    kernel.steps = std::max<std::uint64_t>(1, packet.schedule.dependent_loads);
    kernel.load_bytes = cost.l2_bytes / warps / static_cast<double>(kernel.steps);
    kernel.missed = cost.l2_bytes > 0 ? std::min(1.0, cost.memory_bytes / cost.l2_bytes) : 0;
    // One pipe does both kinds, at the mean of their rates.
    const double fp32_cycles = kFlopsOfInstruction / (config_.fp32_flops_per_cycle / config_.partitions);
    const double tensor_cycles = config_.tensor_flops_per_cycle > 0
                                     ? kTensorFlopsOfInstruction / (config_.tensor_flops_per_cycle / config_.partitions)
                                     : 0;
    kernel.arithmetic_cycles = kernel.arithmetic > 0 ? (fp32 * fp32_cycles + tensor * tensor_cycles) / (fp32 + tensor) /
                                                           config_.arithmetic_efficiency
                                                     : 0;
    kernel.compute_ns_of_cta = cost.compute_ns;
    kernel.l2_bytes_of_cta = cost.l2_bytes;
    kernel.memory_bytes_of_cta = cost.memory_bytes;
    return slot;
}

void WarpMultiprocessors::start(std::shared_ptr<const KernelLaunch> launch, unsigned multiprocessor,
                                std::uint32_t count) {
    const std::size_t index = kernel_of(launch);
    Multiprocessor& m = multiprocessors_[multiprocessor];
    const Cycle now = now_in_cycles();
    count_time(now);
    const Kernel& kernel = kernels_[index];
    stats_.compute_ns += count * kernel.compute_ns_of_cta;
    stats_.l2_bytes += count * kernel.l2_bytes_of_cta;
    stats_.memory_bytes += count * kernel.memory_bytes_of_cta;
    for (std::uint32_t i = 0; i < count; ++i) {
        auto cta = std::make_shared<Cta>();
        cta->kernel = index;
        cta->warps = launch->packet.warps_per_cta();
        cta->missing = cta->warps;
        m.ctas.push_back(cta);
        m.warps += cta->warps;
        for (std::uint32_t w = 0; w < cta->warps; ++w) {
            Warp warp;
            warp.cta = cta;
            Partition& p = m.partitions[m.next_partition];
            m.next_partition = (m.next_partition + 1) % config_.partitions;
            begin_step(m, warp, now + config_.cta_launch_ns * config_.clock_ghz);
            p.warps.push_back(std::move(warp));
        }
    }
    m.next = now;
    changed_.notify(sc_core::SC_ZERO_TIME);
}

WarpMultiprocessors::Cycle WarpMultiprocessors::load(Multiprocessor& m, const Kernel& kernel, Cycle now) {
    const bool loads = kernel.launch->packet.schedule.dependent_loads > 0 || kernel.launch->packet.work.read_bytes > 0;
    if (kernel.load_bytes == 0 && !loads) return now;
    m.port_free = std::max(m.port_free, now) + kernel.load_bytes / config_.l2_port_bytes_per_cycle;
    l2_free_ =
        std::max(l2_free_, now) + kernel.load_bytes / (memory_.l2_gb_per_s(config_.clock_ghz) / config_.clock_ghz);
    Cycle there = std::max(m.port_free, l2_free_);
    double latency_ns = loads ? memory_.l2_latency_ns : 0;
    if (kernel.missed > 0) {
        memory_free_ = std::max(memory_free_, now) +
                       kernel.missed * kernel.load_bytes / (memory_.kernels_gb_per_s() / config_.clock_ghz);
        there = std::max(there, memory_free_);
        if (loads) latency_ns += kernel.missed * (memory_.memory_latency_ns - memory_.l2_latency_ns);
    }
    return there + latency_ns * config_.clock_ghz;
}

void WarpMultiprocessors::begin_step(Multiprocessor& m, Warp& warp, Cycle now) {
    Cta& cta = *warp.cta;
    const Kernel& kernel = kernels_[cta.kernel];
    warp.arithmetic_left = warp.arithmetic_of_step = part(kernel.arithmetic, warp.step, kernel.steps);
    warp.memory_left = warp.memory_of_step = part(kernel.memory, warp.step, kernel.steps);
    warp.waits = true;
    cta.collected = std::max(cta.collected, load(m, kernel, now));
    if (--cta.missing > 0) return;
    cta.loaded[warp.step % 2] = cta.collected;
    m.opens = std::min(m.opens, cta.collected);
    ++cta.opened;
    cta.missing = cta.warps;
    cta.collected = 0;
}

std::size_t WarpMultiprocessors::choose(const Multiprocessor& m, const Partition& p, Cycle now, Cycle& next) const {
    const auto when = [&](const Warp& warp) {
        if (warp.waits) return warp.cta->opened > warp.step ? warp.cta->loaded[warp.step % 2] : kNeverCycle;
        Cycle free = 0;
        // A pipe that is free before the cycle ends takes the instruction: rates that are no whole cycles come out
        // right.
        const bool memory = warp.memory_left > 0 &&
                            (warp.arithmetic_left == 0 ||
                             warp.memory_left * warp.arithmetic_of_step > warp.arithmetic_left * warp.memory_of_step);
        if (memory)
            free = std::floor(m.memory_free);
        else if (warp.arithmetic_left > 0)
            free = std::floor(p.arithmetic_free);
        return std::max(warp.next, free);
    };
    if (p.last < p.warps.size() && when(p.warps[p.last]) <= now) return p.last;
    for (std::size_t i = 0; i < p.warps.size(); ++i) {
        const Cycle cycle = when(p.warps[i]);
        if (cycle <= now) return i;
        next = std::min(next, cycle);
    }
    return p.warps.size();
}

void WarpMultiprocessors::issue(Multiprocessor& m, Partition& p, Warp& warp, Cycle now) {
    const bool memory = warp.memory_left > 0 &&
                        (warp.arithmetic_left == 0 ||
                         warp.memory_left * warp.arithmetic_of_step > warp.arithmetic_left * warp.memory_of_step);
    if (memory) {
        --warp.memory_left;
        m.memory_free = std::max(m.memory_free, now) + config_.memory_instruction_cycles;
    } else {
        --warp.arithmetic_left;
        p.arithmetic_free = std::max(p.arithmetic_free, now) + kernels_[warp.cta->kernel].arithmetic_cycles;
    }
    warp.next = now + config_.warp_latency_cycles;
}

void WarpMultiprocessors::end_warp(Multiprocessor& m, Partition& p, std::size_t index) {
    const std::shared_ptr<Cta> cta = p.warps[index].cta;
    p.warps.erase(p.warps.begin() + static_cast<std::ptrdiff_t>(index));
    p.last = p.warps.size();
    if (++cta->done == cta->warps) m.finished.push_back(cta);
}

void WarpMultiprocessors::step(Multiprocessor& m, Cycle now) {
    Cycle next = kNeverCycle;
    m.opens = kNeverCycle;
    for (Partition& p : m.partitions) {
        // Warps that go on without an instruction take no issue slot.
        for (bool again = true; again;) {
            again = false;
            const std::size_t index = choose(m, p, now, next);
            if (index == p.warps.size()) break;
            Warp& warp = p.warps[index];
            p.last = index;
            warp.waits = false;
            if (warp.arithmetic_left + warp.memory_left > 0) {
                issue(m, p, warp, now);
                next = std::min(next, now + 1);
            } else if (++warp.step < kernels_[warp.cta->kernel].steps) {
                begin_step(m, warp, now);
                again = true;
            } else {
                end_warp(m, p, index);
                again = true;
            }
        }
    }
    // Warps of partitions that had their turn before may go on, too.
    m.next = std::min(next, std::max(m.opens, now + 1));
}

void WarpMultiprocessors::count_time(Cycle now) {
    const double ns = (now - counted_) / config_.clock_ghz;
    counted_ = now;
    for (const Multiprocessor& m : multiprocessors_) {
        stats_.warp_ns += ns * m.warps;
        if (m.warps > 0) stats_.busy_ns += ns;
    }
}

void WarpMultiprocessors::run() {
    while (true) {
        const Cycle now = now_in_cycles() + 1e-6;  // rounding of the clock period to the time resolution
        Cycle next = kNeverCycle;
        std::vector<std::pair<unsigned, std::shared_ptr<const KernelLaunch>>> done;
        for (unsigned i = 0; i < multiprocessors_.size(); ++i) {
            Multiprocessor& m = multiprocessors_[i];
            if (m.warps == 0) continue;
            if (m.next <= now) step(m, now);
            for (const std::shared_ptr<Cta>& cta : m.finished) {
                count_time(now);
                Kernel& kernel = kernels_[cta->kernel];
                done.emplace_back(i, kernel.launch);
                if (--kernel.unfinished_ctas == 0) kernel.launch.reset();
                m.warps -= cta->warps;
                m.ctas.erase(std::find(m.ctas.begin(), m.ctas.end(), cta));
            }
            m.finished.clear();
            if (m.warps > 0) next = std::min(next, m.next);
        }
        for (const auto& [multiprocessor, launch] : done) finish(launch, multiprocessor, 1);
        if (next == kNeverCycle) {
            wait(changed_);
        } else {
            const double cycles = std::max(1.0, std::ceil(next - now - kRounding));
            wait(nanoseconds(cycles / config_.clock_ghz, "a kernel's instructions"), changed_);
        }
    }
}

}  // namespace switchyard::hw
