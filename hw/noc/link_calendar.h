#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace switchyard::hw {

/// When a link is taken: disjoint busy intervals [begin, end), sorted; those that touch are merged, so that a saturated
/// link costs one entry. The last interval stands apart: on a link that is not crowded nothing else is looked at.
class LinkCalendar {
public:
    /// Takes the first gap of `duration` (> 0) that begins at or after `earliest` and returns its begin. Intervals that
    /// ended by `now` are forgotten: `earliest` must never lie before the largest `now` given so far.
    std::uint64_t reserve(std::uint64_t earliest, std::uint64_t duration, std::uint64_t now) {
        if (last_.end <= now) {
            forget_all();
            last_ = {earliest, earliest + duration};
            return earliest;
        }
        if (earliest > last_.end) {
            push_last(now);
            last_ = {earliest, earliest + duration};
            return earliest;
        }
        if (earliest >= last_.begin) {
            const std::uint64_t begin = last_.end;
            last_.end += duration;
            return begin;
        }
        return reserve_earlier(earliest, duration, now);
    }

    /// Intervals kept.
    std::size_t size() const { return earlier_.size() - first_ + 1; }

private:
    struct Interval {
        std::uint64_t begin, end;
    };

    void forget_all() {
        if (earlier_.empty()) return;
        earlier_.clear();
        first_ = 0;
    }
    void push_last(std::uint64_t now);
    void forget(std::uint64_t now);
    /// `earliest` lies before the last interval.
    std::uint64_t reserve_earlier(std::uint64_t earliest, std::uint64_t duration, std::uint64_t now);

    Interval last_{0, 0};
    std::vector<Interval> earlier_;
    std::size_t first_ = 0;  ///< of those not forgotten; the ones before it are erased now and then
};

}  // namespace switchyard::hw
