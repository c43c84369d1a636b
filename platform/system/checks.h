// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace switchyard::platform {

/// One thing that must hold in every run, whatever the workload.
struct Check {
    enum class Relation { equal, at_most };
    std::string name;
    Relation relation = Relation::equal;
    double expected = 0, got = 0;
    bool ok = false;
};

/// Gathers checks. `tolerance` is relative: sums of floating-point numbers in different orders differ in the last
/// digits, counts do not.
class Checks {
public:
    void equal(std::string name, double expected, double got, double tolerance = 0);
    void at_most(std::string name, double bound, double got);
    std::vector<Check> take() { return std::move(list_); }

private:
    std::vector<Check> list_;
};

}  // namespace switchyard::platform
