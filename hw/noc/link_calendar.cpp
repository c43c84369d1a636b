// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/noc/link_calendar.h"

#include <algorithm>

namespace switchyard::hw {

const LinkCalendar::Interval* LinkCalendar::first_after(std::uint64_t time) const {
    constexpr std::uint32_t kFew = 8;
    if (count_ > kFew)
        return std::upper_bound(earlier_begin(), earlier_end(), time,
                                [](std::uint64_t t, const Interval& interval) { return t < interval.end; });
    const Interval* after = earlier_end();
    while (after != earlier_begin() && (after - 1)->end > time) --after;
    return after;
}

void LinkCalendar::forget_some(std::uint64_t now) {
    std::size_t past = 1;
    while (past < count_ && earlier_[past].end <= now) ++past;
    erase(0, past);
}

void LinkCalendar::grow() {
    const std::uint32_t capacity = std::max<std::uint32_t>(kAlignment / sizeof(Interval), 2 * capacity_);
    void* const room = ::operator new (capacity * sizeof(Interval), std::align_val_t{kAlignment});
    auto* const intervals = static_cast<Interval*>(room);
    std::uninitialized_copy(earlier_begin(), earlier_end(), intervals);
    std::uninitialized_fill(intervals + count_, intervals + capacity, Interval{0, 0});
    earlier_.reset(intervals);
    capacity_ = capacity;
}

// There are few: loops are faster here than calls of memmove.
void LinkCalendar::insert(std::size_t at, const Interval& interval) {
    if (count_ == capacity_) grow();
    Interval* const intervals = earlier_.get();
    for (std::size_t to = count_++; to > at; --to) intervals[to] = intervals[to - 1];
    intervals[at] = interval;
}

void LinkCalendar::erase(std::size_t from, std::size_t to) {
    if (from == to) return;
    Interval* const intervals = earlier_.get();
    for (; to < count_; ++from, ++to) intervals[from] = intervals[to];
    count_ = static_cast<std::uint32_t>(from);
}

LinkCalendar::Interval LinkCalendar::first_free_earlier(std::uint64_t earliest, std::uint64_t duration) const {
    std::uint64_t begin = earliest;
    // From here on `at` is free up to the next interval.
    std::uint64_t at = begin, left = duration;
    const Interval* next = first_after(earliest);
    if (next != earlier_end() && next->begin <= begin) begin = at = (next++)->end;
    for (; next != earlier_end(); ++next) {
        if (next->begin - at >= left) return {begin, at + left};
        left -= next->begin - at;
        at = next->end;
    }
    if (at < last_.begin) {
        if (last_.begin - at >= left) return {begin, at + left};
        left -= last_.begin - at;
    }
    return {begin, last_.end + left};
}

std::uint64_t LinkCalendar::first_gap_earlier(std::uint64_t earliest, std::uint64_t duration) const {
    std::uint64_t begin = earliest;
    for (const Interval* next = first_after(earliest); next != earlier_end(); ++next) {
        if (next->begin >= begin + duration) return begin;
        begin = std::max(begin, next->end);
    }
    return last_.begin >= begin + duration ? begin : last_.end;
}

std::uint64_t LinkCalendar::latest_begin_earlier(std::uint64_t end, std::uint64_t duration) const {
    std::uint64_t at = end, left = duration;  // [at, end) has duration - left free ticks
    const auto pass = [&](const Interval& busy) {
        if (busy.end < at) {
            if (at - busy.end >= left) return false;
            left -= at - busy.end;
        }
        at = std::min(at, busy.begin);
        return true;
    };
    if (!pass(last_)) return at - left;
    for (const Interval* before = earlier_end(); before != earlier_begin();)
        if (!pass(*--before)) return at - left;
    return at - left;
}

void LinkCalendar::take_earlier(std::uint64_t begin, std::uint64_t end, std::uint64_t now) {
    forget(now);
    // All that overlaps or touches becomes one.
    const auto first = static_cast<std::size_t>(first_after(begin > 0 ? begin - 1 : 0) - earlier_begin());
    std::size_t beyond = first;
    for (; beyond < count_ && earlier_[beyond].begin <= end; ++beyond) {
        begin = std::min(begin, earlier_[beyond].begin);
        end = std::max(end, earlier_[beyond].end);
    }
    if (last_.begin <= end) {
        last_ = {begin, std::max(end, last_.end)};
        erase(first, beyond);
    } else if (first == beyond) {
        insert(first, {begin, end});
    } else {
        earlier_[first] = {begin, end};
        erase(first + 1, beyond);
    }
}

}  // namespace switchyard::hw
