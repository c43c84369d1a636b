// SPDX-License-Identifier: Apache-2.0
// Gates compare their logits in binary32, not results rounded to binary16: values closer to the threshold than binary16
// can tell, and thresholds behind activations.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "switchyard/platform/system/npy.h"
#include "switchyard/testbenches/integration/programs.h"
#include "switchyard/testbenches/sim_test.h"

using namespace switchyard;
using namespace switchyard::testing;

namespace {

constexpr std::size_t kSamples = 64;

/// The logit of a sample is first + 2^-13 * second: both are binary16, their sum is binary32.
struct Operands {
    float first = 0, second = 0;
    double logit() const { return double{first} + std::ldexp(double{second}, -13); }
};

/// Pairs about `centre`, a binary16: logits that differ from it by up to a few units in the last place of a binary32,
/// and by more.
std::vector<Operands> about(float centre) {
    std::vector<Operands> samples;
    for (int i = 0; i < static_cast<int>(kSamples); ++i) {
        const int step = i - static_cast<int>(kSamples) / 2;
        const float fine = std::ldexp(static_cast<float>(step % 4), -(i % 12));
        samples.push_back({centre + (i % 5 == 0 ? std::ldexp(static_cast<float>(step), -9) : 0.0f), fine});
    }
    return samples;
}

/// A gate with as many logits as `signs`, logit k = signs[k] * logit of the sample, in front of two branches.
struct GateCase {
    std::string fused, gateway;  ///< YAML: steps behind the product, keys of the switch
    std::vector<float> signs;
};

std::string model(const GateCase& gate) {
    return fmt::format(R"(name: gates
batch: {}
input: {{channels: 2}}
layers:
  - {{name: data, kind: elementwise, from: input}}
  - {{name: gate, kind: matmul, from: data, out_channels: {}, fused: [{}], parameters: gate}}
  - {{name: way, kind: switch, from: data, gate: gate, branches: 2{}}}
  - {{name: low, kind: matmul, from: way.0, out_channels: 1, parameters: branch}}
  - {{name: high, kind: matmul, from: way.1, out_channels: 1, parameters: branch}}
  - {{name: out, kind: merge, mode: sum, from: [low, high]}}
)",
                       kSamples, gate.signs.size(), gate.fused, gate.gateway);
}

/// Masks that the chip does not compute as `decide` says, of samples about `centre`.
std::size_t wrong_masks(const GateCase& gate, float centre, const std::function<std::uint64_t(double)>& decide) {
    const std::string folder = scratch("gate_weights"), trace = scratch("gate.jsonl");
    std::filesystem::create_directories(folder);
    std::vector<float> weights;
    for (const float sign : gate.signs) weights.insert(weights.end(), {sign, std::ldexp(sign, -13)});
    platform::write_npy({{gate.signs.size(), 2}, weights}, folder + "/gate.weight.npy");
    platform::write_npy({{1, 2}, {1, 0}}, folder + "/branch.weight.npy");
    std::vector<float> inputs;
    std::vector<std::uint64_t> masks;
    for (const Operands& one : about(centre)) {
        inputs.insert(inputs.end(), {one.first, one.second});
        masks.push_back(decide(one.logit()));
    }
    CHECK(std::count(masks.begin(), masks.end(), masks.front()) < static_cast<std::ptrdiff_t>(masks.size()));
    platform::write_npy({{kSamples, 2}, inputs}, folder + "/inputs.npy");
    write_text(trace, fmt::format("{{\"batch\":0,\"switch\":\"way\",\"branches\":2,\"samples\":{},\"mask\":[{}]}}\n",
                                  kSamples, fmt::join(masks, ",")));
    write_text(scratch("gates.yaml"), model(gate));
    const std::string image = compiled(scratch("gates.yaml") + " --platform " + kMini + " --design adyna");
    const nlohmann::json report =
        report_of_run(std::string("--platform ") + kMini + " --set chip.functional=yes --image " + image +
                      " --weights " + folder + " --inputs " + folder + "/inputs.npy --trace " + trace);
    return report.at("values").at("routing").at("differences").size();
}

