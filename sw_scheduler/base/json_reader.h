// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace switchyard {

/// A value of a JSON document together with its place, "layers.input.weights". Every function throws InputError
/// "file:line: place: expected X, found Y" for a value of another type, size or range.
class JsonReader {
public:
    /// `value` must outlive the reader. `line`: of JSON Lines, 0 for a document.
    JsonReader(const nlohmann::json& value, std::string file, int line = 0, std::string place = "");

    bool has(const std::string& key) const;
    JsonReader member(const std::string& key) const;
    /// Refuses other keys than these.
    void allow(const std::vector<std::string>& keys) const;
    /// A document's `format` and `version`. `what`: "pilot", for the message.
    void check_format(const std::string& format, int version, const std::string& what) const;

    std::string text() const;
    std::uint64_t integer(std::uint64_t low, std::uint64_t high) const;
    std::int64_t signed_integer(std::int64_t low, std::int64_t high) const;
    bool yes_no() const;
    double number(double low, double high) const;
    double number() const;  ///< any
    std::vector<JsonReader> list() const;
    std::vector<double> numbers() const;
    std::vector<std::uint64_t> integers() const;
    std::vector<std::string> texts() const;

    [[noreturn]] void fail(const std::string& message) const;
    const nlohmann::json& json() const { return value_; }

private:
    [[noreturn]] void expected(const std::string& what) const;

    const nlohmann::json& value_;
    std::string file_, place_;
    int line_;
};

}  // namespace switchyard
