// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/system/checks.h"

#include <cmath>

namespace switchyard::platform {

void Checks::equal(std::string name, double expected, double got, double tolerance) {
    const bool ok = std::abs(got - expected) <= tolerance * std::abs(expected);
    list_.push_back({std::move(name), Check::Relation::equal, expected, got, ok});
}

void Checks::at_most(std::string name, double bound, double got) {
    list_.push_back({std::move(name), Check::Relation::at_most, bound, got, got <= bound});
}

}  // namespace switchyard::platform
