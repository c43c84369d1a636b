// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace switchyard::hw::flit {

/// Things that are due after a few cycles, in the order in which they were pushed: one list a cycle of the horizon.
template <class Event>
class EventWheel {
public:
    /// What is due in one cycle.
    class Slot {
    public:
        /// The slot has fewer than `capacity` events: only debug builds check it.
        void push(Event event) {
            assert(end_ != last_);
            *end_++ = event;
        }
        const Event* begin() const { return begin_; }
        const Event* end() const { return end_; }
        std::size_t size() const { return static_cast<std::size_t>(end_ - begin_); }
        void clear() { end_ = begin_; }

    private:
        friend class EventWheel;
        Event *begin_ = nullptr, *end_ = nullptr, *last_ = nullptr;
    };

    /// `longest_delay`: cycles from a push until the event is due, at most. `capacity`: events due in one cycle, at
    /// most.
    EventWheel(unsigned longest_delay, std::size_t capacity) {
        std::size_t size = 1;
        while (size <= longest_delay) size *= 2;
        mask_ = size - 1;
        events_.resize(size * capacity);
        slots_.resize(size);
        for (std::size_t i = 0; i < size; ++i) {
            slots_[i].begin_ = slots_[i].end_ = events_.data() + i * capacity;
            slots_[i].last_ = slots_[i].begin_ + capacity;
        }
    }
    EventWheel(EventWheel&&) noexcept = default;
    EventWheel& operator=(EventWheel&&) noexcept = default;

    /// Of a cycle from now to the longest delay from now.
    Slot& at(std::uint64_t cycle) { return slots_[cycle & mask_]; }
    bool empty() const {
        return std::all_of(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.size() == 0; });
    }

private:
    std::vector<Event> events_;
    std::vector<Slot> slots_;
    std::size_t mask_ = 0;  ///< of a cycle: its slot
};

}  // namespace switchyard::hw::flit
