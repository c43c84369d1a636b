// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/pe_array/analytic_pe_array.h"

#include <algorithm>

namespace switchyard::hw {

AnalyticPeArray::AnalyticPeArray(sc_core::sc_module_name name, const Config& config, SimulationRegistry& registry)
    : PeArray(name, config, registry), multiplier_(memory()) {}

std::size_t AnalyticPeArray::Hash::operator()(const Invocation& invocation) const {
    std::uint64_t hash = std::uint64_t{invocation.reduction} << 1 | (invocation.channelwise ? 1 : 0);
    for (const BlockLoop& loop : invocation.nest) {
        const std::uint64_t fields = std::uint64_t{loop.extent} << 32 | std::uint64_t{loop.reg} << 16 | loop.pe;
        hash = (hash ^ fields) * 0x9E3779B97F4A7C15ull;  // the golden ratio: every field reaches the upper bits
        hash ^= hash >> 32;
    }
    return static_cast<std::size_t>(hash);
}

std::uint64_t AnalyticPeArray::run(const PeWorkExtension& work, const Traffic& traffic, std::uint64_t idle_cycles) {
    if (work.addresses != nullptr && !attends(work)) multiplier_.multiply(work, acc_fp16());
    if (work.first) {
        const ArrayPorts ports{static_cast<std::uint32_t>(traffic.read_bytes_per_cycle),
                               static_cast<std::uint32_t>(traffic.write_bytes_per_cycle)};
        if (!(ports == ports_)) known_.clear();
        ports_ = ports;
        elapsed_ = 0;
        latency_cycles_ = traffic.latency_cycles;
        if (work.nest == nullptr) timeline_ = ArrayTimeline(ports, latency_cycles_);
    } else if (idle_cycles > 0) {
        elapsed_ += idle_cycles;
        latency_cycles_ += idle_cycles;
        timeline_.hold(elapsed_);
    }
    const ArrayBlock block{work.rows,      work.columns,     work.row_outputs, work.column_outputs,
                           work.reduction, work.channelwise, work.result_bytes};
    const std::uint64_t begin = elapsed_;
    elapsed_ = work.nest == nullptr ? end_in_order(work, block) : end_in_nest(work, block);
    return elapsed_ - begin;
}

std::uint64_t AnalyticPeArray::end_in_order(const PeWorkExtension& work, const ArrayBlock& block) {
    timeline_.add(block, work.repeats);
    return work.last ? timeline_.written() : timeline_.fed();
}

std::uint64_t AnalyticPeArray::end_in_nest(const PeWorkExtension& work, const ArrayBlock& block) {
    const std::uint64_t waves_end =
        (work.first ? latency_cycles_ : elapsed_) + block.reduction * block.waves() * work.repeats;
    if (!work.last) return waves_end;
    return std::max(waves_end,
                    latency_cycles_ + cycles_of({*work.nest, work.reduction, work.channelwise, work.result_bytes}));
}

std::uint64_t AnalyticPeArray::cycles_of(const Invocation& invocation) {
    const auto known = known_.find(invocation);
    if (known != known_.end()) return known->second;
    ArrayBlock like;
    like.reduction = invocation.reduction;
    like.channelwise = invocation.channelwise;
    like.result_bytes = invocation.result_bytes;
    ArrayTimeline timeline(ports_);
    timeline.add(invocation.nest, like);
    return known_.emplace(invocation, timeline.written()).first->second;
}

}  // namespace switchyard::hw