std::uint64_t one_of_two(bool high) {
    return high ? 2 : 1;
}

double sigmoid(double z) {
    return 1 / (1 + std::exp(-z));
}

}  // namespace

TEST_CASE("a gate behind a sigmoid decides by its logit, however close it is to the threshold", "[values]") {
    CHECK(wrong_masks({"sigmoid", "", {1}}, 0, [](double z) { return one_of_two(z > 0); }) == 0);
    // ln(0.3 / 0.7) is -0.8473; the samples lie about the binary16 that is closest to it.
    CHECK(wrong_masks({"sigmoid", ", threshold: 0.3", {1}}, -0.84716796875f,
                      [](double z) { return one_of_two(sigmoid(z) > 0.3); }) == 0);
    CHECK(wrong_masks({"relu, sigmoid", ", threshold: 0.75", {1}}, 1.0986328125f,
                      [](double z) { return one_of_two(sigmoid(std::max(z, 0.0)) > 0.75); }) == 0);
    CHECK(wrong_masks({"relu", ", threshold: 0.25", {1}}, 0.25f, [](double z) { return one_of_two(z > 0.25); }) == 0);
    CHECK(wrong_masks({"", ", threshold: -2", {1}}, -2, [](double z) { return one_of_two(z > -2); }) == 0);
}

TEST_CASE("gates of several branches compare logits in binary32", "[values]") {
    // Both or none are open where the logits are zero apart from the sign.
    CHECK(wrong_masks({"sigmoid", ", choose: any", {1, -1}}, 0,
                      [](double z) -> std::uint64_t { return (z > 0 ? 1 : 0) | (z < 0 ? 2 : 0); }) == 0);
    CHECK(wrong_masks({"sigmoid", "", {-1, 1}}, 0, [](double z) { return one_of_two(z > -z); }) == 0);
    // The largest behind a ReLU is the first of those that are not positive.
    CHECK(wrong_masks({"relu", "", {-1, 1}}, 0, [](double z) { return one_of_two(z > 0); }) == 0);
}

TEST_CASE("a threshold that cannot be crossed is refused", "[values]") {
    const auto refused = [](const GateCase& gate, std::initializer_list<const char*> parts) {
        write_text(scratch("refused.yaml"), model(gate));
        check_refused(sy_sched("compile " + scratch("refused.yaml") + " --platform " + kMini + " --design adyna -o " +
                               scratch("refused.syk")),
                      parts);
    };
    refused({"sigmoid", ", threshold: 1", {1}},
            {"refused.yaml:7: layers.way.threshold: expected a number above 0 and below 1 after a sigmoid, found "});
    refused({"relu", ", threshold: -0.5", {1}},
            {"layers.way.threshold: expected a number of 0 or more after a ReLU, found -0.5"});
    refused({"relu, sigmoid", ", threshold: 0.25", {1}},
            {"expected a number of 0 or more after a ReLU, found 0.25, which is -1.099 before the sigmoid"});
    refused({"", ", threshold: 1", {1, 1}},
            {"expected no threshold, as the largest of several outputs is chosen, found 1; leave it out"});
    refused({"", ", threshold: high", {1}}, {"layers.way.threshold"});
}

