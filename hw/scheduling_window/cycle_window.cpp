// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/scheduling_window/cycle_window.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/config_check.h"

namespace switchyard::hw {

using sched::ace::KernelId;

std::string text_of(const WindowOutputs& o) {
    const auto bit = [](bool value) { return value ? 1 : 0; };
    return fmt::format(
        "entry_ready {}, upstream_ready {}, dispatch_valid {}, dispatch_id {}, complete_ready {}, empty {}, settled {}",
        bit(o.entry_ready), bit(o.upstream_ready), bit(o.dispatch_valid), o.dispatch_id, bit(o.complete_ready),
        bit(o.empty), bit(o.settled));
}

std::string first_difference(const WindowOutputs& a, const WindowOutputs& b) {
    if (a.entry_ready != b.entry_ready) return "entry_ready";
    if (a.upstream_ready != b.upstream_ready) return "upstream_ready";
    if (a.dispatch_valid != b.dispatch_valid) return "dispatch_valid";
    if (a.dispatch_id != b.dispatch_id) return "dispatch_id";
    if (a.complete_ready != b.complete_ready) return "complete_ready";
    if (a.empty != b.empty) return "empty";
    return a.settled != b.settled ? "settled" : "";
}

std::string validation_error(const WindowShape& shape) {
    if (shape.slots < 2 || shape.slots > 128) return fmt::format("expected 2 to 128 slots, found {}", shape.slots);
    if (shape.scheduled_kernels < shape.slots || shape.scheduled_kernels > sched::ace::kMaxScheduledKernels)
        return fmt::format("expected scheduled_kernels of {}, the number of slots, to {}, found {}", shape.slots,
                           sched::ace::kMaxScheduledKernels, shape.scheduled_kernels);
    return "";
}

std::unique_ptr<WindowCore> make_window_core(const std::string& impl, const WindowShape& shape, const std::string&) {
    if (impl != "model") throw std::invalid_argument(not_among("impl", {"model"}, impl));
    return std::make_unique<CycleWindow>(shape);
}

bool CycleWindow::Slot::waiting() const {
    return std::find(waits.begin(), waits.end(), true) != waits.end();
}

CycleWindow::CycleWindow(const WindowShape& shape) : shape_(shape) {
    const std::string message = validation_error(shape);
    if (!message.empty()) throw std::invalid_argument(message);
    slots_.resize(shape.slots);
    for (Slot& slot : slots_) {
        slot.upstream.reserve(shape.slots - 1);
        slot.waits.reserve(shape.slots - 1);
    }
}

CycleWindow::Slot* CycleWindow::find(KernelId id) {
    for (Slot& slot : slots_)
        if (slot.state != State::free && slot.id == id) return &slot;
    return nullptr;
}

CycleWindow::Slot* CycleWindow::first_free() {
    for (Slot& slot : slots_)
        if (slot.state == State::free) return &slot;
    return nullptr;
}

CycleWindow::Slot* CycleWindow::oldest_ready() {
    Slot* best = nullptr;
    const auto age = [this](const Slot& slot) { return static_cast<KernelId>(slot.id - oldest_); };
    for (Slot& slot : slots_)
        if (slot.state == State::ready && (best == nullptr || age(slot) < age(*best))) best = &slot;
    return best;
}

WindowOutputs CycleWindow::settle(const WindowInputs& inputs) {
    inputs_ = inputs;
    const Slot* ready = oldest_ready();
    outputs_.complete_ready = phase_ == Phase::idle;
    outputs_.entry_ready = phase_ == Phase::idle && !inputs.complete_valid && first_free() != nullptr &&
                           since_ <= shape_.scheduled_kernels;
    outputs_.upstream_ready = phase_ == Phase::load && left_ > 0;
    outputs_.dispatch_valid = ready != nullptr;
    outputs_.dispatch_id = ready != nullptr ? ready->id : KernelId{0};
    outputs_.empty = std::all_of(slots_.begin(), slots_.end(), [](const Slot& s) { return s.state == State::free; });
    outputs_.settled = phase_ == Phase::idle && (since_ == 0 || find(oldest_) != nullptr);
    return outputs_;
}

void CycleWindow::clock() {
    // All decisions are made on what was there before the edge.
    Slot* const dispatched = outputs_.dispatch_valid && inputs_.dispatch_ready ? oldest_ready() : nullptr;
    const bool remove = inputs_.complete_valid && outputs_.complete_ready;
    const bool insert = inputs_.entry_valid && outputs_.entry_ready;
    const bool load = inputs_.upstream_valid && outputs_.upstream_ready;
    const bool last_position = position_ == shape_.slots - 2;
    const bool next_oldest = since_ > 0 && find(oldest_) == nullptr;
    Slot* const upstream = load ? find(inputs_.upstream_id) : nullptr;

    if (phase_ == Phase::load) {
        if (upstream != nullptr) {
            loading_->upstream.push_back(inputs_.upstream_id);
            loading_->waits.push_back(true);
        }
        const bool end = last_position && (left_ == 0 || (load && left_ == 1));
        if ((load || left_ == 0) && !last_position) ++position_;
        if (load) --left_;
        if (end) {
            if (!loading_->waiting()) loading_->state = State::ready;
            loading_ = nullptr;
            phase_ = Phase::idle;
        }
    } else if (phase_ == Phase::update) {
        for (Slot& slot : slots_) {
            if (position_ < slot.waits.size() && slot.upstream[position_] == done_) slot.waits[position_] = false;
            if (last_position && slot.state == State::pending && !slot.waiting()) slot.state = State::ready;
        }
        ++position_;
        if (last_position) phase_ = Phase::idle;
    } else {
        position_ = 0;
        if (remove) {
            Slot* const done = find(inputs_.complete_id);
            if (done != nullptr && done->state == State::executing) {
                done->state = State::free;
                done->upstream.clear();
                done->waits.clear();
            }
            done_ = inputs_.complete_id;
            phase_ = Phase::update;
        } else if (insert) {
            loading_ = first_free();
            *loading_ = Slot{State::pending, inputs_.entry_id, {}, {}};
            left_ = inputs_.entry_count;
            phase_ = Phase::load;
        }
    }
    if (dispatched != nullptr) dispatched->state = State::executing;
    if (next_oldest) ++oldest_;
    since_ += (insert ? 1U : 0U) - (next_oldest ? 1U : 0U);
}

}  // namespace switchyard::hw
