// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "switchyard/platform/experiment/figure.h"

namespace switchyard::platform {

/// results.json of docs/experiments.md: every point with its report, every figure with its numbers, published ones
/// beside ours. Depends on the experiment and its files only. "ok" is false if a point's is.
nlohmann::ordered_json results_json(const Experiment& experiment, const std::vector<PointResult>& results,
                                    const std::vector<Figure>& figures);

/// The figures' numbers for people.
std::string results_table(const Experiment& experiment, const std::vector<PointResult>& results,
                          const std::vector<Figure>& figures);

/// Name and document of each plot: NAME.svg, and NAME.published.svg if the figure has published numbers other than
/// crossings.
std::vector<std::pair<std::string, std::string>> plots(const Figure& figure);

}  // namespace switchyard::platform
