// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/experiment/point_store.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/base/input_file.h"
#include "switchyard/sw_scheduler/base/json_text.h"
#include "switchyard/sw_scheduler/base/replaceable.h"

namespace switchyard::platform {

namespace {

constexpr std::string_view kSqliteMagic("SQLite format 3\0", 16);
constexpr const char* kSchema = R"(
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    CREATE TABLE IF NOT EXISTS point (
        key TEXT PRIMARY KEY, configuration TEXT NOT NULL, version TEXT NOT NULL, state TEXT NOT NULL,
        message TEXT NOT NULL, seconds REAL NOT NULL, ended TEXT NOT NULL, report TEXT);
    CREATE TABLE IF NOT EXISTS input (
        key TEXT NOT NULL, path TEXT NOT NULL, hash TEXT NOT NULL, PRIMARY KEY (key, path));
    CREATE TABLE IF NOT EXISTS sweep (
        name TEXT NOT NULL, number INTEGER NOT NULL, key TEXT NOT NULL, network TEXT NOT NULL, design TEXT NOT NULL,
        settings TEXT NOT NULL, front INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (name, number));
)";

/// Tables of ours in a database of the user, or a file that is no database at all: only if the user says so.
void check_ours(const std::string& file) {
    if (replaceable() == Existing::any || !exists(file)) return;
    InputFile opened(file);
    if (opened.size() == 0) return;
    std::string magic(kSqliteMagic.size(), '\0');
    magic.resize(opened.read(magic.data(), magic.size()));
    if (magic == kSqliteMagic) {
        Database database(file, Database::Access::read);
        Statement tables(database, "SELECT count(*), sum(name = 'point') FROM sqlite_master");
        tables.step();
        if (tables.integer(0) == 0 || tables.integer(1) > 0) return;
    }
    throw InputError(
        file, 0, "",
        "expected a store of this program, found another file; choose another name, or use it with --force");
}

/// A lock that a killed process loses at once, and that its children do not have.
int locked(const std::string& file) {
    const std::string path = file + ".lock";
    make_folder_of(path);
    const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0) throw InputError(path, 0, "", std::string("cannot be written: ") + std::strerror(errno));
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    if (fcntl(descriptor, F_SETLK, &lock) == 0) return descriptor;
    close(descriptor);
    throw InputError(file, 0, "",
                     "expected a store that no process uses, found another process that runs a sweep with it");
}

}  // namespace

nlohmann::ordered_json StoredPoint::parsed_report(const std::string& store) const {
    nlohmann::ordered_json document = parse_ordered_json(report, fmt::format("{}: point {}: report", store, key), 0);
    if (!document.is_object())
        throw InputError(store, 0, "point " + key,
                         fmt::format("expected an object of JSON as the report, found {}", document.type_name()));
    return document;
}

PointStore::PointStore(const std::string& file) : file_(file), lock_(locked(file)) {
    try {
        check_ours(file);
        database_ = std::make_unique<Database>(file, Database::Access::write);
        database_->run(kSchema);
    } catch (...) {
        close(lock_);
        throw;
    }
}

PointStore::~PointStore() {
    database_.reset();
    close(lock_);
}

std::optional<StoredPoint> PointStore::find(const std::string& key) {
    Statement row(*database_,
                  "SELECT configuration, version, state, message, seconds, report FROM point WHERE key = ?1");
    row.bind(1, key);
    if (!row.step()) return std::nullopt;
    StoredPoint point{key, row.text(0), row.text(1), row.text(2), row.text(3), row.number(4), row.text(5)};
    Statement inputs(*database_, "SELECT path, hash FROM input WHERE key = ?1");
    inputs.bind(1, key);
    while (inputs.step()) point.inputs[inputs.text(0)] = inputs.text(1);
    return point;
}

void PointStore::add(const StoredPoint& point) {
    Transaction transaction(*database_);
    Statement row(*database_, "INSERT INTO point VALUES (?1, ?2, ?3, ?4, ?5, ?6, strftime('%Y-%m-%dT%H:%M:%fZ'), ?7)");
    row.bind(1, point.key).bind(2, point.configuration).bind(3, point.version).bind(4, point.state);
    row.bind(5, point.message).bind(6, point.seconds);
    if (point.report.empty())
        row.bind_null(7);
    else
        row.bind(7, point.report);
    row.step();
    Statement input(*database_, "INSERT INTO input VALUES (?1, ?2, ?3)");
    for (const auto& [path, hash] : point.inputs) input.bind(1, point.key).bind(2, path).bind(3, hash).step();
    transaction.commit();
}

void PointStore::remove(const std::string& key) {
    Transaction transaction(*database_);
    for (const char* table : {"point", "input"})
        Statement(*database_, fmt::format("DELETE FROM {} WHERE key = ?1", table)).bind(1, key).step();
    transaction.commit();
}

void PointStore::check_sweep(const std::string& name) {
    Statement damaged(*database_,
                      "SELECT key FROM sweep JOIN point USING (key) WHERE name = ?1 AND report IS NOT NULL AND NOT "
                      "json_valid(report) LIMIT 1");
    if (damaged.bind(1, name).step())
        throw InputError(file_, 0, "point " + damaged.text(0),
                         "expected JSON as the report, found other text or nesting that is too deep; remove the row or "
                         "use another store");
}

void PointStore::set_sweep(const std::string& name, const std::vector<SweepRow>& rows,
                           const std::vector<SweepColumn>& columns) {
    Transaction transaction(*database_);
    Statement(*database_, "DELETE FROM sweep WHERE name = ?1").bind(1, name).step();
    Statement row(*database_,
                  "INSERT INTO sweep (name, number, key, network, design, settings) VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
    for (std::size_t i = 0; i < rows.size(); ++i) {
        row.bind(1, name).bind_integer(2, static_cast<std::int64_t>(i) + 1).bind(3, rows[i].key);
        row.bind(4, rows[i].network).bind(5, rows[i].design).bind(6, rows[i].settings).step();
    }
    std::string selected;
    for (const SweepColumn& column : columns)
        selected += fmt::format("{} AS {}, ", column.source, sql_name(column.name));
    database_->run(
        fmt::format("DROP VIEW IF EXISTS {0}; CREATE VIEW {0} AS SELECT number, network, design, {1}front, "
                    "coalesce(state, 'open') AS state, message, seconds, key FROM sweep LEFT JOIN point "
                    "USING (key) WHERE name = {2} ORDER BY number",
                    sql_name(name), selected, sql_text(name)));
    transaction.commit();
}

void PointStore::set_front(const std::string& name, const std::vector<bool>& front) {
    Transaction transaction(*database_);
    Statement row(*database_, "UPDATE sweep SET front = ?3 WHERE name = ?1 AND number = ?2");
    for (std::size_t i = 0; i < front.size(); ++i)
        row.bind(1, name).bind_integer(2, static_cast<std::int64_t>(i) + 1).bind_integer(3, front[i] ? 1 : 0).step();
    transaction.commit();
}

}  // namespace switchyard::platform
