// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace switchyard::platform {

/// A text as an identifier of SQL, in double quotes, or as a text of SQL, in single ones.
std::string sql_name(std::string_view text);
std::string sql_text(std::string_view text);

/// An SQLite database. A statement that runs where interrupt_requested() throws Interrupted. All other errors of the of
/// this file are InputError "FILE: message". A name in double quotes is never a text, so that an unknown column is an
/// error.
class Database {
public:
    enum class Access {
        read,        ///< statements of a user, which must change nothing, here or in another file
        write,       ///< statements of ours
        expressions  ///< a database in memory, for expressions of a user
    };

    /// ":memory:" is a database of its own. With Access::write the file is made if there is none.
    Database(const std::string& file, Access access);
    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    /// One or more statements without results.
    void run(const std::string& sql);
    const std::string& file() const { return file_; }

private:
    friend class Statement;
    [[noreturn]] void fail() const;

    std::string file_;
    bool writes_;
    bool denied_ = false;  ///< of the statement that was prepared last: it would write
    sqlite3* connection_ = nullptr;
};

/// One prepared statement. Parameters count from 1, columns from 0.
class Statement {
public:
    Statement(Database& database, const std::string& sql);
    ~Statement();
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;

    Statement& bind(int parameter, const std::string& text);
    Statement& bind(int parameter, double number);
    Statement& bind_integer(int parameter, std::int64_t number);
    /// A number where the text is one.
    Statement& bind_value(int parameter, const std::string& text);
    Statement& bind_null(int parameter);

    /// The next row; false after the last one, and the statement can be bound and stepped again.
    bool step();
    int columns() const;
    std::string name(int column) const;
    bool is_null(int column) const;
    bool is_number(int column) const;
    std::string text(int column) const;
    double number(int column) const;
    std::int64_t integer(int column) const;

private:
    Database& database_;
    sqlite3_stmt* statement_ = nullptr;
};

/// All between construction and commit(), or nothing of it.
class Transaction {
public:
    explicit Transaction(Database& database) : database_(database) { database_.run("BEGIN IMMEDIATE"); }
    ~Transaction();
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    void commit();

private:
    Database& database_;
    bool open_ = true;
};

}  // namespace switchyard::platform
