// SPDX-License-Identifier: Apache-2.0
// What the tile's time is used for.

#include "switchyard/hw/tile/tile_controller.h"

#include <algorithm>

namespace switchyard::hw {

void TileController::charge_wait(const Operator& op, unsigned unit) {
    const std::uint64_t now = sc_core::sc_time_stamp().value();
    if (now == free_since_) return;
    OperatorTime<std::uint64_t>& time = times_[op.op->op_id];
    const bool begins = unit < op.placement->units;
    // The wait is for what came last.
    const Input* input = nullptr;
    const Weights* missing = nullptr;
    std::uint64_t last = op.output.at;
    if (begins && op.masks_at > last) last = op.masks_at;
    for (const Weights& weights : op.weights) {
        if (!begins || weights.arrival.at <= last) continue;
        missing = &weights;
        last = weights.arrival.at;
    }
    for (const Input& candidate : op.inputs) {
        if (!begins || candidate.arrivals[unit].at <= last) continue;
        input = &candidate;
        last = candidate.arrivals[unit].at;
    }
    if (input != nullptr) {
        const bool on_chip = input->edge->path == EdgePath::on_chip;
        const TimeUse before = on_chip ? TimeUse::operands : TimeUse::memory;
        time.wait(before, free_since_, input->arrivals[unit].sent, now, input->edge->src_op);
        if (log_ != nullptr) log_wait(op, before, input->arrivals[unit].sent);
    } else if (missing != nullptr) {
        time.wait(TimeUse::weights, free_since_, missing->arrival.sent, now, kNone);
        if (log_ != nullptr) log_wait(op, TimeUse::weights, missing->arrival.sent);
    } else if ((begins && last > op.output.at) || op.output_to_memory) {  // recorded masks, or the output's room
        time[TimeUse::memory] += now - free_since_;
        if (log_ != nullptr) log_wait(op, TimeUse::memory, now);
    } else {
        const std::uint16_t peer =
            op.output_edge == kNone ? std::uint16_t{kNone} : program_->edge(op.output_edge).dst_op;
        time.wait(TimeUse::output, free_since_, op.output.sent, now, peer);
        if (log_ != nullptr) log_wait(op, TimeUse::output, op.output.sent);
    }
}

void TileController::log_kernel(const Operator& op, const DispatchExtension& dispatch,
                                const sc_core::sc_time& duration) {
    const std::uint64_t now = sc_core::sc_time_stamp().value();
    log_->slice(kernels_track_, log_->operator_name(op.op->op_id), now, now + duration.value(),
                {{"operator", op.op->op_id},
                 {"batch", dispatch.batch},
                 {"micro_batch", dispatch.unit},
                 {"dyn_dim", dispatch.dyn_dim},
                 {"kernel", static_cast<std::uint64_t>(dispatch.kernel)},
                 {"macs", dispatch.macs}});
    log_->slice(dispatcher_track_, "select kernel", now, now + clock_.cycles(dispatch.search_cycles).value(),
                {{"kernel", static_cast<std::uint64_t>(dispatch.kernel)}});
}

void TileController::log_wait(const Operator& op, TimeUse before, std::uint64_t sent) {
    const std::uint64_t now = sc_core::sc_time_stamp().value();
    const std::uint64_t parts = std::min(std::max(sent, free_since_), now);
    const auto name = [](TimeUse use) { return kTimeUseNames[static_cast<std::size_t>(use)]; };
    log_->slice(waits_track_, name(before), free_since_, parts, {{"operator", op.op->op_id}});
    log_->slice(waits_track_, name(TimeUse::network), parts, now, {{"operator", op.op->op_id}});
}

void TileController::add_times(OperatorTimes& times) const {
    const double cycles = 1 / static_cast<double>(clock_.cycles(1).value());  // a tick
    for (const auto& [op_id, counted] : times_) times[op_id].add(counted, cycles);
}

}  // namespace switchyard::hw
