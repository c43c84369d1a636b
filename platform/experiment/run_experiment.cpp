// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/experiment/run_experiment.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <systemc>

#include "switchyard/platform/experiment/experiment_report.h"
#include "switchyard/platform/experiment/figure.h"
#include "switchyard/platform/experiment/measure.h"
#include "switchyard/platform/system/process_pool.h"
#include "switchyard/platform/system/report_parts.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"

namespace switchyard::platform {

namespace {

namespace fs = std::filesystem;

constexpr const char* kInfeasible = "infeasible";

/// Before the work, not after it: can results be written?
void prepare_folder(const std::string& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error || access(folder.c_str(), W_OK) != 0)
        throw InputError(folder, 0, "", "cannot be written" + (error ? ": " + error.message() : ""));
}

/// Names of files need not be UTF-8.
std::string one_line(const nlohmann::ordered_json& document) {
    return document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

/// A report, or why there is none.
std::string work_on(const ExperimentPoint& point, const SystemRegistry& registry) {
    try {
        return one_line(registry.system_of_design(point.run.design).prepare(point.run)->run());
    } catch (const Infeasible& reason) {
        return one_line({{kInfeasible, reason.what()}});
    } catch (const sc_core::sc_report& report) {
        throw std::runtime_error(report.get_msg());
    }
}

PointResult result_of(const ExperimentPoint& point, const std::string& text) {
    nlohmann::ordered_json answer = nlohmann::ordered_json::parse(text);
    if (answer.contains(kInfeasible)) return {point, nullptr, answer.at(kInfeasible).get<std::string>()};
    return {point, std::move(answer), ""};
}

std::vector<PointResult> run_all(const Experiment& experiment, const std::vector<ExperimentPoint>& points,
                                 const SystemRegistry& registry, unsigned jobs) {
    std::vector<PointResult> results(points.size());
    std::size_t ended = 0;
    const auto finished = [&](std::size_t index, const std::string& text, double seconds) {
        results[index] = result_of(points[index], text);
        std::string outcome;
        if (results[index].infeasible.empty())
            check_measures(experiment, results[index]);
        else
            outcome = fmt::format("a gap: {}, ", results[index].infeasible);
        for (const double value : numbers_at(results[index].report, "summary.latency_us.mean"))
            outcome = fmt::format("{:.2f} us a batch, ", value);
        fmt::print(stderr, "[{:>{}}/{}] {}: {}{:.1f} s\n", ++ended, fmt::formatted_size("{}", points.size()),
                   points.size(), points[index].name(), outcome, seconds);
        std::fflush(stderr);
    };
    try {
        run_in_processes(
            points.size(), jobs, [&](std::size_t index) { return work_on(points[index], registry); }, finished);
    } catch (const WorkFailed& failure) {
        throw std::runtime_error(
            fmt::format("{}: {}: {}", experiment.file, points[failure.index].name(), failure.what()));
    }
    return results;
}

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
    files.emplace_back(folder + "/table.txt", table);
    files.emplace_back(folder + "/results.json", json_text(document));
    write_files(files);
    for (const FigureSpec& figure : experiment.figures) {
        const fs::path compared = fs::path(folder) / "plots" / (figure.name + ".published.svg");
        std::error_code ignored;
        if (drawn.count(compared) == 0) fs::remove(compared, ignored);
    }
}

}  // namespace

bool run_experiment(const Experiment& experiment, const SystemRegistry& registry, const std::string& folder,
                    unsigned jobs) {
    const auto started = std::chrono::steady_clock::now();
    const std::vector<ExperimentPoint> points = points_of(experiment, registry);
    if (jobs == 0) jobs = std::max(1u, std::thread::hardware_concurrency());
    prepare_folder(folder);
    fmt::print(stderr, "{}: {} points, {} at a time\n", experiment.name, points.size(), jobs);
    const std::vector<PointResult> results = run_all(experiment, points, registry, jobs);
    const auto fits = [](const PointResult& result) { return result.infeasible.empty(); };
    if (std::none_of(results.begin(), results.end(), fits))
        throw Infeasible(experiment.file, 0, results.front().point.name(),
                         "no point of the experiment fits; of this one: " + results.front().infeasible);

    std::vector<Figure> figures;
    for (const FigureSpec& spec : experiment.figures) figures.push_back(make_figure(spec, experiment, results));
    const std::string table = results_table(experiment, results, figures);
    const nlohmann::ordered_json document = results_json(experiment, results, figures);
    write_results(experiment, figures, table, document, folder);
    fmt::print("{}", table);
    fmt::print(stderr, "{}: {} points in {:.1f} s\n", experiment.name, points.size(),
               std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count());
    return document.at("ok").get<bool>();
}

}  // namespace switchyard::platform
