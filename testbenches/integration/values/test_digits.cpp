// SPDX-License-Identifier: Apache-2.0
// Trained networks over all recorded batches: labels and decisions are PyTorch's, and where a decision differs, its
// logit in binary64 is closer to the threshold than the arithmetic's error.

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "switchyard/platform/system/npy.h"
#include "switchyard/sw_scheduler/base/json_text.h"
#include "switchyard/testbenches/integration/programs.h"
#include "switchyard/testbenches/integration/values/digits_reference.h"
#include "switchyard/testbenches/integration/values/digits_runs.h"
#include "switchyard/testbenches/sim_test.h"

using namespace switchyard;
using namespace switchyard::testing;
using nlohmann::json;

namespace {

/// Recorded masks of the named switches for one sample.
std::vector<std::size_t> recorded_masks(const std::string& trace, const DigitsSample& sample) {
    std::vector<std::size_t> masks;
    std::istringstream lines(trace);
    for (std::string line; std::getline(lines, line);) {
        const json record = switchyard::parse_json(line, "trace");
        if (record.at("batch") == sample.first) masks.push_back(record.at("mask").at(sample.second));
        if (record.at("batch") > sample.first) break;
    }
    return masks;
}

using Network = DigitsNetwork;

using Gates = std::function<std::vector<ReferenceGates>(const std::string& folder, const float* image,
                                                        const std::vector<std::size_t>& masks)>;

void check_differences(const Network& network, const json& values, const std::string& prefix, const Gates& gates) {
    const platform::NpyArray inputs = platform::read_npy(network.inputs);
    const std::string folder = kDigitsFolder + network.folder, trace = read_text(folder + "/routing.jsonl");
    const std::size_t pixels = inputs.values.size() / inputs.shape.at(0);
    for (const auto& [sample, difference] : first_differences(values, prefix)) {
        INFO("batch " << sample.first << ", sample " << sample.second << ", " << prefix << difference.index);
        const float* const image = &inputs.values[(sample.first * 128 + sample.second) * pixels];
        const ReferenceGates reference =
            gates(folder + "/weights", image, recorded_masks(trace, sample)).at(difference.index);
        const bool one_of_two = reference.size() == 1;  // the mask is 1 or 2
        for (std::size_t gate = 0; gate < reference.size(); ++gate) {
            const auto open = [&](std::uint64_t mask) { return (mask >> (one_of_two ? 1 : gate) & 1) != 0; };
            INFO("gate " << gate << ": logit " << reference[gate].value << ", error bound " << reference[gate].bound);
            CHECK((reference[gate].value > 0) == open(difference.recorded));
            if (open(difference.computed) != open(difference.recorded))
                CHECK(std::abs(reference[gate].value) < reference[gate].bound);
        }
    }
}

}  // namespace

namespace {

/// `samples`: those that may take another way, because a logit is within the rounding of weights and activations of
/// zero.
void check_skipnet(const std::string& folder, std::size_t samples) {
    const Network network{"skipnet", folder};
    const json values = values_of(network);
    INFO(folder << ": " << values.at("routing").at("differences").dump());
    CHECK(values.at("outputs").at("samples") == 2560);
    CHECK(values.at("outputs").at("different_labels") == 0);
    CHECK(values.at("routing").at("decisions") == 8 * 2560);
    CHECK(first_differences(values, "block").size() <= samples);
    check_differences(network, values, "block", skipnet_gates);
}

void check_channel_gate(const std::string& sums, std::size_t samples, std::size_t labels) {
    const Network network{"channel_gate", "channel_gate", kDigitsInputs, "logits_batch0_to_19.npy",
                          " --set pe_array.partial_sums=" + sums};
    const json values = values_of(network);
    INFO("partial sums in " << sums << ": " << values.at("routing").at("differences").dump());
    CHECK(values.at("outputs").at("samples") == 2560);
    CHECK(values.at("outputs").at("different_labels") <= labels);  // of samples that take another way
    CHECK(values.at("routing").at("decisions") == 4 * 2560);
    CHECK(first_differences(values, "conv").size() <= samples);
    check_differences(network, values, "conv", channel_gates);
}

}  // namespace

TEST_CASE("a SkipNet decides as its logits do, over twenty batches", "[values]") {
    check_skipnet("skipnet", 4);
}

/// Decisions of some batches that differ from the recorded ones, by switch and sample of all batches.
std::set<std::string> differences_of(const Network& network, const json& values, unsigned together) {
    std::istringstream trace(read_text(kDigitsFolder + network.folder + "/routing.jsonl"));
    std::string line;
    std::getline(trace, line);
    const std::size_t samples = switchyard::parse_json(line, "trace").at("mask").size() * together;
    std::set<std::string> found;
    for (const json& one : values.at("routing").at("differences"))
        found.insert(
            one.at("switch").get<std::string>() + " " +
            std::to_string(one.at("batch").get<std::size_t>() * samples + one.at("sample").get<std::size_t>()));
    return found;
}

