// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "switchyard/platform/experiment/chart.h"
#include "switchyard/platform/experiment/experiment.h"

namespace switchyard::platform {

/// A point that has run, or that cannot.
struct PointResult {
    ExperimentPoint point;
    nlohmann::ordered_json report;  ///< null if it cannot
    std::string infeasible{};       ///< why it does not fit its chip
};

/// A published number beside ours. Over networks there are two means, because "on average" says not which.
struct Comparison {
    std::string what;       ///< "adyna over m-tile"
    std::string statistic;  ///< "mean", "max", "crossing", or a network's name
    double published = 0;
    bool is_ratio = false;                 ///< of two designs
    std::optional<double> ours;            ///< mean: arithmetic; nothing if no line crosses, or a point is a gap
    std::optional<double> geometric_mean;  ///< mean and crossing of a ratio
    std::string source;
    bool validated = true;  ///< no point that it is made of is outside its model's validated domain
};

struct Figure {
    const FigureSpec* spec = nullptr;
    Chart chart;  ///< means over the networks included, as groups or as series
    /// Lines with `crossing`: by series, where it is reached.
    std::vector<std::optional<double>> crossings;
    std::vector<Comparison> comparisons;
    /// By series and group, not of scatter: no point that the value is made of is outside its model's validated domain.
    std::vector<std::vector<bool>> validated;

    bool is_validated(std::size_t series, std::size_t group) const { return validated.at(series).at(group); }
};

/// Throws InputError if one of the figures wants what a report of such a point does not have. Called as soon as a point
/// has run, so that a misspelt measure does not wait for the rest.
void check_measures(const Experiment& experiment, const PointResult& result);

/// `results`: all points of the experiment. Where one of those that a value is made of is infeasible, the value is a
/// gap: it has no parts. The figure keeps a pointer to `spec`. Throws InputError if a value that is divided by is zero.
Figure make_figure(const FigureSpec& spec, const Experiment& experiment, const std::vector<PointResult>& results);

}  // namespace switchyard::platform
