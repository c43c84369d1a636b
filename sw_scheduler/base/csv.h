// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/base/text_lines.h"

namespace switchyard {

/// Rows of a CSV file of numbers and words without quotes. Lines that begin with # are comments. Errors are InputError
/// "file:line: column: expected X, found Y".
class CsvReader {
public:
    enum class Header {
        required,  ///< the first line has the names of the columns
        none
    };

    /// Throws InputError: what TextLines refuses, or a header that is missing or has other names.
    CsvReader(const std::string& path, std::vector<std::string> columns, Header header);
    CsvReader(TextLines lines, std::vector<std::string> columns, Header header);

    /// Moves to the next row; false at the end. Throws InputError for a row of another number of fields.
    bool next();
    /// Fields of the current row.
    std::uint64_t integer(std::size_t column, std::uint64_t low, std::uint64_t high) const;
    double number(std::size_t column, double low, double high) const;
    const std::string& one_of(std::size_t column, const std::vector<std::string>& choices) const;
    [[noreturn]] void fail(std::size_t column, const std::string& message) const;
    const std::string& path() const { return lines_.path(); }

private:
    void split();

    TextLines lines_;
    std::vector<std::string> columns_, fields_;
};

}  // namespace switchyard
