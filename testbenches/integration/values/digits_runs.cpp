// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/integration/values/digits_runs.h"

#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/programs.h"

namespace switchyard::testing {

using nlohmann::json;

std::string options_of(const DigitsNetwork& network) {
    const std::string folder = kDigitsFolder + network.folder;
    const std::string image = compiled("configs/workloads/digits_" + network.name + ".yaml --platform " + kMini +
                                           " --design adyna" + network.settings + network.compile,
                                       "digits_" + network.name + ".syk");
    return std::string("--platform ") + kMini + " --set chip.functional=yes" + network.settings + " --image " + image +
           " --weights " + folder + "/weights --inputs " + network.inputs + " --expect " + folder + "/" +
           network.expected + " --trace " + folder + "/routing.jsonl";
}

json values_of(const DigitsNetwork& network, const std::string& more) {
    return report_of_run(options_of(network) + " --bound 100" + more).at("values");
}

std::map<DigitsSample, DecisionDifference> first_differences(const json& values, const std::string& prefix,
                                                             const std::string& suffix) {
    std::map<DigitsSample, DecisionDifference> first;
    for (const json& difference : values.at("routing").at("differences")) {
        const std::string name = difference.at("switch");
        REQUIRE(name.rfind(prefix, 0) == 0);
        const std::string index = name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
        REQUIRE(name == prefix + index + suffix);
        const DecisionDifference one{std::stoul(index), difference.at("computed"), difference.at("recorded")};
        const auto [at, added] = first.emplace(DigitsSample{difference.at("batch"), difference.at("sample")}, one);
        if (!added && one.index < at->second.index) at->second = one;
    }
    return first;
}

}  // namespace switchyard::testing
