// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/experiment/chart.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "switchyard/platform/experiment/svg.h"

namespace switchyard::platform {

namespace {

/// Colours that people who see colours differently tell apart (Okabe and Ito, 2008), then greys.
constexpr const char* kColours[] = {"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9",
                                    "#d55e00", "#999999", "#f0e442", "#444444"};

constexpr double kLeft = 66, kRight = 18, kPlotHeight = 260, kTitleHeight = 30, kLegendRow = 17, kLegendBox = 11;
constexpr double kBar = 16, kStack = 24, kGroupGap = 18, kMinPlotWidth = 320, kLinePlotWidth = 640;
constexpr double kTextSize = 11, kSmallSize = 9;

std::string colour(std::size_t index) {
    return kColours[index % (sizeof kColours / sizeof kColours[0])];
}

std::string filled(std::size_t index) {
    return fmt::format("fill=\"{}\" stroke=\"#333333\" stroke-width=\"0.5\"", colour(index));
}

std::string hollow(std::size_t index) {
    return fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\" stroke-dasharray=\"3 2\"", colour(index));
}

/// Roughly: fonts are the viewer's.
double text_width(const std::string& text, double size) {
    return 0.58 * size * static_cast<double>(text.size());
}

/// Steps of 1, 2 or 5 times a power of ten, about five over the range.
double round_step(double range) {
    if (range <= 0) return 1;
    const double power = std::pow(10, std::floor(std::log10(range / 5)));
    const double digit = range / 5 / power;
    return power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
}

/// From `low` to `high`, with a tick at each multiple of `step` between them.
struct Axis {
    double low = 0, high = 1, step = 1;

    int first_tick() const { return static_cast<int>(std::ceil(low / step - 1e-9)); }
    int last_tick() const { return static_cast<int>(std::floor(high / step + 1e-9)); }
    std::string label(int tick) const {
        const int decimals = std::max(0, static_cast<int>(-std::floor(std::log10(step) + 1e-9)));
        return fmt::format("{:.{}f}", tick * step, decimals);
    }
    /// 0 at `low`, 1 at `high`.
    double share(double value) const { return (value - low) / (high - low); }
};

/// With whole steps at both ends.
Axis whole_steps(double min, double max) {
    const double step = round_step(max - min);
    const double low = std::floor(min / step) * step;
    return {low, std::max(std::ceil(max / step) * step, low + step), step};
}

struct LegendEntry {
    std::string text, box;
};

/// Labels below the plot, and where their groups stand in it.
struct GroupLabels {
    struct Label {
        double centre = 0, width = 0;  ///< of the group, from the plot's left side
        std::string text;
    };
    std::vector<Label> labels;

    bool turned() const {
        return std::any_of(labels.begin(), labels.end(),
                           [](const Label& one) { return text_width(one.text, kTextSize) > one.width; });
    }
    /// How far a turned label reaches beyond the plot's left side.
    double reach() const {
        double max = 0;
        for (const Label& one : labels) max = std::max(max, kAcross * text_width(one.text, kTextSize) - one.centre);
        return turned() ? max : 0;
    }
    double height() const {
        double max = 0;
        for (const Label& one : labels) max = std::max(max, kDown * text_width(one.text, kTextSize));
        return 26 + (turned() ? max : 0);
    }

    static constexpr double kDegrees = -25, kAcross = 0.91, kDown = 0.42;  ///< cosine and sine
};

/// The frame that all charts share: title, legend, value axis, labels of the groups. Plots stand between left(),
/// right(), top() and bottom().
class Frame {
public:
    /// `labels_at`: pixels between the plot and the labels.
    Frame(const Chart& chart, double plot_width, const Axis& axis, std::vector<LegendEntry> legend,
          const GroupLabels& groups, double labels_at)
        : axis_(axis),
          legend_(std::move(legend)),
          left_(std::max(kLeft, groups.reach() + 8)),
          right_(std::max({left_ + plot_width, left_ + kMinPlotWidth, text_width(chart.title, 14.5)})),
          top_(kTitleHeight + 14 + kLegendRow * static_cast<double>(legend_rows())),
          svg_(right_ + kRight, top_ + kPlotHeight + labels_at + groups.height()) {
        svg_.text({12, 20, chart.title, "start", 14, 0, true});
        place_legend([this](double x, double y, const LegendEntry& entry) {
            svg_.rectangle(x, y - kLegendBox + 2, kLegendBox, kLegendBox, entry.box);
            svg_.text({x + kLegendBox + 5, y, entry.text});
        });
        svg_.text({left_ - kLeft + 16, top_ + kPlotHeight / 2, chart.value_label, "middle", kTextSize, -90});
        for (int i = axis_.first_tick(); i <= axis_.last_tick(); ++i) {
            const double y = height_of(i * axis_.step);
            svg_.line(left_, y, right_, y, "stroke=\"#dddddd\" stroke-width=\"1\"");
            svg_.text({left_ - 6, y + 4, axis_.label(i), "end"});
        }
        for (const GroupLabels::Label& one : groups.labels) {
            const double x = left_ + one.centre, y = bottom() + labels_at + 16;
            if (groups.turned())
                svg_.text({x + 4, y, one.text, "end", kTextSize, GroupLabels::kDegrees});
            else
                svg_.text({x, y, one.text, "middle"});
        }
    }

    Svg& svg() { return svg_; }
    double left() const { return left_; }
    double right() const { return right_; }
    double top() const { return top_; }
    double bottom() const { return top_ + kPlotHeight; }
    double height_of(double value) const { return bottom() - kPlotHeight * axis_.share(value); }

    /// A bar from `from` to `to`, as values.
    void bar(double x, double width, double from, double to, const std::string& style, const std::string& hover) {
        const double top = height_of(std::max(from, to)), bottom = height_of(std::min(from, to));
        svg_.rectangle(x, top, width, bottom - top, style, hover);
    }
    /// Above a bar, upright.
    void bar_label(double centre, double value) {
        svg_.text({centre + kSmallSize / 3, height_of(std::max(value, 0.0)) - 4, short_number(value), "start",
                   kSmallSize, -90});
    }
    /// Where a bar would stand if its point fitted its chip.
    void gap(double centre, const std::string& series, const std::string& group) {
        svg_.text({centre + kSmallSize / 3, height_of(std::max(axis_.low, 0.0)) - 4, "does not fit", "start",
                   kSmallSize, -90});
        svg_.circle(centre, height_of(std::max(axis_.low, 0.0)), 1.5, "class=\"gap\" fill=\"#333333\"",
                    fmt::format("{}, {}: does not fit", series, group));
    }
    std::string document() {
        const double base = height_of(std::max(axis_.low, 0.0));
        svg_.line(left_, base, right_, base, "stroke=\"#333333\" stroke-width=\"1\"");
        return svg_.document();
    }

private:
    template <class Place>
    std::size_t place_legend(Place place) const {
        double x = left_;
        std::size_t row = 0;
        for (const LegendEntry& entry : legend_) {
            const double width = kLegendBox + 5 + text_width(entry.text, kTextSize) + 14;
            if (x > left_ && x + width > right_) {
                x = left_;
                ++row;
            }
            place(x, kTitleHeight + 10 + kLegendRow * static_cast<double>(row), entry);
            x += width;
        }
        return row + 1;
    }
    std::size_t legend_rows() const {
        return place_legend([](double, double, const LegendEntry&) {});
    }

    Axis axis_;
    std::vector<LegendEntry> legend_;
    double left_, right_, top_;
    Svg svg_;
};

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
