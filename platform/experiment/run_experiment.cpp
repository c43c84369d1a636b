// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/experiment/run_experiment.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/platform/experiment/experiment_report.h"
#include "switchyard/platform/experiment/figure.h"
#include "switchyard/platform/experiment/measure.h"
#include "switchyard/platform/experiment/stored_run.h"
#include "switchyard/platform/system/page.h"
#include "switchyard/platform/system/report_parts.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/base/json_text.h"
#include "switchyard/sw_scheduler/base/output_marker.h"
#include "switchyard/sw_scheduler/base/replaceable.h"

namespace switchyard::platform {

namespace {

namespace fs = std::filesystem;

/// Before the work, not after it: can results be written?
void prepare_folder(const std::string& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error || access(folder.c_str(), W_OK) != 0)
        throw InputError(folder, 0, "", "cannot be written" + (error ? ": " + error.message() : ""));
}

/// Of a point's answer (point_answer()) or of the store. Throws what a failed point has to say.
PointResult result_of(const ExperimentPoint& point, const std::string& state, const std::string& message,
                      nlohmann::ordered_json report) {
    if (state == kInfeasible) return {point, nullptr, message};
    if (state == kFailed) throw std::runtime_error(message);
    return {point, std::move(report), ""};
}

class ExperimentRun {
public:
    ExperimentRun(const Experiment& experiment, const std::vector<ExperimentPoint>& points,
                  const SystemRegistry& registry, const ExperimentOptions& options)
        : experiment_(experiment), points_(points), registry_(registry), options_(options), results_(points.size()) {}

    std::vector<PointResult> run() {
        if (options_.store.empty())
            run_without_store();
        else
            run_with_store();
        return std::move(results_);
    }

private:
    void note(std::size_t index, PointResult result, double seconds) {
        results_[index] = std::move(result);
        std::string outcome;
        if (results_[index].infeasible.empty())
            check_measures(experiment_, results_[index]);
        else
            outcome = fmt::format("a gap: {}, ", results_[index].infeasible);
        for (const double value : numbers_at(results_[index].report, "summary.latency_us.mean"))
            outcome = fmt::format("{:.2f} us a batch, ", value);
        ++ended_;
        if (options_.quiet) return;
        fmt::print(stderr, "[{:>{}}/{}] {}: {}{:.1f} s\n", ended_, fmt::formatted_size("{}", points_.size()),
                   points_.size(), points_[index].name(), outcome, seconds);
        std::fflush(stderr);
    }

    [[noreturn]] void fail(std::size_t index, const std::string& message) const {
        throw std::runtime_error(fmt::format("{}: {}: {}", experiment_.file, points_[index].name(), message));
    }

    void run_without_store() {
        const auto finished = [&](std::size_t index, const std::string& text, double seconds) {
            nlohmann::ordered_json answer = parse_ordered_json(text, "answer of a process");
            const auto state = answer.at("state").get<std::string>();
            const std::string message = answer.value("message", "");
            if (state == kFailed) fail(index, message);
            note(index, result_of(points_[index], state, message, answer.value("report", nlohmann::ordered_json())),
                 seconds);
        };
        std::vector<ExecutorTask> tasks;
        for (std::size_t i = 0; i < points_.size(); ++i) tasks.push_back({i, std::to_string(i)});
        const bool all = execute(
            tasks, options_.executor, [&](std::size_t index) { return point_answer(points_[index].run, registry_); },
            finished, [&](std::size_t index, const std::string& message, double) { fail(index, message); });
        if (!all) throw ExperimentInterrupted();
    }

