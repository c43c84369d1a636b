// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace switchyard::hw {

/// When something that serves one at a time is taken, a link or a virtual channel: disjoint busy intervals [begin,
/// end), sorted; those that touch are merged, so that a saturated link costs one entry. The last interval stands apart:
/// on a link that is not crowded nothing else is looked at. A calendar is small, since a network has thousands of them.
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
    /// Takes all of [begin, end) that is free. Intervals that ended by `now` are forgotten, at the latest when another
    /// one is kept beside them: nobody may ask for times before the largest `now` given so far.
    void take(std::uint64_t begin, std::uint64_t end, std::uint64_t now) {
        if (last_.end <= now) {
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

    /// Counts the cycles of [now, end()) that are taken. `now` is not before the largest one given to take().
    std::uint64_t taken_after(std::uint64_t now) const {
        const auto rest = [now](const Interval& i) {
            return i.end > now ? i.end - (i.begin > now ? i.begin : now) : 0;
        };
        std::uint64_t sum = rest(last_);
        for (const Interval* i = earlier_begin(); i != earlier_end(); ++i) sum += rest(*i);
        return sum;
    }

    /// Nothing is taken from here on.
    std::uint64_t end() const { return last_.end; }

    /// All of [begin, end) is free.
    bool free(std::uint64_t begin, std::uint64_t end) const { return first_gap(begin, end - begin) == begin; }

    /// Intervals kept.
    std::size_t size() const { return count_ + std::size_t{1}; }

private:
    struct Release {
        void operator()(Interval* intervals) const { ::operator delete (intervals, std::align_val_t{kAlignment}); }
    };
    static constexpr std::size_t kAlignment = 64;  ///< of a cache line, so that four intervals take one

    const Interval* earlier_begin() const { return earlier_.get(); }
    const Interval* earlier_end() const { return earlier_.get() + count_; }
    /// The first of the earlier ones that ends after `time`.
    const Interval* first_after(std::uint64_t time) const;
    void forget(std::uint64_t now) {
        if (count_ > 0 && earlier_[0].end <= now) forget_some(now);
    }
    void forget_some(std::uint64_t now);
    void push_last(std::uint64_t now) {
        forget(now);
        if (count_ == capacity_) grow();
        earlier_[count_++] = last_;
    }
    void grow();
    void insert(std::size_t at, const Interval& interval);
    /// The earlier ones at [from, to).
    void erase(std::size_t from, std::size_t to);
    // Where an earlier interval than the last one matters.
    Interval first_free_earlier(std::uint64_t earliest, std::uint64_t duration) const;
    std::uint64_t first_gap_earlier(std::uint64_t earliest, std::uint64_t duration) const;
    std::uint64_t latest_begin_earlier(std::uint64_t end, std::uint64_t duration) const;
    void take_earlier(std::uint64_t begin, std::uint64_t end, std::uint64_t now);

    Interval last_{0, 0};
    std::unique_ptr<Interval[], Release> earlier_;  ///< room for `capacity_`
    std::uint32_t count_ = 0, capacity_ = 0;
};

}  // namespace switchyard::hw
