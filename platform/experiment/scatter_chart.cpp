// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "switchyard/platform/experiment/chart_frame.h"

namespace switchyard::platform {

using namespace chart_parts;

namespace {

/// Of all points along one axis, with whole steps at both ends.
Axis axis_of(const Chart& chart, double std::pair<double, double>::*along) {
    double low = std::numeric_limits<double>::max(), high = std::numeric_limits<double>::lowest();
    for (const Chart::Series& series : chart.series)
        for (const std::pair<double, double>& point : series.points) {
            low = std::min(low, point.*along);
            high = std::max(high, point.*along);
        }
    return low > high ? Axis{} : whole_steps(low, high);
}

}  // namespace

std::string scatter_chart(const Chart& chart) {
    std::vector<LegendEntry> legend;
    for (std::size_t s = 0; s < chart.series.size(); ++s) legend.push_back({chart.series[s].name, filled(s)});
    const Axis across = axis_of(chart, &std::pair<double, double>::first);
    const Axis up = axis_of(chart, &std::pair<double, double>::second);
    Frame frame(chart, kLinePlotWidth, up, legend, {}, 20);
    const auto place = [&](double x) { return frame.left() + (frame.right() - frame.left()) * across.share(x); };
    for (int i = across.first_tick(); i <= across.last_tick(); ++i) {
        const double x = place(i * across.step);
        frame.svg().line(x, frame.bottom(), x, frame.bottom() + 4, "stroke=\"#333333\" stroke-width=\"1\"");
        frame.svg().text({x, frame.bottom() + 17, across.label(i), "middle"});
    }
    frame.svg().text({(frame.left() + frame.right()) / 2, frame.bottom() + 36, chart.group_label, "middle"});
    if (chart.diagonal) {
        const double low = std::max(across.low, up.low), high = std::min(across.high, up.high);
        if (low < high)
            frame.svg().line(place(low), frame.height_of(low), place(high), frame.height_of(high),
                             "class=\"diagonal\" stroke=\"#333333\" stroke-width=\"1\" stroke-dasharray=\"5 4\"");
    }
    for (std::size_t s = 0; s < chart.series.size(); ++s)
        for (const auto& [x, y] : chart.series[s].points)
            frame.svg().circle(place(x), frame.height_of(y), 2.5, "class=\"dot\" " + filled(s),
                               fmt::format("{}: {}, {}", chart.series[s].name, short_number(x), short_number(y)));
    return frame.document();
}

}  // namespace switchyard::platform
