// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "switchyard/sw_scheduler/base/random_source.h"

namespace switchyard::testing {

/// Of one sample.
struct Shape {
    unsigned channels = 1, rows = 1, columns = 1;
    bool operator==(const Shape& o) const { return channels == o.channels && rows == o.rows && columns == o.columns; }
};

/// A tensor that layers of a random network may take.
struct Tensor {
    std::string name;
    Shape shape;
};

/// Shares of a whole, with six decimals that add up to 1; sometimes all of it goes one way.
std::vector<std::string> random_shares(RandomSource& random, unsigned count);

}  // namespace switchyard::testing
