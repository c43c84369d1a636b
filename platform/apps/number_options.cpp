// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/apps/number_options.h"

#include <string>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/plain_number.h"

namespace switchyard::platform {

namespace {

constexpr double kLargest = std::numeric_limits<double>::max();

/// "expected an integer of 1 to 12, found 0".
template <class T, class Good>
CLI::Validator check(const std::string& wanted, Good good) {
    return {[wanted, good](const std::string& text) {
                T value{};
                if (parse_plain_number(text, value) == Parsed::ok && good(value)) return std::string();
                return fmt::format("expected {}, found {}", wanted, text);
            },
            wanted};
}

}  // namespace

CLI::Validator whole_number(std::uint64_t low, std::uint64_t high) {
    const bool open = high == std::numeric_limits<std::uint64_t>::max();
    const std::string wanted =
        open ? fmt::format("an integer of {} or more", low) : fmt::format("an integer of {} to {}", low, high);
    return check<std::uint64_t>(wanted, [low, high](std::uint64_t value) { return value >= low && value <= high; });
}

CLI::Validator number(double low, double high) {
    const std::string wanted =
        high == kLargest ? fmt::format("a number of {} or more", low) : fmt::format("a number of {} to {}", low, high);
    return check<double>(wanted, [low, high](double value) { return value >= low && value <= high; });
}

CLI::Validator positive_number() {
    return check<double>("a number above 0", [](double value) { return value > 0; });
}

CLI::Validator bus_address() {
    const std::string wanted = "an address, decimal or behind 0x hexadecimal";
    return {[wanted](const std::string& text) {
                std::uint64_t value = 0;
                if (parse_address(text, value) == Parsed::ok) return std::string();
                return fmt::format("expected {}, found {}", wanted, text);
            },
            wanted};
}

}  // namespace switchyard::platform
