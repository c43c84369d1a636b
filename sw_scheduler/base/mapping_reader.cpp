// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/base/mapping_reader.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "switchyard/sw_scheduler/base/config.h"
#include "switchyard/sw_scheduler/base/plain_number.h"
#include "switchyard/sw_scheduler/base/shown.h"
#include "switchyard/sw_scheduler/base/suggestion.h"

namespace switchyard::sched {

namespace {

bool to_integer(const std::string& text, std::int64_t& value) {
    return parse_plain_number(text, value) == Parsed::ok;
}

std::vector<std::string> names(const Variables& variables) {
    std::vector<std::string> result;
    for (const auto& [name, value] : variables) result.push_back(name);
    return result;
}

/// "<name>", "<name+2>", "<name-1>" -> value; false if there is no such variable, or it is no number but has an offset.
bool evaluate(const std::string& placeholder, const Variables& variables, std::string& value) {
    const std::size_t sign = placeholder.find_first_of("+-");
    const auto variable = variables.find(placeholder.substr(0, sign));
    if (variable == variables.end()) return false;
    value = variable->second;
    if (sign == std::string::npos) return true;
    std::int64_t base = 0, offset = 0, sum = 0;
    if (!to_integer(value, base) || !to_integer(placeholder.substr(sign + 1), offset)) return false;
    if (placeholder[sign] == '+' ? __builtin_add_overflow(base, offset, &sum)
                                 : __builtin_sub_overflow(base, offset, &sum))
        return false;
    value = std::to_string(sum);
    return true;
}

}  // namespace

MappingReader::MappingReader(const YAML::Node& mapping, std::string file, std::string prefix, Variables variables)
    : file_(std::move(file)), prefix_(std::move(prefix)), variables_(std::move(variables)), line_(line_of(mapping)) {
    if (!mapping.IsMap())
        throw InputError(file_, line_, prefix_, "expected a mapping of keys, found " + kind_of(mapping));
    for (const auto& entry : mapping) {
        if (!entry.first.IsScalar() || entry.first.Scalar().find('\n') != std::string::npos)
            throw InputError(file_, line_of(entry.first), prefix_,
                             "expected one line of text as a key, found " + kind_of(entry.first));
        const std::string key = entry.first.Scalar();
        lines_.emplace(key, line_of(entry.first));
        if (!nodes_.emplace(key, entry.second).second)
            throw InputError(file_, line_of(entry.first), full_key(key), "expected the key once, found it twice");
    }
}

std::string MappingReader::text(const std::string& key) {
    return scalar(require(key), key);
}

std::string MappingReader::text_or(const std::string& key, const std::string& fallback) {
    return has(key) ? text(key) : fallback;
}

std::string MappingReader::choice_or(const std::string& key, const std::vector<std::string>& choices) {
    std::string value = text_or(key, choices.front());
    if (std::find(choices.begin(), choices.end(), value) == choices.end())
        fail(key, fmt::format("expected one of {}, found \"{}\"", fmt::join(choices, ", "), value));
    return value;
}

std::uint64_t MappingReader::integer(const std::string& key, std::uint64_t low, std::uint64_t high) {
    const std::string value = text(key);
    std::uint64_t result = 0;
    const Parsed parsed = parse_plain_number(value, result);
    if (parsed == Parsed::malformed) fail(key, "expected a plain integer, found \"" + value + "\"");
    if (parsed == Parsed::out_of_range || result < low || result > high)
        fail(key, fmt::format("expected {} to {}, found {}", low, high, value));
    return result;
}

std::uint64_t MappingReader::integer_or(const std::string& key, std::uint64_t low, std::uint64_t high,
                                        std::uint64_t fallback) {
    return has(key) ? integer(key, low, high) : fallback;
}

double MappingReader::number_or(const std::string& key, double low, double high, double fallback) {
    return has(key) ? to_number(require(key), key, low, high) : fallback;
}

std::vector<double> MappingReader::numbers(const std::string& key, double low, double high) {
    std::vector<double> result;
    for (const YAML::Node& element : list(key)) result.push_back(to_number(element, key, low, high));
    return result;
}

std::vector<std::string> MappingReader::texts(const std::string& key) {
    const YAML::Node& value = require(key);
    if (!value.IsSequence()) return {scalar(value, key)};
    std::vector<std::string> result;
    for (const YAML::Node& element : value) result.push_back(scalar(element, key));
    return result;
}

MappingReader MappingReader::mapping(const std::string& key) {
    return MappingReader(require(key), file_, full_key(key), variables_);
}

YAML::Node MappingReader::node(const std::string& key) {
    return require(key);
}

std::vector<YAML::Node> MappingReader::list(const std::string& key) {
    const YAML::Node& value = require(key);
    if (!value.IsSequence()) fail(key, "expected a list, found " + kind_of(value));
    return std::vector<YAML::Node>(value.begin(), value.end());
}

void MappingReader::allow(const std::vector<std::string>& keys) const {
    std::set<std::string> known = seen_;
    known.insert(keys.begin(), keys.end());
    refuse_all_but(known);
}

void MappingReader::finish() const {
    refuse_all_but(seen_);
}

void MappingReader::refuse_all_but(const std::set<std::string>& known) const {
    std::string first;
    for (const auto& [key, line] : lines_)
        if (!known.count(key) && (first.empty() || line < lines_.at(first))) first = key;
    if (!first.empty()) fail(first, not_one_of(first, {known.begin(), known.end()}));
}

std::string MappingReader::scalar(const YAML::Node& node, const std::string& key) const {
    if (!node.IsScalar()) fail(key, "expected one value, found " + kind_of(node));
    const std::string& raw = node.Scalar();
    if (raw.find('\n') != std::string::npos) fail(key, "expected one line of text, found " + shown(raw));
    // Where there are no variables, "<" is a letter of a title.
    std::string result = variables_.empty() ? raw : "";
    for (std::size_t at = result.size(); at < raw.size();) {
        const std::size_t open = raw.find('<', at);
        const std::size_t close = open == std::string::npos ? open : raw.find('>', open);
        result += raw.substr(at, open == std::string::npos ? open : open - at);
        if (open == std::string::npos) break;
        std::string value;
        if (close == std::string::npos || !evaluate(raw.substr(open + 1, close - open - 1), variables_, value))
            fail(key, fmt::format("expected <{}>, found {}", fmt::join(names(variables_), "> or <"), shown(raw)));
        result += value;
        at = close + 1;
    }
    if (result.empty()) fail(key, "expected a value, found nothing");
    return result;
}

int MappingReader::line_of_key(const std::string& key) const {
    const auto found = lines_.find(key);
    return found == lines_.end() ? line_ : found->second;
}

void MappingReader::fail(const std::string& key, const std::string& message) const {
    throw InputError(file_, line_of_key(key), full_key(key), message);
}

const YAML::Node& MappingReader::require(const std::string& key) {
    seen_.insert(key);
    const auto found = nodes_.find(key);
    if (found == nodes_.end()) fail(key, "expected a value, found nothing");
    return found->second;
}

double MappingReader::to_number(const YAML::Node& node, const std::string& key, double low, double high) const {
    const std::string value = scalar(node, key);
    double result = 0;
    if (parse_plain_number(value, result) != Parsed::ok) fail(key, "expected a plain number, found \"" + value + "\"");
    if (result < low || result > high) fail(key, fmt::format("expected {:g} to {:g}, found {}", low, high, value));
    return result;
}

std::string MappingReader::full_key(const std::string& key) const {
    if (prefix_.empty() || key.empty()) return prefix_ + key;
    return prefix_ + "." + key;
}

}  // namespace switchyard::sched
