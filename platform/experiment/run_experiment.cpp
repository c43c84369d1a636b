#include "switchyard/platform/experiment/run_experiment.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <systemc>

#include "switchyard/platform/experiment/experiment_report.h"
#include "switchyard/platform/experiment/figure.h"
#include "switchyard/platform/experiment/measure.h"
#include "switchyard/platform/experiment/process_pool.h"
#include "switchyard/platform/report.h"
#include "switchyard/sw_scheduler/formats/error.h"

namespace switchyard::platform {

namespace {

namespace fs = std::filesystem;

/// Before the work, not after it: can results be written, and nothing old be taken for them?
void prepare_folder(const Experiment& experiment, const std::string& folder) {
    std::error_code error, ignored;
    fs::create_directories(folder, error);
    if (error || access(folder.c_str(), W_OK) != 0) throw InputError(folder, 0, "", "cannot be written");
    for (const char* file : {"results.json", "table.txt"}) fs::remove(fs::path(folder) / file, ignored);
    for (const FigureSpec& figure : experiment.figures)
        for (const char* ending : {".svg", ".published.svg"})
            fs::remove(fs::path(folder) / "plots" / (figure.name + ending), ignored);
}

std::string work_on(const ExperimentPoint& point) {
    try {
        return (point.traffic ? run_traffic(*point.traffic) : run_point(point.run)).dump();
    } catch (const sc_core::sc_report& report) {
        throw std::runtime_error(report.get_msg());
    }
}

std::vector<PointResult> run_all(const Experiment& experiment, const std::vector<ExperimentPoint>& points,
                                 unsigned jobs) {
    std::vector<PointResult> results(points.size());
    std::size_t ended = 0;
    const auto finished = [&](std::size_t index, const std::string& text, double seconds) {
        results[index] = {points[index], nlohmann::ordered_json::parse(text)};
        check_measures(experiment, results[index]);
        std::string latency;
        for (const double value : numbers_at(results[index].report, "summary.latency_us.mean"))
            latency = fmt::format("{:.2f} us a batch, ", value);
        fmt::print(stderr, "[{:>{}}/{}] {}: {}{:.1f} s\n", ++ended, fmt::formatted_size("{}", points.size()),
                   points.size(), points[index].name(), latency, seconds);
        std::fflush(stderr);
    };
    try {
        run_in_processes(
            points.size(), jobs, [&](std::size_t index) { return work_on(points[index]); }, finished);
    } catch (const WorkFailed& failure) {
        throw std::runtime_error(
            fmt::format("{}: {}: {}", experiment.file, points[failure.index].name(), failure.what()));
    }
    return results;
}

}  // namespace

bool run_experiment(const Experiment& experiment, const std::string& folder, unsigned jobs) {
    const auto started = std::chrono::steady_clock::now();
    const std::vector<ExperimentPoint> points = points_of(experiment);
    if (jobs == 0) jobs = std::max(1u, std::thread::hardware_concurrency());
    prepare_folder(experiment, folder);
    fmt::print(stderr, "{}: {} points, {} at a time\n", experiment.name, points.size(), jobs);
    const std::vector<PointResult> results = run_all(experiment, points, jobs);

    std::vector<Figure> figures;
    for (const FigureSpec& spec : experiment.figures) figures.push_back(make_figure(spec, experiment, results));
    const std::string table = results_table(experiment, results, figures);
    for (const Figure& figure : figures)
        for (const auto& [name, document] : plots(figure))
            write_file(document, (fs::path(folder) / "plots" / name).string());
    write_file(table, folder + "/table.txt");
    const nlohmann::ordered_json document = results_json(experiment, results, figures);
    write_json(document, folder + "/results.json");
    fmt::print("{}", table);
    fmt::print(stderr, "{}: {} points in {:.1f} s\n", experiment.name, points.size(),
               std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count());
    return document.at("ok").get<bool>();
}

}  // namespace switchyard::platform
