// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

namespace switchyard::testing {

inline const std::string kDigitsFolder = "configs/workloads/digits/";
/// The images of the first twenty batches of all networks but digits_moe and digits_patch_select.
inline const std::string kDigitsInputs = kDigitsFolder + "inputs_batch0_to_19.npy";

/// A trained digits network.
struct DigitsNetwork {
    std::string name;    ///< configs/workloads/digits_NAME.yaml
    std::string folder;  ///< of its parameters, expected outputs and routes
    std::string inputs = kDigitsInputs, expected = "logits_batch0_to_19.npy";
    std::string settings = {};
    std::string compile = {};  ///< more options of `sy-sched compile`
};

/// What `sy-sim run` needs to compute its values on the chip of kMini.
std::string options_of(const DigitsNetwork& network);

/// `values` of the run's report. A sample that takes another way has another answer, so the bound on outputs says
/// nothing here.
nlohmann::json values_of(const DigitsNetwork& network, const std::string& more = "");

using DigitsSample = std::pair<std::size_t, std::size_t>;  ///< batch, number in it

struct DecisionDifference {
    std::size_t index = 0;  ///< of the switch: what is behind its name's prefix
    std::uint64_t computed = 0, recorded = 0;
};

/// Of each sample that takes another way, the first decision: the later ones follow from it. The switches are called
/// `prefix` INDEX `suffix`.
std::map<DigitsSample, DecisionDifference> first_differences(const nlohmann::json& values, const std::string& prefix,
                                                             const std::string& suffix = "");

}  // namespace switchyard::testing
