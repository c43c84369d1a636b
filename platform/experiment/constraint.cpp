// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/experiment/constraint.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "switchyard/platform/experiment/database.h"
#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::platform {

namespace {

bool in_name(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

/// Keys as names of columns. Numbers and texts of SQL stay, and so do its own words.
std::string with_quoted_keys(const std::string& text, const std::vector<std::string>& keys) {
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = at + 1;
        if (text[at] == '\'') {
            end = std::min(text.find('\'', end), text.size() - 1) + 1;
        } else if (in_name(text[at])) {
            while (end < text.size() && in_name(text[end])) ++end;
        }
        const std::string word = text.substr(at, end - at);
        result += std::find(keys.begin(), keys.end(), word) != keys.end() ? sql_name(word) : word;
        at = end;
    }
    return result;
}

}  // namespace

Constraint::Constraint(std::string text, const std::vector<std::string>& keys)
    : text_(std::move(text)),
      keys_(keys),
      database_(std::make_unique<Database>(":memory:", Database::Access::expressions)) {
    std::string columns;
    for (std::size_t i = 0; i < keys_.size(); ++i)
        columns += fmt::format("{}?{} AS {}", i == 0 ? "" : ", ", i + 1, sql_name(keys_[i]));
    try {
        statement_ = std::make_unique<Statement>(
            *database_, fmt::format("SELECT ({}) FROM (SELECT {})", with_quoted_keys(text_, keys_), columns));
    } catch (const InputError& error) {
        constexpr std::string_view kFile = ":memory:: ";
        std::string message = error.what();
        if (message.rfind(kFile, 0) == 0) message = message.substr(kFile.size());
        throw InputError(fmt::format("\"{}\": expected a condition in SQL of the keys {}, found an error: {}", text_,
                                     fmt::join(keys_, ", "), message));
    }
}

Constraint::~Constraint() = default;
Constraint::Constraint(Constraint&&) noexcept = default;

bool Constraint::holds(const std::map<std::string, std::string>& values) {
    for (std::size_t i = 0; i < keys_.size(); ++i) {
        const auto found = values.find(keys_[i]);
        const int parameter = static_cast<int>(i) + 1;
        if (found == values.end())
            statement_->bind_null(parameter);
        else
            statement_->bind_value(parameter, found->second);
    }
    statement_->step();
    const bool result = statement_->is_null(0) || statement_->number(0) != 0;
    statement_->step();
    return result;
}

}  // namespace switchyard::platform
