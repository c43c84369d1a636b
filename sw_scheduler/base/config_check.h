// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace switchyard {

/// "a, b or c"
std::string listed(const std::vector<std::string>& choices);

/// "KEY: expected a, b or c, found VALUE"
std::string not_among(const std::string& key, const std::vector<std::string>& choices, const std::string& value);

/// What a factory of hw/ says of an implementation that it does not make. One of `choices` is RTL: the line names the
/// factory of rtl/, which is called alike. Otherwise as not_among().
std::string not_made(const std::string& key, const std::vector<std::string>& choices, const std::string& impl,
                     const std::string& factory);

/// Visits the fields of a Config that a program has filled itself, as ConfigReader visits those of a file: finds the
/// first that is none of its choices.
class ChoiceChecker {
public:
    explicit ChoiceChecker(std::string prefix) : prefix_(std::move(prefix)) {}

    template <class... Rest>
    void field(const char*, Rest&&...) {}
    void renamed(const char*, const char*) {}
    void choice(const char* key, const std::string& value, const std::vector<std::string>& choices, const char*);

    const std::string& error() const { return error_; }

private:
    std::string prefix_, error_;
};

/// "" or "noc.impl: expected packet, flit, rtl or lockstep, found x". `prefix`: "noc".
template <class Config>
std::string choice_error(Config config, const char* prefix) {
    ChoiceChecker checker(prefix);
    describe(checker, config);
    return checker.error();
}

}  // namespace switchyard
