// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <random>
#include <vector>

#include "switchyard/hw/noc/link_calendar.h"
#include "switchyard/testbenches/catch.h"

using switchyard::hw::LinkCalendar;

namespace {

/// The same with a flag for every tick.
class Bitmap {
public:
    LinkCalendar::Interval first_free(std::uint64_t earliest, std::uint64_t duration) {
        while (busy(earliest)) ++earliest;
        std::uint64_t end = earliest;
        for (std::uint64_t free = 0; free < duration; ++end) free += busy(end) ? 0 : 1;
        return {earliest, end};
    }
    std::uint64_t first_gap(std::uint64_t earliest, std::uint64_t duration) {
        for (std::uint64_t tick = earliest; tick < earliest + duration; ++tick)
            if (busy(tick)) earliest = tick + 1;
        return earliest;
    }
    std::uint64_t latest_begin(std::uint64_t end, std::uint64_t duration) {
        for (; duration > 0; --end) duration -= busy(end - 1) ? 0 : 1;
        return end;
    }
    void take(std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t tick = begin; tick < end; ++tick) {
            (void)busy(tick);
            busy_[tick] = true;
        }
    }

private:
    bool busy(std::uint64_t tick) {
        if (tick >= busy_.size()) busy_.resize(tick + 1024);
        return busy_[tick];
    }
    std::vector<bool> busy_;
};

/// Takes the first gap that is long enough.
std::uint64_t reserve(LinkCalendar& calendar, std::uint64_t earliest, std::uint64_t duration, std::uint64_t now = 0) {
    const std::uint64_t begin = calendar.first_gap(earliest, duration);
    calendar.take(begin, begin + duration, now);
    return begin;
}

void check_calendar(unsigned seed, unsigned spread) {
    CAPTURE(seed, spread);
    std::mt19937 random(seed);
    const auto draw = [&](std::uint64_t n) { return random() % n; };
    LinkCalendar calendar;
    Bitmap bitmap;
    std::uint64_t now = 0;
    for (int i = 0; i < 2000; ++i) {
        if (draw(4) == 0) now += draw(30);
        const std::uint64_t earliest = now + draw(spread), duration = 1 + draw(draw(8) == 0 ? 60 : 6);
        const std::uint64_t gap = calendar.first_gap(earliest, duration);
        REQUIRE(gap == bitmap.first_gap(earliest, duration));
        REQUIRE(calendar.free(gap, gap + duration));
        const LinkCalendar::Interval pieces = calendar.first_free(earliest, duration);
        REQUIRE(pieces.begin == bitmap.first_free(earliest, duration).begin);
        REQUIRE(pieces.end == bitmap.first_free(earliest, duration).end);
        // A gap, all of an interval with what others have in it, or the last free ticks before a later time.
        std::uint64_t begin = gap, end = gap + duration;
        if (draw(3) == 0) {
            begin = pieces.begin;
            end = pieces.end;
        } else if (draw(2) == 0) {
            end = pieces.end + draw(20);
            begin = calendar.latest_begin(end, duration);
            REQUIRE(begin == bitmap.latest_begin(end, duration));
        }
        calendar.take(begin, end, now);
        bitmap.take(begin, end);
        REQUIRE_FALSE(calendar.free(begin, end));
        REQUIRE(calendar.first_gap(calendar.end(), 1) == calendar.end());
    }
}

}  // namespace

TEST_CASE("a calendar finds what a bitmap finds", "[calendar]") {
    check_calendar(GENERATE(range(0u, 10u)), GENERATE(10u, 200u, 3000u));
}

TEST_CASE("a calendar finds what a bitmap finds, further seeds", "[.ci-long][calendar]") {
    check_calendar(GENERATE(range(10u, 40u)), GENERATE(10u, 200u, 3000u));
}

TEST_CASE("a saturated link costs one interval, a past one none", "[calendar]") {
    LinkCalendar calendar;
    for (std::uint64_t i = 0; i < 1000; ++i) REQUIRE(reserve(calendar, 0, 5) == 5 * i);
    CHECK(calendar.size() == 1);
    for (std::uint64_t i = 0; i < 1000; ++i) reserve(calendar, 10000 + 10 * i, 5);
    CHECK(calendar.size() == 1001);
    for (std::uint64_t i = 0; i < 1000; ++i) CHECK(reserve(calendar, 10005 + 10 * i, 5) == 10005 + 10 * i);
    CHECK(calendar.size() == 2);
    reserve(calendar, 30000, 1, 30000);
    reserve(calendar, 30010, 1, 30000);
    CHECK(calendar.size() == 2);
    LinkCalendar passing;
    for (std::uint64_t i = 0; i < 1000; ++i) REQUIRE(reserve(passing, 10 * i + 5, 5, 10 * i) == 10 * i + 5);
    CHECK(passing.size() == 1);
}