namespace {

/// By batch, with packed samples and with batches in flight.
void check_labels(Network network) {
    for (const char* const routing : {"sorted_reload", "on_chip"}) {
        network.compile = std::string(" --invocation batch --sample-routing ") + routing;
        INFO(network.name << network.compile);
        const json values = values_of(network, " --batches 1");
        CHECK(values.at("outputs").at("samples").get<unsigned>() % 128 == 0);
        CHECK(values.at("outputs").at("different_labels") == 0);
        CHECK(values.at("routing").at("differences").empty());
    }
    network.compile = "";
    const json one_by_one = values_of(network, " --batches 2");
    for (const char* const compile :
         {" --batches-in-flight 2", " --batches-in-flight 2 --invocation batch --sample-routing on_chip"}) {
        network.compile = compile;
        INFO(network.name << network.compile);
        const json values = values_of(network, " --batches 2");
        CHECK(values.at("outputs").at("samples") == one_by_one.at("outputs").at("samples"));
        CHECK(values.at("outputs").at("different_labels") == 0);
        CHECK(values.at("routing").at("decisions") == one_by_one.at("routing").at("decisions"));
        CHECK(differences_of(network, values, 2) == differences_of(network, one_by_one, 1));
    }
}

}  // namespace

TEST_CASE("labels stay what they are by batch, with packed samples and with batches in flight", "[values]") {
    check_labels({"skipnet", "skipnet"});
}

TEST_CASE("labels of other networks stay what they are by batch, packed and in flight", "[.ci-long][values]") {
    for (const Network& network :
         {Network{"channel_gate", "channel_gate"},
          Network{"patch_select", "patch_select", kDigitsFolder + "patch_select/inputs_batch0_to_4.npy",
                  "logits_batch0_to_4.npy"},
          Network{"early_exit", "early_exit"}, Network{"moe", "moe", kDigitsFolder + "moe/inputs_batch0_to_19.npy"}})
        check_labels(network);
}

TEST_CASE("SkipNets of other seeds decide as their logits do, over twenty batches", "[.values-long]") {
    check_skipnet("skipnet_seed1", 4);
    check_skipnet("skipnet_seed2", 4);
}

TEST_CASE("gated channels are those that their logits open, over twenty batches", "[.ci-long][values]") {
    check_channel_gate("fp16", 24, 1);
}

TEST_CASE("gated channels are those that their logits open, with partial sums in binary32", "[.values-long]") {
    check_channel_gate("fp32", 26, 2);
}

TEST_CASE("selected patches are those that PyTorch selected, over five batches", "[values]") {
    const Network network{"patch_select", "patch_select", kDigitsFolder + "patch_select/inputs_batch0_to_4.npy",
                          "logits_batch0_to_4.npy"};
    const json values = values_of(network);
    CHECK(values.at("outputs").at("samples") == 5 * 2048);
    CHECK(values.at("outputs").at("different_labels") == 0);
    CHECK(values.at("routing").at("decisions") == 5 * 2048);
    CHECK(values.at("routing").at("differences").empty());
}

TEST_CASE("sy-sim run says how far outputs are off and exits with 1 beyond the bound", "[values]") {
    const Network network{"skipnet", "skipnet"};
    const std::string options = "run " + options_of(network) + " --batches 1";
    const Outcome good = sy_sim(options);
    INFO(good.out << good.err);
    CHECK(good.status == 0);
    CHECK(good.err.empty());
    for (const char* part : {"largest error 0.0", "bound 0.05", "0 of 128 differ from those expected",
                             "0 of 1024 differ from those recorded"})
        CHECK_THAT(good.out, Catch::Matchers::ContainsSubstring(part));

    const Outcome tight = sy_sim(options + " --bound 0.001");
    CHECK(tight.status == 1);
    CHECK(std::count(tight.err.begin(), tight.err.end(), '\n') == 1);
    for (const char* part :
         {"sy-sim: configs/workloads/digits/skipnet/logits_batch0_to_19.npy: batch 0, sample ", "bound 0.001"})
        CHECK_THAT(tight.err, Catch::Matchers::ContainsSubstring(part));
    CHECK_THAT(tight.out, Catch::Matchers::ContainsSubstring("bound 0.001"));  // the report is printed all the same
}

#if defined(SWITCHYARD_RTL)
TEST_CASE("PE arrays and dispatchers in RTL compute the models' bits over two batches", "[.values-rtl]") {
    const std::string patches = kDigitsFolder + "patch_select/inputs_batch0_to_4.npy";
    const Network network = GENERATE_COPY(Network{"skipnet", "skipnet"}, Network{"channel_gate", "channel_gate"},
                                          Network{"channel_gate", "channel_gate", kDigitsInputs,
                                                  "logits_batch0_to_19.npy", " --set pe_array.partial_sums=fp32"},
                                          Network{"patch_select", "patch_select", patches, "logits_batch0_to_4.npy"},
                                          Network{"early_exit", "early_exit"},
                                          Network{"moe", "moe", kDigitsFolder + "moe/inputs_batch0_to_19.npy"});
    INFO(network.name << network.settings);
    const auto run = [&](const std::string& array, const std::string& dispatcher) {
        return report_of_run(options_of(network) + " --bound 100 --batches 2 --set pe_array.impl=" + array +
                             " --set dispatcher.impl=" + dispatcher);
    };
    const json model = run("cycle", "walk"), rtl = run("rtl", "rtl"), analytic = run("analytic", "analytic");
    for (const json* one : {&rtl, &analytic}) CHECK(one->at("values") == model.at("values"));
    CHECK(rtl.at("batches") == model.at("batches"));  // cycle for cycle
    CHECK(model.at("values").at("outputs").at("samples").get<std::size_t>() % 256 == 0);
}
#endif
