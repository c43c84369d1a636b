// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <systemc>

namespace switchyard {

/// Items that become due at given times: earliest first, first in first out among equals. The owner makes one process
/// sensitive to `event()` and drains the queue with `pop_due()`. A lighter peq: one event, no allocation an item.
template <class T>
class TimedQueue {
public:
    explicit TimedQueue(const char* name) : event_(name) {}

    /// `item` is due `delay` from now.
    void push(T item, const sc_core::sc_time& delay) {
        const std::uint64_t due = sc_core::sc_time_stamp().value() + delay.value();
        heap_.push_back(Entry{due, sequence_++, std::move(item)});
        std::push_heap(heap_.begin(), heap_.end(), later);
        if (heap_.front().due == due) arm();
    }

    /// Moves the next due item into `item`; false (and the event armed for the next one) if none is due now.
    bool pop_due(T& item) {
        if (heap_.empty()) return false;
        if (heap_.front().due > sc_core::sc_time_stamp().value()) {
            arm();
            return false;
        }
        std::pop_heap(heap_.begin(), heap_.end(), later);
        item = std::move(heap_.back().item);
        heap_.pop_back();
        return true;
    }

    /// Removes any item, due or not: for cleaning up.
    bool take(T& item) {
        if (heap_.empty()) return false;
        item = std::move(heap_.back().item);
        heap_.pop_back();
        return true;
    }

    bool empty() const { return heap_.empty(); }
    sc_core::sc_event& event() { return event_; }

private:
    struct Entry {
        std::uint64_t due, sequence;
        T item;
    };
    static bool later(const Entry& a, const Entry& b) {
        return a.due != b.due ? a.due > b.due : a.sequence > b.sequence;
    }
    void arm() {
        const std::uint64_t now = sc_core::sc_time_stamp().value();
        event_.notify(sc_core::sc_time::from_value(heap_.front().due - now));
    }

    std::vector<Entry> heap_;
    std::uint64_t sequence_ = 0;
    sc_core::sc_event event_;
};

}  // namespace switchyard
