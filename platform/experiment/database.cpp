// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/experiment/database.h"

#include <sqlite3.h>

#include "switchyard/platform/system/interrupt.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/plain_number.h"

namespace switchyard::platform {

namespace {

constexpr int kBusyMs = 10000;
constexpr int kStepsBetweenLooks = 10000;
/// Of all databases of a process: an expression may build any text.
constexpr sqlite3_int64 kMaxMemoryBytes = sqlite3_int64{512} << 20;

/// Lets a statement read tables and call functions, and nothing else.
int permission(int action, const char* first, const char* second) {
    switch (action) {
        case SQLITE_SELECT:
        case SQLITE_READ:
        case SQLITE_RECURSIVE:
            return SQLITE_OK;
        case SQLITE_FUNCTION:
            return std::string_view(second) == "load_extension" ? SQLITE_DENY : SQLITE_OK;
        case SQLITE_PRAGMA: {
            const std::string_view name(first);
            return name == "table_info" || name == "table_list" ? SQLITE_OK : SQLITE_DENY;
        }
        default:
            return SQLITE_DENY;
    }
}

/// `denied`: a bool, set where a statement may not do what it asks for.
extern "C" int authorize_reading(void* denied, int action, const char* first, const char* second,
                                 const char* /*database*/, const char* /*trigger*/) {
    const int result = permission(action, first, second);
    if (result != SQLITE_OK) *static_cast<bool*>(denied) = true;
    return result;
}

extern "C" int stop_if_interrupted(void* /*context*/) {
    return interrupt_requested() ? 1 : 0;
}

/// SQLite's words for what a statement says; ours for the state of the file.
std::string meaning_of(int status, sqlite3* connection) {
    switch (status & 0xFF) {
        case SQLITE_NOTADB:
            return "is no SQLite database";
        case SQLITE_CORRUPT:
            return "is a damaged SQLite database";
        case SQLITE_CANTOPEN:
            return "cannot be opened as an SQLite database";
        case SQLITE_AUTH:
        case SQLITE_READONLY:
            return "expected a statement that reads: a query changes nothing, here or in another file";
        case SQLITE_NOMEM:
        case SQLITE_TOOBIG:
            return "the statement takes more memory than it may have";
        case SQLITE_BUSY:
            return "another process writes to it";
        default:
            return sqlite3_errmsg(connection);
    }
}

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

Database::Database(const std::string& file, Access access) : file_(file), writes_(access == Access::write) {
    const int flags = access == Access::read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    sqlite3_hard_heap_limit64(kMaxMemoryBytes);
    if (const int status = sqlite3_open_v2(file.c_str(), &connection_, flags, nullptr); status != SQLITE_OK) {
        const std::string message = meaning_of(status, connection_);
        sqlite3_close(connection_);
        throw InputError(file, 0, "", message);
    }
    sqlite3_busy_timeout(connection_, kBusyMs);
    sqlite3_db_config(connection_, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
    sqlite3_db_config(connection_, SQLITE_DBCONFIG_DQS_DDL, 0, nullptr);
    sqlite3_progress_handler(connection_, kStepsBetweenLooks, stop_if_interrupted, nullptr);
    if (access == Access::write) return;
    try {
        run("SELECT count(*) FROM sqlite_master");  // SQLite opens a file that is no database
    } catch (const InputError&) {
        sqlite3_close(connection_);
        throw;
    }
    sqlite3_set_authorizer(connection_, authorize_reading, &denied_);
}

Database::~Database() {
    sqlite3_close(connection_);
}

void Database::fail() const {
    const int status = denied_ ? SQLITE_AUTH : sqlite3_errcode(connection_);
    if (status == SQLITE_INTERRUPT) throw Interrupted("interrupted in a statement of SQL");
    throw InputError(file_, 0, "", meaning_of(status, connection_));
}

void Database::run(const std::string& sql) {
    if (sqlite3_exec(connection_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

Statement::Statement(Database& database, const std::string& sql) : database_(database) {
    const char* rest = nullptr;
    database_.denied_ = false;
    if (sqlite3_prepare_v2(database_.connection_, sql.c_str(), -1, &statement_, &rest) != SQLITE_OK) database_.fail();
    const bool writes = statement_ != nullptr && !database_.writes_ && sqlite3_stmt_readonly(statement_) == 0;
    if (writes) {
        sqlite3_finalize(statement_);
        throw InputError(database_.file(), 0, "", meaning_of(SQLITE_READONLY, nullptr));
    }
    const bool more = std::string_view(rest).find_first_not_of(" \t\n;") != std::string_view::npos;
    if (statement_ != nullptr && !more) return;
    sqlite3_finalize(statement_);
    throw InputError(database_.file(), 0, "", "expected one statement of SQL, found \"" + sql + "\"");
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
        const std::string message = meaning_of(database_.denied_ ? SQLITE_AUTH : status, database_.connection_);
        sqlite3_reset(statement_);
        if (status == SQLITE_INTERRUPT) throw Interrupted("interrupted in a statement of SQL");
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