namespace {

constexpr std::size_t kExits = 4, kLabels = 3;

/// kExits classifiers of kLabels labels, each of which takes its own group of the sample's channels as logits.
std::string exits_model(unsigned patience) {
    std::string text =
        fmt::format("name: exits\nbatch: {}\ninput: {{channels: {}}}\nlayers:\n", kSamples, kLabels * kExits);
    std::string before = "input";
    for (std::size_t i = 0; i < kExits; ++i) {
        text += fmt::format(
            "  - {{name: h{0}, kind: elementwise, from: {1}}}\n"
            "  - {{name: g{0}, kind: matmul, group: {0}, groups: {2}, out_channels: {3}, parameters: label}}\n"
            "  - {{name: e{0}, kind: switch, from: h{0}, gate: g{0}, patience: {4}}}\n"
            "  - {{name: left{0}, kind: sink, from: e{0}.1}}\n",
            i, before, kExits, kLabels, patience);
        before = fmt::format("e{}.0", i);
    }
    return text + fmt::format("  - {{name: out, kind: elementwise, from: {}}}\n", before);
}

}  // namespace

TEST_CASE("samples leave when their label has stayed the same for as many classifiers as the patience says",
          "[values]") {
    for (const unsigned patience : {1u, 2u}) {
        INFO("patience " << patience);
        const std::string folder = scratch("exits_weights"), trace = scratch("exits.jsonl");
        std::filesystem::create_directories(folder);
        std::vector<float> weights(kLabels * kLabels * kExits);
        for (std::size_t k = 0; k < kLabels; ++k)
            for (std::size_t c = 0; c < kLabels * kExits; ++c)
                weights[k * kLabels * kExits + c] = c % kLabels == k ? 1.0f : 0.0f;
        platform::write_npy({{kLabels, kLabels * kExits}, weights}, folder + "/label.weight.npy");
        // Every sequence of labels is there: 3 to the power of 4 are more than the samples, so the first exit's label
        // is the same for some of them.
        std::vector<float> inputs;
        std::vector<std::vector<std::size_t>> labels(kSamples);
        for (std::size_t sample = 0; sample < kSamples; ++sample) {
            for (std::size_t i = 0, rest = sample; i < kExits; ++i, rest /= kLabels) {
                labels[sample].push_back(rest % kLabels);
                for (std::size_t k = 0; k < kLabels; ++k)
                    inputs.push_back(k == rest % kLabels ? 2.0f : static_cast<float>(k) / 2);
            }
        }
        platform::write_npy({{kSamples, kLabels * kExits}, inputs}, folder + "/inputs.npy");
        std::string lines;
        std::vector<std::size_t> here, left;
        for (std::size_t sample = 0; sample < kSamples; ++sample) here.push_back(sample);
        for (std::size_t i = 0; i < kExits; ++i) {
            std::vector<std::size_t> on;
            std::vector<unsigned> masks;
            for (const std::size_t sample : here) {
                bool same = i >= patience;
                for (std::size_t before = 1; same && before <= patience; ++before)
                    same = labels[sample][i - before] == labels[sample][i];
                masks.push_back(same ? 2 : 1);
                if (!same) on.push_back(sample);
            }
            lines += fmt::format("{{\"batch\":0,\"switch\":\"e{}\",\"branches\":2,\"samples\":[{}],\"mask\":[{}]}}\n",
                                 i, fmt::join(here, ","), fmt::join(masks, ","));
            left.push_back(here.size() - on.size());
            here = std::move(on);
        }
        CHECK(left[patience - 1] == 0);
        CHECK(left[patience] > 0);
        CHECK(left.back() > 0);
        CHECK(!here.empty());
        write_text(trace, lines);
        write_text(scratch("exits.yaml"), exits_model(patience));
        for (const char* const chip : {kMini, "configs/platforms/adyna.yaml"}) {
            const std::string image =
                compiled(scratch("exits.yaml") + " --platform " + chip + " --design adyna", "exits.syk");
            const nlohmann::json report =
                report_of_run(std::string("--platform ") + chip + " --set chip.functional=yes --image " + image +
                              " --weights " + folder + " --inputs " + folder + "/inputs.npy --trace " + trace);
            INFO(chip << ": " << report.at("values").at("routing").dump());
            CHECK(report.at("values").at("routing").at("differences").empty());
        }
    }
}
