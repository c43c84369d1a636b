#include "switchyard/hw/noc/link_calendar.h"

#include <algorithm>

namespace switchyard::hw {

void LinkCalendar::forget(std::uint64_t now) {
    while (first_ < earlier_.size() && earlier_[first_].end <= now) ++first_;
    if (2 * first_ < earlier_.size()) return;
    earlier_.erase(earlier_.begin(), earlier_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
}

void LinkCalendar::push_last(std::uint64_t now) {
    forget(now);
    earlier_.push_back(last_);
}

std::uint64_t LinkCalendar::reserve_earlier(std::uint64_t earliest, std::uint64_t duration, std::uint64_t now) {
    forget(now);
    const auto kept = earlier_.begin() + static_cast<std::ptrdiff_t>(first_);
    auto next = std::upper_bound(kept, earlier_.end(), earliest,
                                 [](std::uint64_t time, const Interval& interval) { return time < interval.end; });
    std::uint64_t begin = earliest;
    for (; next != earlier_.end() && next->begin < begin + duration; ++next) begin = std::max(begin, next->end);
    if (next == earlier_.end() && last_.begin < begin + duration) {
        begin = last_.end;
        last_.end += duration;
        return begin;
    }

    const std::uint64_t end = begin + duration;
    const bool joins_previous = next != kept && (next - 1)->end == begin;
    Interval& following = next != earlier_.end() ? *next : last_;
    if (following.begin == end) {
        following.begin = joins_previous ? (next - 1)->begin : begin;
        if (joins_previous) earlier_.erase(next - 1);
    } else if (joins_previous) {
        (next - 1)->end = end;
    } else {
        earlier_.insert(next, {begin, end});
    }
    return begin;
}

}  // namespace switchyard::hw
