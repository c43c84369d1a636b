// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

namespace switchyard::platform {

/// Of at least one value.
double arithmetic_mean(const std::vector<double>& values);
/// Of at least one value; nothing unless all are positive.
std::optional<double> geometric_mean(const std::vector<double>& values);

/// The smallest x at which the line through the points (x[i], y[i]), in order of increasing x, reaches `level`;
/// straight between neighbours. Nothing if it does not.
std::optional<double> crossing(const std::vector<double>& x, const std::vector<double>& y, double level);

}  // namespace switchyard::platform
