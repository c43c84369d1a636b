// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace switchyard::platform {

class Database;
class Statement;

/// A condition between keys of a point, an expression of SQL: "chip.columns * chip.rows <= 16 and design <> 'm-tile'".
/// Keys stand as they are, with their dots.
class Constraint {
public:
    /// `keys`: that it may name. Throws InputError for an unknown name and for what is no expression.
    Constraint(std::string text, const std::vector<std::string>& keys);
    ~Constraint();
    Constraint(Constraint&&) noexcept;
    Constraint& operator=(Constraint&&) = delete;

    /// As a CHECK of SQL: true as well where a key that the point does not have makes the expression NULL.
    bool holds(const std::map<std::string, std::string>& values);
    const std::string& text() const { return text_; }

private:
    std::string text_;
    std::vector<std::string> keys_;
    std::unique_ptr<Database> database_;
    std::unique_ptr<Statement> statement_;
};

}  // namespace switchyard::platform
