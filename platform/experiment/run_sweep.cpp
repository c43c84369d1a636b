// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/experiment/run_sweep.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/platform/experiment/measure.h"
#include "switchyard/platform/experiment/pareto.h"
#include "switchyard/platform/experiment/stored_run.h"
#include "switchyard/platform/experiment/used_keys.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/json_text.h"
#include "switchyard/sw_scheduler/base/plain_number.h"

namespace switchyard::platform {

using nlohmann::ordered_json;

namespace {

class Progress {
public:
    Progress(std::string name, std::size_t points, bool quiet)
        : name_(std::move(name)), points_(points), quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1) {}
    ~Progress() {
        if (!quiet_ && terminal_ && ended_ > 0) fmt::print(stderr, "\n");
    }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void point_ended() {
        ++ended_;
        const double now = seconds(started_);
        const bool due = ended_ == points_ || seconds(printed_) >= (terminal_ ? kTerminalSeconds : kFileSeconds);
        if (quiet_ || !due) return;
        printed_ = Clock::now();
        const double rate = static_cast<double>(ended_) / std::max(now, 1e-9);
        fmt::print(stderr, "{}{}: {} of {} points, {:.3g} points/s, {:.0f} s left{}", terminal_ ? "\r\x1b[K" : "",
                   name_, ended_, points_, rate, static_cast<double>(points_ - ended_) / rate, terminal_ ? "" : "\n");
        std::fflush(stderr);
    }
    void message(const std::string& text) {
        if (!quiet_) fmt::print(stderr, "{}{}\n", terminal_ ? "\r\x1b[K" : "", text);
    }

private:
    using Clock = std::chrono::steady_clock;
    static constexpr double kTerminalSeconds = 0.2, kFileSeconds = 5;
    static double seconds(Clock::time_point since) {
        return std::chrono::duration<double>(Clock::now() - since).count();
    }

