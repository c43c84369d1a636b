// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/noc/link_calendar.h"

#include <algorithm>

namespace switchyard::hw {

void LinkCalendar::forget_some(std::uint64_t now) {
    while (first_ < earlier_.size() && earlier_[first_].end <= now) ++first_;
    if (2 * first_ < earlier_.size()) return;
    earlier_.erase(earlier_.begin(), earlier_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
}

std::vector<LinkCalendar::Interval>::const_iterator LinkCalendar::first_after(std::uint64_t time) const {
    if (earlier_.empty() || earlier_.back().end <= time) return earlier_.end();
    return std::upper_bound(earlier_.begin() + static_cast<std::ptrdiff_t>(first_), earlier_.end(), time,
                            [](std::uint64_t t, const Interval& interval) { return t < interval.end; });
}

LinkCalendar::Interval LinkCalendar::first_free_earlier(std::uint64_t earliest, std::uint64_t duration) const {
    auto next = first_after(earliest);
    std::uint64_t begin = earliest;
    if (next != earlier_.end() && next->begin <= begin) begin = (next++)->end;
    // From here on `at` is free up to the next interval.
    std::uint64_t at = begin, left = duration;
    for (; next != earlier_.end(); ++next) {
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
    for (auto next = first_after(earliest); next != earlier_.end(); ++next) {
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
    const auto kept = earlier_.begin() + static_cast<std::ptrdiff_t>(first_);
    for (auto before = earlier_.end(); before != kept;)
        if (!pass(*--before)) return at - left;
    return at - left;
}

void LinkCalendar::take_earlier(std::uint64_t begin, std::uint64_t end, std::uint64_t now) {
    forget(now);
    const auto kept = earlier_.begin() + static_cast<std::ptrdiff_t>(first_);
    // All that overlaps or touches becomes one.
    auto first = earlier_.end();
    if (first != kept && (first - 1)->end >= begin)
        first = std::lower_bound(kept, earlier_.end(), begin,
                                 [](const Interval& interval, std::uint64_t t) { return interval.end < t; });
    auto beyond = first;
    for (; beyond != earlier_.end() && beyond->begin <= end; ++beyond) {
        begin = std::min(begin, beyond->begin);
        end = std::max(end, beyond->end);
    }
    if (last_.begin <= end) {
        last_ = {begin, std::max(end, last_.end)};
        earlier_.erase(first, earlier_.end());
    } else if (first == beyond) {
        earlier_.insert(first, {begin, end});
    } else {
        *first = {begin, end};
        earlier_.erase(first + 1, beyond);
    }
}

}  // namespace switchyard::hw
