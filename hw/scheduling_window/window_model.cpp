// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/scheduling_window/window_model.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "switchyard/hw/scheduling_window/window_core.h"

namespace switchyard::hw {

using sched::ace::KernelId;

WindowModel::WindowModel(const Config& config) : config_(config) {
    if (const std::string wrong = validation_error(WindowShape{config.slots, config.scheduled_kernels}); !wrong.empty())
        throw std::invalid_argument(wrong);
}

bool WindowModel::can_insert() const {
    if (slots_.empty()) return true;
    return slots_.size() < config_.slots && inserted_ - slots_.front().number <= config_.scheduled_kernels;
}

void WindowModel::insert(const sched::ace::WindowEntry& entry) {
    if (!can_insert()) throw std::logic_error("the scheduling window takes no kernel now");
    if (find(entry.id) != slots_.end()) throw std::logic_error("a kernel with this id is in the scheduling window");
    Slot slot{entry.id, {}, State::ready, inserted_++};
    for (const KernelId id : entry.upstream)
        if (find(id) != slots_.end()) slot.upstream.push_back(id);
    if (!slot.upstream.empty()) slot.state = State::pending;
    slots_.push_back(std::move(slot));
}

std::optional<KernelId> WindowModel::dispatch() {
    for (Slot& slot : slots_) {
        if (slot.state != State::ready) continue;
        slot.state = State::executing;
        return slot.id;
    }
    return std::nullopt;
}

void WindowModel::complete(KernelId id) {
    const auto done = find(id);
    if (done == slots_.end() || done->state != State::executing)
        throw std::logic_error("a kernel completes that does not execute");
    slots_.erase(done);
    for (Slot& slot : slots_) {
        const auto end = std::remove(slot.upstream.begin(), slot.upstream.end(), id);
        slot.upstream.erase(end, slot.upstream.end());
        if (slot.state == State::pending && slot.upstream.empty()) slot.state = State::ready;
    }
}

std::deque<WindowModel::Slot>::iterator WindowModel::find(KernelId id) {
    return std::find_if(slots_.begin(), slots_.end(), [id](const Slot& slot) { return slot.id == id; });
}

}  // namespace switchyard::hw
