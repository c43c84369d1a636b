// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/experiment/database.h"

#include <sqlite3.h>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/plain_number.h"

namespace switchyard::platform {

namespace {

constexpr int kBusyMs = 10000;

std::string quoted(std::string_view text, char quote) {
    std::string result(1, quote);
    for (const char c : text) {
        result += c;
        if (c == quote) result += c;
    }
    return result + quote;
}

}  // namespace

std::string sql_name(std::string_view text) {
    return quoted(text, '"');
}

std::string sql_text(std::string_view text) {
    return quoted(text, '\'');
}

Database::Database(const std::string& file, Access access) : file_(file) {
    const int flags = access == Access::read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    if (sqlite3_open_v2(file.c_str(), &connection_, flags, nullptr) != SQLITE_OK) {
        const std::string message = sqlite3_errmsg(connection_);
        sqlite3_close(connection_);
        throw InputError(file, 0, "", message);
    }
    sqlite3_busy_timeout(connection_, kBusyMs);
    sqlite3_db_config(connection_, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
    sqlite3_db_config(connection_, SQLITE_DBCONFIG_DQS_DDL, 0, nullptr);
}

Database::~Database() {
    sqlite3_close(connection_);
}

void Database::fail() const {
    throw InputError(file_, 0, "", sqlite3_errmsg(connection_));
}

void Database::run(const std::string& sql) {
    if (sqlite3_exec(connection_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

Statement::Statement(Database& database, const std::string& sql) : database_(database) {
    const char* rest = nullptr;
    if (sqlite3_prepare_v2(database_.connection_, sql.c_str(), -1, &statement_, &rest) != SQLITE_OK) database_.fail();
    const bool more = std::string_view(rest).find_first_not_of(" \t\n;") != std::string_view::npos;
    if (statement_ != nullptr && !more) return;
    sqlite3_finalize(statement_);
    throw InputError(database_.file(), 0, "", "wants one statement of SQL, got \"" + sql + "\"");
}

Statement::~Statement() {
    sqlite3_finalize(statement_);
}

Statement& Statement::bind(int parameter, const std::string& text) {
    if (sqlite3_bind_text64(statement_, parameter, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8) !=
        SQLITE_OK)
        database_.fail();
    return *this;
}

Statement& Statement::bind(int parameter, double number) {
    if (sqlite3_bind_double(statement_, parameter, number) != SQLITE_OK) database_.fail();
    return *this;
}

Statement& Statement::bind_integer(int parameter, std::int64_t number) {
    if (sqlite3_bind_int64(statement_, parameter, number) != SQLITE_OK) database_.fail();
    return *this;
}

Statement& Statement::bind_value(int parameter, const std::string& text) {
    std::int64_t integer = 0;
    if (parse_plain_number(text, integer) == Parsed::ok) return bind_integer(parameter, integer);
    double number = 0;
    if (parse_plain_number(text, number) == Parsed::ok) return bind(parameter, number);
    return bind(parameter, text);
}

Statement& Statement::bind_null(int parameter) {
    if (sqlite3_bind_null(statement_, parameter) != SQLITE_OK) database_.fail();
    return *this;
}

bool Statement::step() {
    const int status = sqlite3_step(statement_);
    if (status == SQLITE_ROW) return true;
    if (status != SQLITE_DONE) {
        const std::string message = sqlite3_errmsg(database_.connection_);
        sqlite3_reset(statement_);
        throw InputError(database_.file(), 0, "", message);
    }
    sqlite3_reset(statement_);
    return false;
}

int Statement::columns() const {
    return sqlite3_column_count(statement_);
}

std::string Statement::name(int column) const {
    return sqlite3_column_name(statement_, column);
}

bool Statement::is_null(int column) const {
    return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

bool Statement::is_number(int column) const {
    const int type = sqlite3_column_type(statement_, column);
    return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

std::string Statement::text(int column) const {
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    return bytes == nullptr ? ""
                            : std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
}

double Statement::number(int column) const {
    return sqlite3_column_double(statement_, column);
}

std::int64_t Statement::integer(int column) const {
    return sqlite3_column_int64(statement_, column);
}

Transaction::~Transaction() {
    if (!open_) return;
    try {
        database_.run("ROLLBACK");
    } catch (const InputError&) {  // SQLite has rolled it back already
    }
}

void Transaction::commit() {
    database_.run("COMMIT");
    open_ = false;
}

}  // namespace switchyard::platform
