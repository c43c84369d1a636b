// SPDX-License-Identifier: Apache-2.0
// Timeline: what stages wait for, by the rule of hw::TileController::charge_wait().

#include "switchyard/platform/systems/adyna/stages/timeline.h"

#include <algorithm>

#include <fmt/format.h>

#include "switchyard/tlm/clock_period.h"

namespace switchyard::platform {

void Timeline::charge_wait(unsigned index, unsigned unit, double begin, double end, double tiles) {
    if (end <= begin) return;
    StageState& state = stages_[index];
    const Stage& stage = map_.stages()[index];
    const bool begins = unit < stage.units();
    double last = state.output.at;
    TimeUse at_once = TimeUse::output;  // where nothing is sent
    const EdgeEnds* input = nullptr;
    Arrival arrival = state.output;
    if (begins) {
        if (state.masks_at > last) {
            last = state.masks_at;
            at_once = TimeUse::memory;
        }
        if (state.scheduled_at > last) {
            last = state.scheduled_at;
            at_once = TimeUse::host;
        }
        if (!stage.weights.empty() && state.weights.at > last) {
            last = state.weights.at;
            at_once = TimeUse::weights;
        }
        for (const std::uint16_t id : stage.inputs) {
            if (edges_[id].arrivals[unit].at <= last) continue;
            input = &map_.edge(id);
            arrival = edges_[id].arrivals[unit];
            last = arrival.at;
        }
    }
    OperatorTime<double>& time = state.waited;
    TimeUse before = at_once;
    double sent = end;
    if (input != nullptr) {
        before = input->source_stage < 0 ? TimeUse::memory : TimeUse::operands;
        sent = arrival.sent;
        time.wait(before, begin, sent, end, input->edge->src_op, tiles);
    } else if (at_once == TimeUse::weights) {
        sent = state.weights.sent;
        time.wait(TimeUse::weights, begin, sent, end, kNone, tiles);
    } else if (at_once != TimeUse::output) {
        time[at_once] += (end - begin) * tiles;
    } else if (state.output_to_memory) {
        before = TimeUse::memory;
        time[TimeUse::memory] += (end - begin) * tiles;
    } else {
        sent = state.output.sent;
        time.wait(TimeUse::output, begin, sent, end, state.output_to, tiles);
    }
    if (log_ != nullptr && stage.placement->allocations.empty()) log_wait(index, before, begin, sent, end);
}

void Timeline::open_log(const PlatformConfig& platform) {
    ticks_per_cycle_ = static_cast<double>(ClockPeriod(platform.chip.clock_ghz).cycles(1).value());
    for (unsigned tile = 0; tile < platform.tiles(); ++tile) {
        kernel_tracks_.push_back(log_->track("tiles", fmt::format("tile_{}", tile)));
        wait_tracks_.push_back(log_->track("network interface waits", fmt::format("tile_{}", tile)));
    }
}

void Timeline::log_kernel(unsigned index, unsigned unit, const StageWork& work, std::uint32_t dyn_dim, double begin) {
    const OperatorPlacement& placement = *map_.stages()[index].placement;
    const std::string name = log_->operator_name(placement.op_id);
    for (std::size_t rank = 0; rank < placement.tiles.size(); ++rank) {
        const std::uint16_t tile = placement.tiles[rank];
        const KernelUse& use = work.kinds[work.kind_of_rank[rank]];
        // Tiles that two branches share begin when they are free.
        const double start = placement.allocations.empty() ? begin : std::max(begin, tile_free_[tile]);
        const auto from = static_cast<std::uint64_t>(start * ticks_per_cycle_);
        const auto duration = static_cast<std::uint64_t>(static_cast<double>(use.cycles) * ticks_per_cycle_);
        log_->slice(kernel_tracks_[tile], name, from, from + duration,
                    {{"operator", placement.op_id},
                     {"micro_batch", unit},
                     {"dyn_dim", dyn_dim},
                     {"kernel", static_cast<std::uint64_t>(std::max(0, work.kernel))},
                     {"macs", use.pe_array.macs}});
    }
}

void Timeline::log_wait(unsigned index, TimeUse before, double begin, double sent, double end) {
    const OperatorPlacement& placement = *map_.stages()[index].placement;
    const auto ticks = [this](double cycles) { return static_cast<std::uint64_t>(cycles * ticks_per_cycle_); };
    const std::uint64_t parts = ticks(std::min(std::max(sent, begin), end));
    const auto name = [](TimeUse use) { return kTimeUseNames[static_cast<std::size_t>(use)]; };
    for (const std::uint16_t tile : placement.tiles) {
        log_->slice(wait_tracks_[tile], name(before), ticks(begin), parts, {{"operator", placement.op_id}});
        log_->slice(wait_tracks_[tile], name(TimeUse::network), parts, ticks(end), {{"operator", placement.op_id}});
    }
}

void Timeline::note_output(unsigned index, std::uint16_t id, unsigned unit, double time) {
    StageState& state = stages_[index];
    if (state.edges_missing[unit] != 1) return;
    const EdgeEnds& ends = map_.edge(id);
    const bool moved = ends.edge->path == EdgePath::on_chip && edges_[id].arrivals[unit].sent < time;
    state.output = {time, moved ? edges_[id].arrivals[unit].sent : time};
    state.output_to_memory = ends.edge->path == EdgePath::memory;
    state.output_to = moved ? ends.edge->dst_op : std::uint16_t{kNone};
}

}  // namespace switchyard::platform
