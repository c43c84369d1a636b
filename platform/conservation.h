// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "switchyard/platform/expectation.h"
#include "switchyard/platform/simulation.h"

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

/// Adds what `tiles` of the chip draw by being on for so long.
void add_static(Activity& activity, const PlatformConfig& platform, double tiles, double nanoseconds);

/// Time of the run (first doorbell to last interrupt) and what was done in it.
struct RunActivity {
    double nanoseconds = 0;
    Activity chip;                ///< counted over the whole chip
    double total_picojoules = 0;  ///< summed over tiles, network and memory one by one
};
RunActivity run_activity(const PlatformConfig& platform, const RunResult& result);

/// `expected`: one a batch. Each sample goes where its mask says, bytes that leave a module arrive at another, nothing
/// is faster than its peak, the parts of the energy make the total.
std::vector<Check> check_conservation(const PlatformConfig& platform, const Image& image,
                                      const std::vector<Expectation>& expected, const RunResult& result);

}  // namespace switchyard::platform
