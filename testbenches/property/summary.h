// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace switchyard::testing {

/// The distribution over some pairs of run_pair().
struct Summary {
    std::size_t pairs = 0;
    std::size_t errors = 0;        ///< pairs of which a model gave up
    std::size_t tiles_failed = 0;  ///< pairs with a conservation check that did not hold
    std::size_t stages_failed = 0;
    std::size_t over_20_percent = 0;
    /// Of |difference|; 0 of nothing.
    double median = 0, percentile_95 = 0, worst = 0;
};

Summary summary_of(const std::vector<nlohmann::ordered_json>& results);
/// Those of the pairs for which `chip.impl: auto` takes stages.
std::vector<nlohmann::ordered_json> validated(const std::vector<nlohmann::ordered_json>& results);
nlohmann::ordered_json to_json(const Summary& summary);
/// Lines for people: the distribution, the keys that go along with the difference, the pairs that are wrong.
std::string summary_text(const std::vector<nlohmann::ordered_json>& results);

}  // namespace switchyard::testing
