// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/base/json_reader.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/json_kind.h"
#include "switchyard/sw_scheduler/base/suggestion.h"

namespace switchyard {

JsonReader::JsonReader(const nlohmann::json& value, std::string file, int line, std::string place)
    : value_(value), file_(std::move(file)), place_(std::move(place)), line_(line) {}

void JsonReader::fail(const std::string& message) const {
    throw InputError(file_, line_, place_, message);
}

void JsonReader::expected(const std::string& what) const {
    fail(fmt::format("expected {}, found {}", what, json_kind(value_)));
}

bool JsonReader::has(const std::string& key) const {
    if (!value_.is_object()) expected("an object");
    return value_.contains(key);
}

JsonReader JsonReader::member(const std::string& key) const {
    const std::string place = place_.empty() ? key : place_ + "." + key;
    if (!has(key)) throw InputError(file_, line_, place, "expected a value, found nothing");
    return {value_.at(key), file_, line_, place};
}

void JsonReader::allow(const std::vector<std::string>& keys) const {
    if (!value_.is_object()) expected("an object");
    for (const auto& [key, value] : value_.items())
        if (std::find(keys.begin(), keys.end(), key) == keys.end())
            throw InputError(file_, line_, place_.empty() ? key : place_ + "." + key, not_one_of(key, keys));
}

void JsonReader::check_format(const std::string& format, int version, const std::string& what) const {
    if (!value_.is_object() || !value_.contains("format") || value_.at("format") != format)
        throw InputError(
            file_, line_, "format",
            fmt::format("expected {} of a {}, found {}", format, what,
                        value_.is_object() && value_.contains("format") ? json_kind(value_.at("format")) : "nothing"));
    const JsonReader given = member("version");
    if (value_.at("version") != version)
        given.fail(fmt::format("expected version {} of the format, found {}", version, json_kind(given.value_)));
}

std::string JsonReader::text() const {
    if (!value_.is_string()) expected("a text");
    return value_.get<std::string>();
}

std::uint64_t JsonReader::integer(std::uint64_t low, std::uint64_t high) const {
    const std::string wanted = high == std::numeric_limits<std::uint64_t>::max()
                                   ? fmt::format("an integer of {} or more", low)
                                   : fmt::format("an integer of {} to {}", low, high);
    if (!value_.is_number_unsigned()) expected(wanted);
    const auto value = value_.get<std::uint64_t>();
    if (value < low || value > high) expected(wanted);
    return value;
}

std::int64_t JsonReader::signed_integer(std::int64_t low, std::int64_t high) const {
    const bool fits = value_.is_number_integer() &&
                      (!value_.is_number_unsigned() || value_.get<std::uint64_t>() <= std::uint64_t{INT64_MAX});
    const std::int64_t value = fits ? value_.get<std::int64_t>() : 0;
    if (!fits || value < low || value > high) expected(fmt::format("an integer of {} to {}", low, high));
    return value;
}

bool JsonReader::yes_no() const {
    if (!value_.is_boolean()) expected("true or false");
    return value_.get<bool>();
}

double JsonReader::number() const {
    if (!value_.is_number()) expected("a number");
    return value_.get<double>();
}

double JsonReader::number(double low, double high) const {
    const double value = number();
    if (!(value >= low && value <= high)) expected(fmt::format("a number of {} to {}", low, high));
    return value;
}

std::vector<JsonReader> JsonReader::list() const {
    if (!value_.is_array()) expected("a list");
    std::vector<JsonReader> items;
    items.reserve(value_.size());
    for (std::size_t i = 0; i < value_.size(); ++i)
        items.emplace_back(value_[i], file_, line_, fmt::format("{}[{}]", place_, i));
    return items;
}

std::vector<double> JsonReader::numbers() const {
    if (!value_.is_array()) expected("a list of numbers");
    std::vector<double> result;
    result.reserve(value_.size());
    for (std::size_t i = 0; i < value_.size(); ++i) {
        if (!value_[i].is_number())
            throw InputError(file_, line_, fmt::format("{}[{}]", place_, i),
                             "expected a number, found " + json_kind(value_[i]));
        result.push_back(value_[i].get<double>());
    }
    return result;
}

std::vector<std::uint64_t> JsonReader::integers() const {
    std::vector<std::uint64_t> result;
    for (const JsonReader& item : list()) result.push_back(item.integer(0, UINT64_MAX));
    return result;
}

std::vector<std::string> JsonReader::texts() const {
    std::vector<std::string> result;
    for (const JsonReader& item : list()) result.push_back(item.text());
    return result;
}

}  // namespace switchyard
