// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/experiment/experiment_report.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "switchyard/platform/experiment/validated_domain.h"

namespace switchyard::platform {

using nlohmann::ordered_json;

namespace {

ordered_json or_null(const std::optional<double>& value) {
    return value ? ordered_json(*value) : ordered_json();
}

std::string or_dash(const std::optional<double>& value) {
    return value ? short_number(*value) : "-";
}

/// A design whose model has no conservation checks breaks none.
bool checks_hold(const PointResult& result) {
    return !result.infeasible.empty() || result.report.value("ok", true);
}

/// "a: wants equal 3, got 4; b: ...", of the checks that failed.
std::string failed_checks(const ordered_json& report) {
    std::string text;
    for (const ordered_json& check : report.value("conservation", ordered_json::array())) {
        if (check.at("ok").get<bool>()) continue;
        text += fmt::format("{}{}: wants {} {}, got {}", text.empty() ? "" : "; ", check.at("name").get<std::string>(),
                            check.at("relation").get<std::string>(), check.at("expected").get<double>(),
                            check.at("got").get<double>());
    }
    return text;
}

std::size_t points_outside(const std::vector<PointResult>& results) {
    return static_cast<std::size_t>(std::count_if(results.begin(), results.end(), [](const PointResult& result) {
        return !outside_validated_domain(result.report).empty();
    }));
}

const char* to_string(FigureSpec::Kind kind) {
    switch (kind) {
        case FigureSpec::Kind::bars:
            return "bars";
        case FigureSpec::Kind::stacks:
            return "stacks";
        case FigureSpec::Kind::lines:
            return "lines";
        case FigureSpec::Kind::scatter:
            return "scatter";
    }
    return "";
}

bool has_published(const Chart& chart) {
    const auto given = [](const std::optional<double>& value) { return value.has_value(); };
    return std::any_of(chart.series.begin(), chart.series.end(), [&given](const Chart::Series& series) {
        return std::any_of(series.published.begin(), series.published.end(), given);
    });
}

/// Where the points of a scatter chart are, by the line on which both values are equal.
struct Sides {
    std::size_t below = 0, on = 0, above = 0;
    explicit Sides(const std::vector<std::pair<double, double>>& points) {
        for (const auto& [x, y] : points) ++(y < x ? below : y > x ? above : on);
    }
};

ordered_json scatter_json(const Chart& chart, const Chart::Series& series) {
    ordered_json x = ordered_json::array(), values = ordered_json::array();
    for (const auto& [across, up] : series.points) {
        x.push_back(across);
        values.push_back(up);
    }
    ordered_json result = {{"name", series.name}, {"x", x}, {"values", values}};
    const Sides sides(series.points);
    if (chart.diagonal) result["diagonal"] = {{"below", sides.below}, {"on", sides.on}, {"above", sides.above}};
    return result;
}

ordered_json series_json(const Figure& figure, std::size_t index) {
    const Chart::Series& series = figure.chart.series[index];
    if (figure.spec->kind == FigureSpec::Kind::scatter) return scatter_json(figure.chart, series);
    ordered_json values = ordered_json::array(), published = ordered_json::array();
    for (const std::vector<double>& value : series.values) {
        if (value.empty())
            values.push_back(nullptr);
        else if (figure.spec->kind == FigureSpec::Kind::stacks)
            values.push_back(value);
        else
            values.push_back(value.front());
    }
    ordered_json result = {{"name", series.name}, {"values", values}};
    if (has_published(figure.chart)) {
        for (const std::optional<double>& value : series.published) published.push_back(or_null(value));
        result["published"] = published;
    }
    result["validated"] = figure.validated.at(index);
    if (figure.spec->crossing) result["crossing"] = or_null(figure.crossings[index]);
    return result;
}

ordered_json figure_json(const Experiment& experiment, const Figure& figure) {
    const FigureSpec& spec = *figure.spec;
    const Chart& chart = figure.chart;
    ordered_json series = ordered_json::array(), comparisons = ordered_json::array();
    for (std::size_t i = 0; i < chart.series.size(); ++i) series.push_back(series_json(figure, i));
    for (const Comparison& one : figure.comparisons) {
        const bool equal = one.validated && one.is_ratio && one.ours && experiment.equal_within_error(*one.ours);
        comparisons.push_back({{"what", one.what},
                               {"statistic", one.statistic},
                               {"published", one.published},
                               {"ours", or_null(one.ours)},
                               {"ours_geometric_mean", or_null(one.geometric_mean)},
                               {"source", one.source},
                               {"validated", one.validated}});
        if (experiment.model_error > 0) comparisons.back()["equal_within_error"] = equal;
    }
    ordered_json result = {{"name", spec.name},
                           {"title", spec.title},
                           {"kind", to_string(spec.kind)},
                           {"label", spec.label},
                           {"measure", spec.measure},
                           {"over", spec.over},
                           {"scale", spec.scale},
                           {"across", experiment.word(spec.across)}};
    if (!spec.against.empty()) result["against"] = spec.against;
    result["groups"] = chart.groups;
    if (!chart.x.empty()) result["x"] = chart.x;
    if (!chart.parts.empty()) result["parts"] = chart.parts;
    result["series_of"] = experiment.word(spec.series);
    result["series"] = series;
    result["comparisons"] = comparisons;
    return result;
}

/// Columns as wide as their widest cell, the first one to the left, the others to the right.
std::string aligned(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths;
    for (const std::vector<std::string>& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    std::string text;
    for (const std::vector<std::string>& row : rows) {
        std::string line = " ";
        for (std::size_t i = 0; i < row.size(); ++i)
            line += i == 0 ? fmt::format(" {:<{}}", row[i], widths[i]) : fmt::format("  {:>{}}", row[i], widths[i]);
        text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return text;
}

std::string stacks_table(const Figure& figure) {
    const Chart& chart = figure.chart;
    std::vector<std::vector<std::string>> rows(1, {"", ""});
    rows.front().insert(rows.front().end(), chart.parts.begin(), chart.parts.end());
    rows.front().emplace_back("sum");
    for (std::size_t g = 0; g < chart.groups.size(); ++g) {
        for (const Chart::Series& series : chart.series) {
            rows.push_back({chart.groups[g], series.name});
            if (series.values[g].empty()) {
                rows.back().resize(chart.parts.size() + 3, "-");
                continue;
            }
            double sum = 0;
            for (const double part : series.values[g]) {
                rows.back().push_back(short_number(part));
                sum += part;
            }
            rows.back().push_back(short_number(sum));
        }
    }
    return aligned(rows);
}

/// A ratio of two designs within the models' stated error shows nothing but that. Outside the validated domain the
/// error is not known: a number with a mark.
std::string ratio_or_equal(const Experiment& experiment, bool is_ratio, const std::optional<double>& value,
                           bool validated) {
    if (!value) return "-";
    if (!validated) return short_number(*value) + "*";
    return is_ratio && experiment.equal_within_error(*value) ? "equal" : short_number(*value);
}

std::string scatter_table(const Figure& figure) {
    std::vector<std::vector<std::string>> rows{{"", "points"}};
    if (figure.spec->diagonal) rows.front() = {"", "points", "below the diagonal", "on it", "above"};
    for (const Chart::Series& series : figure.chart.series) {
        rows.push_back({series.name, fmt::format("{}", series.points.size())});
        const Sides sides(series.points);
        if (figure.spec->diagonal)
            for (const std::size_t count : {sides.below, sides.on, sides.above})
                rows.back().push_back(fmt::format("{}", count));
    }
    return aligned(rows);
}

std::string values_table(const Experiment& experiment, const Figure& figure) {
    const Chart& chart = figure.chart;
    std::vector<std::vector<std::string>> rows(1, {chart.group_label});
    for (const Chart::Series& series : chart.series) rows.front().push_back(series.name);
    for (std::size_t g = 0; g < chart.groups.size(); ++g) {
        rows.push_back({chart.groups[g]});
        for (std::size_t s = 0; s < chart.series.size(); ++s) {
            const std::vector<double>& value = chart.series[s].values[g];
            rows.back().push_back(ratio_or_equal(experiment, !figure.spec->over.empty(),
                                                 value.empty() ? std::nullopt : std::optional(value.front()),
                                                 figure.is_validated(s, g)));
        }
    }
    if (figure.spec->crossing) {
        rows.push_back({fmt::format("reaches {}", short_number(*figure.spec->crossing))});
        for (const std::optional<double>& value : figure.crossings) rows.back().push_back(or_dash(value));
    }
    return aligned(rows);
}

std::string comparison_table(const Experiment& experiment, const std::vector<Comparison>& comparisons) {
    if (comparisons.empty()) return "";
    std::vector<std::vector<std::string>> rows{{"", "published", "ours", "ours, geometric mean"}};
    for (const Comparison& one : comparisons)
        rows.push_back({one.what + ", " + one.statistic, short_number(one.published),
                        ratio_or_equal(experiment, one.is_ratio, one.ours, one.validated),
                        ratio_or_equal(experiment, one.is_ratio, one.geometric_mean, one.validated)});
    std::string text = aligned(rows);
    std::vector<std::string> sources;
    for (const Comparison& one : comparisons)
        if (std::find(sources.begin(), sources.end(), one.source) == sources.end()) sources.push_back(one.source);
    const bool means = std::any_of(comparisons.begin(), comparisons.end(),
                                   [](const Comparison& one) { return one.statistic == "mean"; });
    return text + fmt::format("  published: {}{}\n", fmt::join(sources, "; "),
                              means ? "; ours: arithmetic mean over the networks where it says mean" : "");
}

std::string chart_document(const Figure& figure) {
    switch (figure.spec->kind) {
        case FigureSpec::Kind::bars:
            return bar_chart(figure.chart);
        case FigureSpec::Kind::stacks:
            return stack_chart(figure.chart);
        case FigureSpec::Kind::lines:
            return line_chart(figure.chart);
        case FigureSpec::Kind::scatter:
            return scatter_chart(figure.chart);
    }
    return "";
}

/// Our value and the published one of each comparison, side by side.
Chart comparison_chart(const Figure& figure) {
    Chart chart;
    chart.title = figure.spec->title + ": published and ours";
    chart.value_label = figure.spec->over.empty() ? figure.spec->label : "ratio";
    Chart::Series ours{"ours (mean: arithmetic)", {}, {}};
    for (const Comparison& one : figure.comparisons) {
        if (one.statistic == "crossing" || !one.ours) continue;
        chart.groups.push_back(one.what + ", " + one.statistic);
        ours.values.push_back({*one.ours});
        ours.published.emplace_back(one.published);
    }
    chart.series.push_back(std::move(ours));
    return chart;
}

}  // namespace

ordered_json results_json(const Experiment& experiment, const std::vector<PointResult>& results,
                          const std::vector<Figure>& figures) {
    ordered_json points = ordered_json::array(), drawn = ordered_json::array();
    bool ok = true;
    for (const PointResult& result : results) {
        ok = ok && checks_hold(result);
        ordered_json point = {{experiment.word(Dimension::network), result.point.network},
                              {"design", result.point.design}};
        if (!result.point.sweep.empty()) point[result.point.sweep_key] = result.point.sweep;
        point["set"] = result.point.run.overrides;
        for (const auto& [key, value] : result.point.run.parameters) point["set"][key] = value;
        point["report"] = result.report;
        if (!result.infeasible.empty()) point["infeasible"] = result.infeasible;
        if (const auto reasons = outside_validated_domain(result.report); !reasons.empty()) point["outside"] = reasons;
        points.push_back(std::move(point));
    }
    for (const Figure& figure : figures) drawn.push_back(figure_json(experiment, figure));
    ordered_json document = {{"format", "switchyard-experiment"},
                             {"version", 1},
                             {"ok", ok},
                             {"name", experiment.name},
                             {"title", experiment.title}};
    if (experiment.synthetic())
        document["command"] = experiment.command;
    else
        document["batches"] = experiment.batches;
    if (experiment.first_batch > 0) document["first_batch"] = experiment.first_batch;
    if (experiment.model_error > 0) document["model_error"] = experiment.model_error;
    document["points_outside"] = points_outside(results);
    document["figures"] = drawn;
    document["points"] = points;
    return document;
}

std::string results_table(const Experiment& experiment, const std::vector<PointResult>& results,
                          const std::vector<Figure>& figures) {
    std::string text = fmt::format("{}\n{} points: {} {}, {} designs{}\n", experiment.title, results.size(),
                                   experiment.networks.size(), experiment.synthetic() ? "kinds of traffic" : "networks",
                                   experiment.designs.size(),
                                   experiment.synthetic() ? "" : fmt::format(", {} batches each", experiment.batches));
    for (const Figure& figure : figures) {
        const FigureSpec& spec = *figure.spec;
        text += fmt::format("\n{}: {} [{}]\n", spec.name, spec.title, spec.label);
        text += spec.kind == FigureSpec::Kind::stacks    ? stacks_table(figure)
                : spec.kind == FigureSpec::Kind::scatter ? scatter_table(figure)
                                                         : values_table(experiment, figure);
        text += comparison_table(experiment, figure.comparisons);
    }
    if (experiment.model_error > 0)
        text += fmt::format("\nequal: within the models' stated error of {:g} %\n", 100 * experiment.model_error);
    if (const std::size_t count = points_outside(results); count > 0)
        text += fmt::format(
            "\n*: made of points outside the validated domain of their model, {} of {} (results.json, points, outside; "
            "docs/experiments.md, Validated points)\n",
            count, results.size());
    std::string failed, gaps;
    for (const PointResult& result : results) {
        if (!checks_hold(result)) failed += "  " + result.point.name() + ": " + failed_checks(result.report) + "\n";
        if (!result.infeasible.empty()) gaps += fmt::format("  {}: {}\n", result.point.name(), result.infeasible);
    }
    if (!gaps.empty()) text += "\ngaps (-), points that do not fit their chip:\n" + gaps;
    return failed.empty() ? text : text + "\nconservation checks FAILED (results.json, points):\n" + failed;
}

std::vector<std::pair<std::string, std::string>> plots(const Figure& figure) {
    std::vector<std::pair<std::string, std::string>> result{{figure.spec->name + ".svg", chart_document(figure)}};
    const Chart compared = comparison_chart(figure);
    if (!compared.groups.empty()) result.emplace_back(figure.spec->name + ".published.svg", bar_chart(compared));
    return result;
}

}  // namespace switchyard::platform
