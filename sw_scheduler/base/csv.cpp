// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/base/csv.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/plain_number.h"
#include "switchyard/sw_scheduler/base/shown.h"

namespace switchyard {

CsvReader::CsvReader(const std::string& path, std::vector<std::string> columns, Header header)
    : CsvReader(TextLines(path, "CSV"), std::move(columns), header) {}

CsvReader::CsvReader(TextLines lines, std::vector<std::string> columns, Header header)
    : lines_(std::move(lines)), columns_(std::move(columns)) {
    if (header == Header::none) return;
    const std::string wanted = fmt::format("{}", fmt::join(columns_, ","));
    if (!lines_.next()) throw InputError(path(), 0, "", fmt::format("expected the header {}, found nothing", wanted));
    split();
    if (fields_ != columns_) lines_.fail("header", fmt::format("expected {}, found {}", wanted, shown(lines_.line())));
}

bool CsvReader::next() {
    do {
        if (!lines_.next()) return false;
    } while (lines_.line().front() == '#');
    split();
    if (fields_.size() != columns_.size())
        lines_.fail("", fmt::format("expected {} fields, {}, found {}", columns_.size(), fmt::join(columns_, ","),
                                    fields_.size()));
    return true;
}

void CsvReader::split() {
    fields_.clear();
    const std::string& line = lines_.line();
    for (std::size_t begin = 0;;) {
        const std::size_t comma = line.find(',', begin);
        fields_.push_back(line.substr(begin, comma - begin));
        if (comma == std::string::npos) return;
        begin = comma + 1;
    }
}

std::uint64_t CsvReader::integer(std::size_t column, std::uint64_t low, std::uint64_t high) const {
    std::uint64_t value = 0;
    if (parse_plain_number(fields_[column], value) != Parsed::ok || value < low || value > high)
        fail(column, fmt::format("expected an integer of {} to {}, found {}", low, high, shown(fields_[column])));
    return value;
}

double CsvReader::number(std::size_t column, double low, double high) const {
    double value = 0;
    if (parse_plain_number(fields_[column], value) == Parsed::ok && value >= low && value <= high) return value;
    constexpr double kLargest = std::numeric_limits<double>::max();
    const std::string wanted = high < kLargest   ? fmt::format("a number of {} to {}", low, high)
                               : low > -kLargest ? fmt::format("a finite number of {} or more", low)
                                                 : "a finite number";
    fail(column, fmt::format("expected {}, found {}", wanted, shown(fields_[column])));
}

const std::string& CsvReader::one_of(std::size_t column, const std::vector<std::string>& choices) const {
    const std::string& field = fields_[column];
    if (std::find(choices.begin(), choices.end(), field) == choices.end())
        fail(column, fmt::format("expected {}, found {}", fmt::join(choices, " or "), shown(field)));
    return field;
}

void CsvReader::fail(std::size_t column, const std::string& message) const {
    lines_.fail(columns_[column], message);
}

}  // namespace switchyard
