// SPDX-License-Identifier: Apache-2.0
#pragma once

// What all charts share, for the sources of chart.h only.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "switchyard/platform/experiment/chart.h"
#include "switchyard/platform/experiment/svg.h"

namespace switchyard::platform::chart_parts {

/// Colours that people who see colours differently tell apart (Okabe and Ito, 2008), then greys.
inline constexpr const char* kColours[] = {"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9",
                                           "#d55e00", "#999999", "#f0e442", "#444444"};

inline constexpr double kLeft = 66, kRight = 18, kPlotHeight = 260, kTitleHeight = 30, kLegendRow = 17, kLegendBox = 11;
inline constexpr double kBar = 16, kStack = 24, kGroupGap = 18, kMinPlotWidth = 320, kLinePlotWidth = 640;
inline constexpr double kTextSize = 11, kSmallSize = 9;

inline std::string colour(std::size_t index) {
    return kColours[index % (sizeof kColours / sizeof kColours[0])];
}

inline std::string filled(std::size_t index) {
    return fmt::format("fill=\"{}\" stroke=\"#333333\" stroke-width=\"0.5\"", colour(index));
}

inline std::string hollow(std::size_t index) {
    return fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\" stroke-dasharray=\"3 2\"", colour(index));
}

/// Roughly: fonts are the viewer's.
inline double text_width(const std::string& text, double size) {
    return 0.58 * size * static_cast<double>(text.size());
}

/// Steps of 1, 2 or 5 times a power of ten, about five over the range.
inline double round_step(double range) {
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
inline Axis whole_steps(double min, double max) {
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

}  // namespace switchyard::platform::chart_parts
