// SPDX-License-Identifier: Apache-2.0
// Trained transformers over recorded batches: labels and decisions are PyTorch's, and where a decision differs, logits
// in binary64 are so close that the arithmetic's error may exchange them.

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "switchyard/platform/system/npy.h"
#include "switchyard/sw_scheduler/base/json_text.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/programs.h"
#include "switchyard/testbenches/integration/values/digits_runs.h"
#include "switchyard/testbenches/integration/values/transformer_reference.h"

using namespace switchyard;
using namespace switchyard::testing;
using nlohmann::json;

namespace {

constexpr std::size_t kImages = 128;  ///< a batch
const DigitsNetwork kEarlyExit{"early_exit", "early_exit"};
const DigitsNetwork kMoe{"moe", "moe", kDigitsFolder + "moe/inputs_batch0_to_19.npy"};

const float* image_of(const platform::NpyArray& inputs, std::size_t batch, std::size_t image) {
    return &inputs.values.at((batch * kImages + image) * 64);
}

std::size_t largest_of(const ReferenceGates& logits) {
    const auto less = [](const ReferenceLogit& a, const ReferenceLogit& b) { return a.value < b.value; };
    return static_cast<std::size_t>(std::max_element(logits.begin(), logits.end(), less) - logits.begin());
}

/// Whether the error of two logits may make the one larger than the other, which it is not.
bool may_exchange(const ReferenceLogit& larger, const ReferenceLogit& smaller) {
    return larger.value - smaller.value < larger.bound + smaller.bound;
}

bool label_may_differ(const ReferenceGates& logits) {
    const std::size_t best = largest_of(logits);
    for (std::size_t k = 0; k < logits.size(); ++k)
        if (k != best && may_exchange(logits[best], logits[k])) return true;
    return false;
}

/// Leaves (2) behind the last of these classifiers, or goes on (1): patience 2.
std::uint64_t decision_of(const std::vector<ReferenceGates>& classifiers) {
    if (classifiers.size() < 3) return 1;
    std::set<std::size_t> labels;
    for (auto one = classifiers.end() - 3; one != classifiers.end(); ++one) labels.insert(largest_of(*one));
    return labels.size() == 1 ? 2 : 1;
}

/// `most`: samples that may leave elsewhere.
void check_early_exit(std::size_t batches, std::size_t max) {
    const json values = values_of(kEarlyExit, " --batches " + std::to_string(batches));
    INFO(values.at("routing").at("differences").dump());
    CHECK(values.at("outputs").at("samples") == batches * kImages);
    CHECK(values.at("outputs").at("different_labels") == 0);
    CHECK(values.at("routing").at("decisions").get<std::size_t>() > 3 * batches * kImages);
    const auto differences = first_differences(values, "exit");
    CHECK(differences.size() <= max);
    const platform::NpyArray inputs = platform::read_npy(kEarlyExit.inputs);
    for (const auto& [sample, difference] : differences) {
        INFO("batch " << sample.first << ", sample " << sample.second << ", exit" << difference.index);
        const std::vector<ReferenceGates> classifiers = early_exit_labels(
            kDigitsFolder + "early_exit/weights", image_of(inputs, sample.first, sample.second), difference.index);
        CHECK(decision_of(classifiers) == difference.recorded);
        // The decision depends on the last three labels.
        const auto first =
            classifiers.end() - static_cast<std::ptrdiff_t>(std::min<std::size_t>(3, classifiers.size()));
        CHECK(std::any_of(first, classifiers.end(), label_may_differ));
    }
}

/// Recorded experts of an image's tokens in each layer.
std::vector<TokenExperts> recorded_experts(const std::string& trace, std::size_t batch, std::size_t image) {
    std::vector<TokenExperts> layers;
    std::istringstream lines(trace);
    for (std::string line; std::getline(lines, line);) {
        const json record = switchyard::parse_json(line, "trace");
        if (record.at("batch") > batch) break;
        if (record.at("batch") != batch) continue;
        TokenExperts& experts = layers.emplace_back();
        for (std::size_t t = 0; t < kTokens; ++t) {
            const std::uint64_t mask = record.at("mask").at(image * kTokens + t);
            while ((mask >> experts[t] & 1) == 0) ++experts[t];
        }
    }
    return layers;
}

/// `most`: tokens that may go elsewhere.
void check_moe(std::size_t batches, std::size_t max) {
    const json values = values_of(kMoe, " --batches " + std::to_string(batches));
    INFO(values.at("routing").at("differences").dump());
    CHECK(values.at("outputs").at("samples") == batches * kImages);
    CHECK(values.at("outputs").at("different_labels") == 0);
    CHECK(values.at("routing").at("decisions") == 2 * batches * kImages * kTokens);
    const auto differences = first_differences(values, "layer", ".experts");
    CHECK(differences.size() <= max);
    std::map<DigitsSample, std::size_t> first_layer;  ///< by image: attention carries a difference to the other tokens
    for (const auto& [sample, difference] : differences) {
        const auto [at, added] =
            first_layer.emplace(DigitsSample{sample.first, sample.second / kTokens}, difference.index);
        if (!added) at->second = std::min(at->second, difference.index);
    }
    const platform::NpyArray inputs = platform::read_npy(kMoe.inputs);
    const std::string trace = read_text(kDigitsFolder + "moe/routing.jsonl");
    for (const auto& [sample, difference] : differences) {
        const std::size_t image = sample.second / kTokens, token = sample.second % kTokens;
        if (first_layer.at({sample.first, image}) < difference.index) continue;
        INFO("batch " << sample.first << ", image " << image << ", token " << token << ", layer " << difference.index);
        std::vector<TokenExperts> before = recorded_experts(trace, sample.first, image);
        const std::size_t recorded = before.at(difference.index)[token];
        before.resize(difference.index);
        const ReferenceGates router =
            moe_routers(kDigitsFolder + "moe/weights", image_of(inputs, sample.first, image), before).at(token);
        CHECK(largest_of(router) == recorded);
        std::size_t computed = 0;
        while ((difference.computed >> computed & 1) == 0) ++computed;
        INFO("logits " << router.at(recorded).value << " and " << router.at(computed).value << ", error bounds "
                       << router[recorded].bound << " and " << router[computed].bound);
        CHECK(may_exchange(router[recorded], router[computed]));
    }
}

}  // namespace

TEST_CASE("a transformer's samples leave behind the classifiers that PyTorch's leave behind", "[values]") {
    check_early_exit(4, 2);
}

TEST_CASE("a transformer's samples leave where PyTorch's leave, over twenty batches", "[.values-long]") {
    check_early_exit(20, 4);
}

TEST_CASE("a transformer's tokens go to the experts that PyTorch's go to", "[values]") {
    check_moe(2, 8);
}

TEST_CASE("a transformer's tokens go to PyTorch's experts, over twenty batches", "[.values-long]") {
    check_moe(20, 40);
}
