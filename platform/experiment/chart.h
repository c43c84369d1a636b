// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace switchyard::platform {

/// A table of numbers, [series][group][part], and how its axes are called. All charts have it.
struct Chart {
    struct Series {
        std::string name;
        std::vector<std::vector<double>> values;             ///< [group][part]; one part but for stacks; none: a gap
        std::vector<std::optional<double>> published;        ///< [group]; drawn hollow
        std::vector<std::pair<double, double>> points = {};  ///< scatter charts only, in place of values
    };
    /// A vertical line across a line chart.
    struct Mark {
        double x = 0;
        std::string text;
    };
    /// A single published point of a line chart.
    struct PublishedPoint {
        double x = 0, y = 0;
        std::string text;
    };

    std::string title, value_label, group_label;
    std::vector<std::string> groups;
    std::vector<double> x;           ///< lines only: position of each group, increasing
    std::vector<std::string> parts;  ///< stacks only
    std::vector<Series> series;
    std::vector<Mark> marks;                       ///< lines only
    std::vector<PublishedPoint> published_points;  ///< lines only
    bool diagonal = false;                         ///< scatter charts only: the line on which both are equal
};

/// Bars side by side in each group, with their values; published values beside them, hollow.
std::string bar_chart(const Chart& chart);
/// One stack a series in each group, with its sum.
std::string stack_chart(const Chart& chart);
/// One line a series over `x`.
std::string line_chart(const Chart& chart);
/// One dot a point of each series.
std::string scatter_chart(const Chart& chart);

/// "1.70", "23.5", "466": three digits, more only in front of the point; "0.0123" below a tenth.
std::string short_number(double value);

}  // namespace switchyard::platform
