// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace switchyard::hw {

/// When something that serves one at a time is taken, a link or a virtual channel: disjoint busy intervals [begin,
/// end), sorted; those that touch are merged, so that a saturated link costs one entry. The last interval stands apart:
/// on a link that is not crowded nothing else is looked at.
class LinkCalendar {
public:
    struct Interval {
        std::uint64_t begin, end;
    };

    /// The first `duration` (> 0) free ticks at or after `earliest`, which others' may interrupt: from the first of
    /// them to the end of the last.
    Interval first_free(std::uint64_t earliest, std::uint64_t duration) const {
        if (earliest >= last_.begin) {
            const std::uint64_t begin = earliest > last_.end ? earliest : last_.end;
            return {begin, begin + duration};
        }
        return first_free_earlier(earliest, duration);
    }
    /// Begin of the first `duration` (> 0) free ticks at or after `earliest` that nothing interrupts.
    std::uint64_t first_gap(std::uint64_t earliest, std::uint64_t duration) const {
        if (earliest >= last_.begin) return earliest > last_.end ? earliest : last_.end;
        return first_gap_earlier(earliest, duration);
    }
    /// The latest time from which on there are `duration` free ticks before `end`; at least as many must be free there.
    std::uint64_t latest_begin(std::uint64_t end, std::uint64_t duration) const {
        if (end > last_.end && end - last_.end >= duration) return end - duration;
        return latest_begin_earlier(end, duration);
    }
    /// Takes all of [begin, end) that is free. Intervals that ended by `now` are forgotten: nobody may ask for times
    /// before the largest `now` given so far.
    void take(std::uint64_t begin, std::uint64_t end, std::uint64_t now) {
        if (last_.end <= now) {
            forget_all();
            last_ = {begin, end};
        } else if (begin > last_.end) {
            push_last(now);
            last_ = {begin, end};
        } else if (begin >= last_.begin) {
            if (end > last_.end) last_.end = end;
        } else {
            take_earlier(begin, end, now);
        }
    }

    /// Nothing is taken from here on.
    std::uint64_t end() const { return last_.end; }

    /// All of [begin, end) is free.
    bool free(std::uint64_t begin, std::uint64_t end) const { return first_gap(begin, end - begin) == begin; }

    /// Intervals kept.
    std::size_t size() const { return earlier_.size() - first_ + 1; }

private:
    void forget_all() {
        if (earlier_.empty()) return;
        earlier_.clear();
        first_ = 0;
    }
    void push_last(std::uint64_t now) {
        forget(now);
        earlier_.push_back(last_);
    }
    void forget(std::uint64_t now) {
        if (first_ < earlier_.size() && earlier_[first_].end <= now) forget_some(now);
    }
    void forget_some(std::uint64_t now);
    // Where an earlier interval than the last one matters.
    Interval first_free_earlier(std::uint64_t earliest, std::uint64_t duration) const;
    std::uint64_t first_gap_earlier(std::uint64_t earliest, std::uint64_t duration) const;
    std::uint64_t latest_begin_earlier(std::uint64_t end, std::uint64_t duration) const;
    void take_earlier(std::uint64_t begin, std::uint64_t end, std::uint64_t now);
    /// The first of those not forgotten that ends after `time`.
    std::vector<Interval>::const_iterator first_after(std::uint64_t time) const;

    Interval last_{0, 0};
    std::vector<Interval> earlier_;
    std::size_t first_ = 0;  ///< of those not forgotten; the ones before it are erased now and then
};

}  // namespace switchyard::hw