    std::string name_;
    std::size_t points_, ended_ = 0;
    bool quiet_, terminal_;
    Clock::time_point started_ = Clock::now(), printed_ = started_;
};

/// json_extract of a key with dots.
std::string extracted(const std::string& column, const std::vector<std::string>& path) {
    std::string text = "$";
    for (const std::string& part : path) text += "." + sql_name(part);
    return fmt::format("json_extract({}, {})", column, sql_text(text));
}

std::vector<std::string> parts_of(const std::string& key) {
    std::vector<std::string> parts(1);
    for (const char c : key) {
        if (c == '.')
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}

std::vector<SweepColumn> columns_of(const Sweep& sweep) {
    std::vector<SweepColumn> columns;
    for (const Sweep::Axis& axis : sweep.axes)
        for (const std::string& key : axis.keys) columns.push_back({key, extracted("settings", {key})});
    for (const Sweep::Objective& objective : sweep.objectives)
        columns.push_back({objective.name, extracted("report", parts_of(objective.measure))});
    return columns;
}

/// The number that a text is, else the text.
ordered_json value_of(const std::string& text) {
    std::int64_t whole = 0;
    std::uint64_t large = 0;
    double number = 0;
    if (parse_plain_number(text, whole) == Parsed::ok) return whole;
    if (parse_plain_number(text, large) == Parsed::ok) return large;
    if (parse_plain_number(text, number) == Parsed::ok) return number;
    return text;
}

/// Values of the axes: numbers where they are numbers, so that SQL compares them as such.
ordered_json settings_json(const SweepPoint& point) {
    ordered_json settings = ordered_json::object();
    for (const auto& [key, value] : point.settings) settings[key] = value_of(value);
    return settings;
}

class SweepRun {
public:
    SweepRun(const Sweep& sweep, const SystemRegistry& registry, const std::string& version,
             const SweepOptions& options)
        : sweep_(sweep),
          options_(options),
          points_(points_of(sweep)),
          stored_(registry, version, options.store, options.retry) {
        UsedKeys used;
        for (const SweepPoint& point : points_)
            add_work(used, point.run, registry, {"networks: " + point.network}, {"designs: " + point.design});
        used.check(sweep.file);
    }

    SweepOutcome run() {
        find_keys();
        const std::vector<std::size_t> open = open_points();
        outcome_.known = outcome_.points - open.size();
        run_points(open);
        count();
        return outcome_;
    }

private:
    /// A key or file that is wrong for every point is wrong in the sweep's file.
    void find_keys() {
        for (const SweepPoint& point : points_) keys_of_points_.push_back(stored_.keys().of(point.run));
        const auto wrong = [](const PointKeys::Key& key) { return !key.error.empty(); };
        for (const Sweep::Design& design : sweep_.designs) {
            std::size_t of_design = 0, refused = 0, first = 0;
            for (std::size_t i = 0; i < points_.size(); ++i) {
                if (points_[i].design != design.name) continue;
                ++of_design;
                if (wrong(keys_of_points_[i]) && refused++ == 0) first = i;
            }
            if (of_design > 0 && refused == of_design)
                throw InputError(sweep_.file, 0, points_[first].name(), keys_of_points_[first].error);
        }
        std::vector<SweepRow> rows;
        std::set<std::string> unique;
        for (std::size_t i = 0; i < points_.size(); ++i) {
            const std::string& key = keys_of_points_[i].hash;
            rows.push_back({key, points_[i].network, points_[i].design, json_text(settings_json(points_[i]))});
            unique.insert(key);
        }
        outcome_.points = unique.size();
        stored_.store().check_sweep(sweep_.name);
        stored_.store().set_sweep(sweep_.name, rows, columns_of(sweep_));
    }

    std::vector<std::size_t> open_points() {
        std::vector<std::size_t> open;
        std::set<std::string> seen;
        for (std::size_t i = 0; i < points_.size(); ++i) {
            const std::string& key = keys_of_points_[i].hash;
            if (seen.insert(key).second && !stored_.is_known(key)) open.push_back(i);
        }
        return open;
    }

    void run_points(const std::vector<std::size_t>& open) {
        Progress progress(sweep_.name, open.size(), options_.quiet);
        if (outcome_.known > 0)
            progress.message(fmt::format("{}: {} of {} points are in {}", sweep_.name, outcome_.known, outcome_.points,
                                         options_.store));
        std::vector<StoredTask> tasks;
        tasks.reserve(open.size());
        for (const std::size_t i : open) tasks.push_back({i, keys_of_points_[i].hash, &points_[i].run});
        outcome_.interrupted = !stored_.run(tasks, options_.executor, [&](std::size_t index, const StoredPoint& ended) {
            const SweepPoint& point = points_[open[index]];
            ++outcome_.ran;
            if (ended.state != kDone)
                progress.message(fmt::format("{}: {}: {}", point.name(), ended.state, ended.message));
            progress.point_ended();
            if (ended.state == kDone) check_measures(ended.parsed_report(options_.store), point);
        });
    }

    /// So that a misspelt measure does not wait for the rest.
    void check_measures(const ordered_json& report, const SweepPoint& point) const {
        for (const Sweep::Objective& objective : sweep_.objectives)
            if (numbers_at(report, objective.measure).size() != 1)
                throw InputError(sweep_.file, 0, "objectives",
                                 fmt::format("expected a number {} in the report of {}, found none", objective.measure,
                                             point.name()));
    }

    void count() {
        std::vector<bool> front(points_.size(), false);
        std::map<std::string, std::pair<std::vector<std::size_t>, std::vector<std::vector<double>>>> networks;
        std::set<std::string> counted;
        for (std::size_t i = 0; i < points_.size(); ++i) {
            const std::string& key = keys_of_points_[i].hash;
            const std::optional<StoredPoint> stored = stored_.store().find(key);
            if (!stored) continue;
            const bool first = counted.insert(key).second;
            if (first && stored->state == kInfeasible) ++outcome_.infeasible;
            if (first && stored->state == kFailed) ++outcome_.failed;
            if (stored->state != kDone) continue;
            const ordered_json report = stored->parsed_report(options_.store);
            outcome_.checks_hold = outcome_.checks_hold && report.value("ok", true);
            check_measures(report, points_[i]);
            std::vector<double> values;
            for (const Sweep::Objective& objective : sweep_.objectives)
                if (objective.sign != 0)
                    values.push_back(objective.sign * numbers_at(report, objective.measure).front());
            auto& [indices, of_network] = networks[points_[i].network];
            indices.push_back(i);
            of_network.push_back(std::move(values));
        }
        for (const auto& [name, entry] : networks) {
            const std::vector<bool> on_front = pareto_front(entry.second);
            for (std::size_t i = 0; i < on_front.size(); ++i) front[entry.first[i]] = on_front[i];
        }
        stored_.store().set_front(sweep_.name, front);
    }

    const Sweep& sweep_;
    const SweepOptions& options_;
    std::vector<SweepPoint> points_;
    StoredRun stored_;
    std::vector<PointKeys::Key> keys_of_points_;
    SweepOutcome outcome_;
};

std::string csv_field(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    return sql_name(text);  // the same quotes
}

ordered_json json_value(const Statement& statement, int column) {
    if (statement.is_null(column)) return nullptr;
    if (!statement.is_number(column)) return statement.text(column);
    return value_of(statement.text(column));
}

/// Columns as wide as their widest value.
std::string left_aligned(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths(rows.front().size(), 0);
    for (const auto& row : rows)
        for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
    std::string text;
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t c = 0; c < row.size(); ++c) line += fmt::format("{:<{}}  ", row[c], widths[c]);
        text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return text;
}

}  // namespace

