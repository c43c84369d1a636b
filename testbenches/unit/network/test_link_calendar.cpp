#include <random>

#include "switchyard/hw/noc/link_calendar.h"
#include "switchyard/testbenches/catch.h"

using switchyard::hw::LinkCalendar;

namespace {

/// The same with a flag for every tick.
class Bitmap {
public:
    std::uint64_t reserve(std::uint64_t earliest, std::uint64_t duration) {
        std::uint64_t begin = earliest, free = 0;
        for (std::uint64_t tick = earliest; free < duration; ++tick) {
            if (tick >= busy_.size()) busy_.resize(tick + 1024);
            if (busy_[tick]) {
                begin = tick + 1;
                free = 0;
            } else {
                ++free;
            }
        }
        for (std::uint64_t tick = begin; tick < begin + duration; ++tick) busy_[tick] = true;
        return begin;
    }

private:
    std::vector<bool> busy_;
};

}  // namespace

TEST_CASE("a calendar finds the gaps that a bitmap finds", "[calendar]") {
    const unsigned seed = GENERATE(range(0u, 40u));
    const unsigned spread = GENERATE(10u, 200u, 3000u);
    std::mt19937 random(seed);
    const auto draw = [&](std::uint64_t n) { return random() % n; };
    LinkCalendar calendar;
    Bitmap bitmap;
    std::uint64_t now = 0;
    for (int i = 0; i < 2000; ++i) {
        if (draw(4) == 0) now += draw(30);
        const std::uint64_t earliest = now + draw(spread), duration = 1 + draw(draw(8) == 0 ? 60 : 6);
        REQUIRE(calendar.reserve(earliest, duration, now) == bitmap.reserve(earliest, duration));
    }
}

TEST_CASE("a saturated link costs one interval, a past one none", "[calendar]") {
    LinkCalendar calendar;
    for (std::uint64_t i = 0; i < 1000; ++i) REQUIRE(calendar.reserve(0, 5, 0) == 5 * i);
    CHECK(calendar.size() == 1);
    for (std::uint64_t i = 0; i < 1000; ++i) calendar.reserve(10000 + 10 * i, 5, 0);
    CHECK(calendar.size() == 1001);
    for (std::uint64_t i = 0; i < 1000; ++i) CHECK(calendar.reserve(10005 + 10 * i, 5, 0) == 10005 + 10 * i);
    CHECK(calendar.size() == 2);
    calendar.reserve(30000, 1, 30000);
    CHECK(calendar.size() == 1);
}
