// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <systemc>

#include "switchyard/platform/apps/command_line.h"
#include "switchyard/platform/apps/executor_options.h"
#include "switchyard/platform/apps/exit_status.h"
#include "switchyard/platform/apps/git_description.h"
#include "switchyard/platform/apps/self_description.h"
#include "switchyard/platform/apps/systems.h"
#include "switchyard/platform/experiment/database.h"
#include "switchyard/platform/experiment/run_sweep.h"
#include "switchyard/platform/experiment/stored_run.h"
#include "switchyard/platform/experiment/sweep_page.h"
#include "switchyard/platform/system/interrupt.h"
#include "switchyard/platform/system/report_parts.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"

using namespace switchyard;

namespace {

constexpr int kFailedPoint = 1;

struct RunCommand {
    std::string file, json, report;
    platform::SweepOptions options;
    platform::ExecutorCommandLine executor;

    void add_to(CLI::App& app) {
        app.add_option("sweep", file, "sweep file (YAML)")->required();
        app.add_option("--store", options.store, "SQLite file with the results; made if there is none")->required();
        executor.add_to(app);
        app.add_flag("--retry", options.retry, "run the points that failed once more");
        app.add_flag("--quiet", options.quiet, "no progress and no table");
        app.add_option("--json", json, "file for the numbers of points");
        app.add_option("--report", report, "folder for the page index.html");
    }

    int run() {
        const platform::Sweep sweep = platform::read_sweep(file);
        options.executor = executor.options(options.store, {"work", file});
        platform::catch_interrupts();
        const platform::SweepOutcome outcome =
            platform::run_sweep(sweep, platform::all_systems(), platform::program_hash(), options);
        const std::size_t done = outcome.known + outcome.ran - outcome.infeasible - outcome.failed;
        if (!json.empty())
            platform::write_json({{"format", "switchyard-sweep"},
                                  {"version", 1},
                                  {"name", sweep.name},
                                  {"points", outcome.points},
                                  {"known", outcome.known},
                                  {"ran", outcome.ran},
                                  {"done", done},
                                  {"infeasible", outcome.infeasible},
                                  {"failed", outcome.failed},
                                  {"ok", outcome.checks_hold},
                                  {"interrupted", outcome.interrupted}},
                                 json);
        if (!report.empty()) {
            make_folder_of(report + "/index.html");
            write_file(platform::sweep_page(sweep, options.store), report + "/index.html");
        }
        if (!options.quiet) fmt::print("{}", platform::front_table(sweep, options.store));
        if (!options.quiet)
            fmt::print("{}: {} points: {} known, {} run; {} done, {} infeasible, {} failed{}\n", sweep.name,
                       outcome.points, outcome.known, outcome.ran, done, outcome.infeasible, outcome.failed,
                       outcome.interrupted ? "; interrupted, the same command goes on" : "");
        if (outcome.interrupted) return platform::kInterrupted;
        return outcome.failed > 0 || !outcome.checks_hold ? kFailedPoint : 0;
    }
};

/// What other machines do: one point of a sweep, whose answer goes to a file.
struct WorkCommand {
    std::string file, key, answer;
    std::size_t number = 0;

    void add_to(CLI::App& app) {
        app.add_option("sweep", file, "sweep file (YAML)")->required();
        app.add_option("number", number, "of the point")->required();
        app.add_option("--key", key, "hash that the point must have")->required();
        app.add_option("--answer", answer, "file to write the answer to")->required();
    }

    int run() const {
        const std::vector<platform::SweepPoint> points = points_of(platform::read_sweep(file));
        if (number >= points.size())
            throw InputError(file, 0, "", fmt::format("expected a point of the sweep, found {}", number));
        platform::answer_point(points[number].run, platform::all_systems(), platform::program_hash(), key, answer);
        return 0;
    }
};

struct QueryCommand {
    std::string store, sql, sweep;
    bool csv = false, json = false;

    void add_to(CLI::App& app) {
        app.add_option("sql", sql, "one statement of SQL; default: the sweep's rows");
        app.add_option("--store", store, "SQLite file with the results")->required();
        app.add_option("--sweep", sweep, "all rows of this sweep");
        CLI::Option* const as_csv = app.add_flag("--csv", csv, "print CSV");
        app.add_flag("--json", json, "print JSON")->excludes(as_csv);
    }

    int run() const {
        if (sql.empty() == sweep.empty())
            throw CLI::ValidationError("query", "expected either SQL or --sweep NAME, found both or neither");
        platform::catch_interrupts();
        using platform::RowFormat;
        const RowFormat format = csv ? RowFormat::csv : json ? RowFormat::json : RowFormat::table;
        const std::string statement = sql.empty() ? "SELECT * FROM " + platform::sql_name(sweep) : sql;
        fmt::print("{}", platform::query_store(store, statement, format));
        return 0;
    }
};

}  // namespace

/// Debian's SystemC library asks for this symbol; the program has a main of its own.
int sc_main(int, char**) {
    return 0;
}

int main(int argc, char** argv) {
    CLI::App app("Runs sweeps of design points and keeps their results.", "sy-sweep");
    app.require_subcommand(1);
    app.set_version_flag("--version", platform::version_text("sy-sweep", platform::git_description()));
    RunCommand run;
    CLI::App* run_command = app.add_subcommand("run", "run the points of a sweep that the store does not have");
    run.add_to(*run_command);
    WorkCommand work;
    CLI::App* work_command = app.add_subcommand("work", "run one point for a sweep on another machine");
    work.add_to(*work_command);
    QueryCommand query;
    CLI::App* query_command = app.add_subcommand("query", "print rows of a store");
    query.add_to(*query_command);
    return platform::run_program(app, argc, argv, [&] {
        if (work_command->parsed()) return work.run();
        return run_command->parsed() ? run.run() : query.run();
    });
}
