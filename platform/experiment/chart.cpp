// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/experiment/chart.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "switchyard/platform/experiment/chart_frame.h"

namespace switchyard::platform {

using namespace chart_parts;

namespace {

/// Smallest and largest of all values, published ones included; of a stack, its sum.
std::pair<double, double> value_range(const Chart& chart) {
    double min = std::numeric_limits<double>::max(), max = std::numeric_limits<double>::lowest();
    const auto include = [&](double value) {
        min = std::min(min, value);
        max = std::max(max, value);
    };
    for (const Chart::Series& series : chart.series) {
        for (const std::vector<double>& parts : series.values) {
            double sum = 0;
            for (const double part : parts) include(sum += part);
        }
        for (const std::optional<double>& value : series.published)
            if (value) include(*value);
    }
    for (const Chart::PublishedPoint& point : chart.published_points) include(point.y);
    if (min > max) return {0, 1};  // nothing but gaps
    return {min, max};
}

/// Begins at 0, and leaves room for the labels above.
Axis bar_axis(const Chart& chart) {
    const auto [min, max] = value_range(chart);
    return whole_steps(std::min(min, 0.0), 1.12 * std::max(max, 0.0));
}

/// Begins at 0 only if the values come near it.
Axis line_axis(const Chart& chart) {
    const auto [min, max] = value_range(chart);
    return whole_steps(min > max / 2 ? min : std::min(min, 0.0), max);
}

std::vector<LegendEntry> series_legend(const Chart& chart) {
    std::vector<LegendEntry> legend;
    bool published = !chart.published_points.empty();
    for (std::size_t s = 0; s < chart.series.size(); ++s) {
        legend.push_back({chart.series[s].name, filled(s)});
        for (const std::optional<double>& value : chart.series[s].published) published = published || value.has_value();
    }
    if (published)
        legend.push_back(
            {"published", "fill=\"none\" stroke=\"#333333\" stroke-width=\"1.5\" stroke-dasharray=\"3 2\""});
    return legend;
}

std::string hover_text(const std::string& series, const std::string& group, double value) {
    return fmt::format("{}, {}: {}", series, group, short_number(value));
}

}  // namespace

std::string short_number(double value) {
    const double size = std::abs(value);
    if (size != 0 && size < 0.1) return fmt::format("{:.3g}", value);
    return fmt::format("{:.{}f}", value, size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}

std::string bar_chart(const Chart& chart) {
    GroupLabels labels;
    double plot = kGroupGap;
    for (std::size_t g = 0; g < chart.groups.size(); ++g) {
        std::size_t bars = chart.series.size();
        for (const Chart::Series& series : chart.series) bars += series.published[g] ? 1 : 0;
        const double width = kBar * static_cast<double>(bars);
        labels.labels.push_back({plot + width / 2, width + kGroupGap, chart.groups[g]});
        plot += width + kGroupGap;
    }
    Frame frame(chart, plot, bar_axis(chart), series_legend(chart), labels, 0);
    double x = frame.left() + kGroupGap;
    const auto draw = [&](double value, const std::string& style, const std::string& name, std::size_t group) {
        frame.bar(x, kBar - 2, 0, value, style, hover_text(name, chart.groups[group], value));
        frame.bar_label(x + kBar / 2, value);
        x += kBar;
    };
    for (std::size_t g = 0; g < chart.groups.size(); ++g) {
        for (std::size_t s = 0; s < chart.series.size(); ++s) {
            const Chart::Series& series = chart.series[s];
            if (series.values[g].empty()) {
                frame.gap(x + kBar / 2, series.name, chart.groups[g]);
                x += kBar;
            } else {
                draw(series.values[g].front(), "class=\"bar\" " + filled(s), series.name, g);
            }
            if (series.published[g])
                draw(*series.published[g], "class=\"published\" " + hollow(s), series.name + ", published", g);
        }
        x += kGroupGap;
    }
    return frame.document();
}

std::string stack_chart(const Chart& chart) {
    const double width = kStack * static_cast<double>(chart.series.size());
    double names = 0;
    for (const Chart::Series& series : chart.series) names = std::max(names, text_width(series.name, kSmallSize));
    GroupLabels labels;
    double plot = kGroupGap;
    for (const std::string& group : chart.groups) {
        labels.labels.push_back({plot + width / 2, width + kGroupGap, group});
        plot += width + kGroupGap;
    }
    std::vector<LegendEntry> legend;
    for (std::size_t k = 0; k < chart.parts.size(); ++k) legend.push_back({chart.parts[k], filled(k)});
    Frame frame(chart, plot, bar_axis(chart), legend, labels, names + 10);
    double x = frame.left() + kGroupGap;
    for (std::size_t g = 0; g < chart.groups.size(); ++g) {
        for (const Chart::Series& series : chart.series) {
            double sum = 0;
            const bool gap = series.values[g].empty();
            if (gap) frame.gap(x + kStack / 2 - 2, series.name, chart.groups[g]);
            for (std::size_t k = 0; k < chart.parts.size() && !gap; ++k) {
                const double part = series.values[g][k];
                frame.bar(x, kStack - 4, sum, sum + part, "class=\"part\" " + filled(k),
                          hover_text(series.name + ", " + chart.parts[k], chart.groups[g], part));
                sum += part;
            }
            if (!gap) frame.bar_label(x + kStack / 2 - 2, sum);
            frame.svg().text({x + kStack / 2 + 1, frame.bottom() + 6, series.name, "end", kSmallSize, -90});
            x += kStack;
        }
        x += kGroupGap;
    }
    return frame.document();
}

std::string line_chart(const Chart& chart) {
    constexpr std::size_t kMaxDots = 60;
    Frame frame(chart, kLinePlotWidth, line_axis(chart), series_legend(chart), {}, 20);
    const double first = chart.x.empty() ? 0 : chart.x.front();
    const double last = chart.x.empty() ? 1 : std::max(chart.x.back(), first + 1e-9);
    const Axis axis{first, last, round_step(last - first)};
    const auto place = [&](double x) { return frame.left() + (frame.right() - frame.left()) * axis.share(x); };
    const auto inside = [&axis](double x) { return x >= axis.low && x <= axis.high; };
    for (int i = axis.first_tick(); i <= axis.last_tick(); ++i) {
        const double x = place(i * axis.step);
        frame.svg().line(x, frame.bottom(), x, frame.bottom() + 4, "stroke=\"#333333\" stroke-width=\"1\"");
        frame.svg().text({x, frame.bottom() + 17, axis.label(i), "middle"});
    }
    frame.svg().text({(frame.left() + frame.right()) / 2, frame.bottom() + 36, chart.group_label, "middle"});
    for (const Chart::Mark& mark : chart.marks) {
        if (!inside(mark.x)) continue;
        frame.svg().line(place(mark.x), frame.top(), place(mark.x), frame.bottom(),
                         "stroke=\"#333333\" stroke-width=\"1\" stroke-dasharray=\"5 4\"");
        frame.svg().text({place(mark.x) + 4, frame.top() + 10, mark.text});
    }
    for (std::size_t s = 0; s < chart.series.size(); ++s) {
        const Chart::Series& series = chart.series[s];
        const auto point = [&](std::size_t g) {
            return std::pair(place(chart.x[g]), frame.height_of(series.values[g].front()));
        };
        // A gap interrupts the line.
        std::vector<std::pair<double, double>> points;
        std::size_t drawn = 0;
        const auto draw = [&] {
            if (!points.empty())
                frame.svg().polyline(
                    points, fmt::format("class=\"line\" stroke=\"{}\" stroke-width=\"1.8\"", colour(s)), series.name);
            drawn += points.size();
            points.clear();
        };
        for (std::size_t g = 0; g < chart.x.size(); ++g) {
            if (series.values[g].empty())
                draw();
            else
                points.push_back(point(g));
        }
        draw();
        for (std::size_t g = 0; g < chart.x.size(); ++g) {
            const std::string where = chart.groups[g];
            if (!series.values[g].empty() && drawn <= kMaxDots)
                frame.svg().circle(point(g).first, point(g).second, 2.5, filled(s),
                                   hover_text(series.name, where, series.values[g].front()));
            if (series.published[g])
                frame.svg().circle(place(chart.x[g]), frame.height_of(*series.published[g]), 5,
                                   "class=\"published\" " + hollow(s),
                                   hover_text(series.name + ", published", where, *series.published[g]));
        }
    }
    for (const Chart::PublishedPoint& point : chart.published_points) {
        if (!inside(point.x)) continue;
        frame.svg().circle(place(point.x), frame.height_of(point.y), 6,
                           "class=\"published\" fill=\"none\" stroke=\"#333333\" stroke-width=\"1.5\"",
                           "published: " + point.text);
        frame.svg().text({place(point.x) + 9, frame.height_of(point.y) - 7, "published: " + point.text});
    }
    return frame.document();
}

}  // namespace switchyard::platform
