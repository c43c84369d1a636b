// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace switchyard::platform {

/// values[point][objective], all of which are to be small. Of each point: does no other one have all values smaller or
/// equal, and one of them smaller? Equal points are all on the front.
std::vector<bool> pareto_front(const std::vector<std::vector<double>>& values);

}  // namespace switchyard::platform