SweepOutcome run_sweep(const Sweep& sweep, const SystemRegistry& registry, const std::string& version,
                       const SweepOptions& options) {
    return SweepRun(sweep, registry, version, options).run();
}

std::string query_store(const std::string& store, const std::string& sql, RowFormat format) {
    Database database(store, Database::Access::read);
    Statement statement(database, sql);
    std::vector<std::vector<std::string>> rows(1);
    for (int c = 0; c < statement.columns(); ++c) rows.front().push_back(statement.name(c));
    ordered_json list = ordered_json::array();
    while (statement.step()) {
        ordered_json object = ordered_json::object();
        std::vector<std::string> row;
        for (int c = 0; c < statement.columns(); ++c) {
            object[statement.name(c)] = json_value(statement, c);
            row.push_back(statement.text(c));
        }
        if (format == RowFormat::json)
            list.push_back(std::move(object));
        else
            rows.push_back(std::move(row));
    }
    if (format == RowFormat::json) return json_text(list, 2) + "\n";
    if (format == RowFormat::table) return left_aligned(rows);
    std::string text;
    for (const auto& row : rows) {
        for (std::size_t c = 0; c < row.size(); ++c) text += (c == 0 ? "" : ",") + csv_field(row[c]);
        text += "\r\n";
    }
    return text;
}

std::string front_table(const Sweep& sweep, const std::string& store) {
    std::string columns = "network, design";
    for (const SweepColumn& column : columns_of(sweep)) columns += ", " + sql_name(column.name);
    const auto first = std::find_if(sweep.objectives.begin(), sweep.objectives.end(),
                                    [](const Sweep::Objective& objective) { return objective.sign != 0; });
    if (first == sweep.objectives.end()) return "";
    return "Pareto front\n" +
           query_store(store,
                       fmt::format("SELECT {} FROM {} WHERE front ORDER BY network, {} {}", columns,
                                   sql_name(sweep.name), sql_name(first->name), first->sign > 0 ? "ASC" : "DESC"),
                       RowFormat::table);
}

}  // namespace switchyard::platform