    void run_with_store() {
        StoredRun stored(registry_, options_.version, options_.store, options_.retry);
        std::vector<StoredTask> tasks;
        std::map<std::string, std::vector<std::size_t>> same;  // points by key
        for (std::size_t i = 0; i < points_.size(); ++i) {
            const std::string key = stored.keys().of(points_[i].run).hash;
            std::vector<std::size_t>& indices = same[key];
            indices.push_back(i);
            if (indices.size() > 1 || stored.is_known(key)) continue;
            tasks.push_back({i, key, &points_[i].run});
        }
        const auto take = [&](std::size_t index, const StoredPoint& point, double seconds) {
            if (point.state == kFailed) fail(index, point.message);
            nlohmann::ordered_json report;
            if (!point.report.empty()) report = point.parsed_report(options_.store);
            note(index, result_of(points_[index], point.state, point.message, std::move(report)), seconds);
        };
        const bool all = stored.run(tasks, options_.executor, [&](std::size_t at, const StoredPoint& point) {
            for (const std::size_t index : same.at(point.key)) take(index, point, point.seconds);
            same.erase(point.key);
            (void)at;
        });
        if (!all) throw ExperimentInterrupted();
        for (const auto& [key, indices] : same)
            for (const std::size_t index : indices) take(index, *stored.store().find(key), 0);
    }

    const Experiment& experiment_;
    const std::vector<ExperimentPoint>& points_;
    const SystemRegistry& registry_;
    const ExperimentOptions& options_;
    std::vector<PointResult> results_;
    std::size_t ended_ = 0;
};

/// All of them or none: until then what an earlier run left stays. results.json last, for those who wait for it.
void write_results(const Experiment& experiment, const std::vector<Figure>& figures, const std::string& table,
                   const nlohmann::ordered_json& document, const std::string& folder) {
    FileContents files;
    std::set<fs::path> drawn;
    for (const Figure& figure : figures) {
        for (auto&& [name, plot] : plots(figure)) {
            const fs::path path = fs::path(folder) / "plots" / name;
            drawn.insert(path);
            files.emplace_back(path.string(), std::move(plot));
        }
    }
    files.emplace_back(folder + "/table.txt", fmt::format("{}\n{}", kWrittenComment, table));
    files.emplace_back(folder + "/index.html",
                       page_html(experiment.title, {{"kind", "experiment"}, {"results", document}}));
    files.emplace_back(folder + "/results.json", document_text(document));
    write_files(files);
    for (const FigureSpec& figure : experiment.figures) {
        const fs::path compared = fs::path(folder) / "plots" / (figure.name + ".published.svg");
        std::error_code ignored;
        if (drawn.count(compared) == 0 && is_written_by_us(compared.string())) fs::remove(compared, ignored);
    }
}

}  // namespace

bool run_experiment(const Experiment& experiment, const SystemRegistry& registry, const std::string& folder,
                    const ExperimentOptions& options) {
    const auto started = std::chrono::steady_clock::now();
    const std::vector<ExperimentPoint> points = points_of(experiment, registry);
    prepare_folder(folder);
    if (!options.quiet) fmt::print(stderr, "{}: {} points\n", experiment.name, points.size());
    const std::vector<PointResult> results = ExperimentRun(experiment, points, registry, options).run();
    const auto fits = [](const PointResult& result) { return result.infeasible.empty(); };
    if (std::none_of(results.begin(), results.end(), fits))
        throw Infeasible(
            experiment.file, 0, results.front().point.name(),
            "expected a point of the experiment that fits, found none; of this one: " + results.front().infeasible);

    std::vector<Figure> figures;
    for (const FigureSpec& spec : experiment.figures) figures.push_back(make_figure(spec, experiment, results));
    const std::string table = results_table(experiment, results, figures);
    const nlohmann::ordered_json document = results_json(experiment, results, figures);
    write_results(experiment, figures, table, document, folder);
    if (options.quiet) return document.at("ok").get<bool>();
    fmt::print("{}", table);
    fmt::print(stderr, "{}: {} points in {:.1f} s\n", experiment.name, points.size(),
               std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count());
    return document.at("ok").get<bool>();
}

}  // namespace switchyard::platform
