// SPDX-License-Identifier: Apache-2.0
// The networks of Adyna's evaluation beside SkipNet (test_workloads.cpp): sizes against what is published of them,
// routes against what their files declare.

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "model_text.h"
#include "switchyard/sw_scheduler/workload/model_reader.h"
#include "switchyard/sw_scheduler/workload/profile.h"
#include "switchyard/sw_scheduler/workload/route_provider.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::sched;

namespace {

constexpr double kMega = 1e6, kMebi = 1 << 20;
/// Batches that make up whole periods of the declared drift.
constexpr std::size_t kDeclaredBatches = 400;

double weights_of(const Operator& op) {
    return static_cast<double>(op.weight_bytes) / kElementBytes;
}

bool is_gate(const std::string& name) {
    return name.size() > 9 && name.compare(name.size() - 9, 9, ".saliency") == 0;
}

/// MACs of a sample that takes every branch, without what makes masks.
double dense_macs(const DynGraph& graph) {
    double macs = 0;
    for (const Operator& op : graph.operators)
        if (!is_gate(op.name)) macs += static_cast<double>(op.macs_per_sample);
    return macs;
}

/// Five standard deviations of a rate.
double share_bound(double probability, double trials) {
    return 5 * std::sqrt(probability * (1 - probability) / trials) + 1e-9;
}

/// Samples that take each branch of a switch, as a share of those that reach it.
std::vector<double> branch_shares(const std::vector<BatchRouting>& batches, std::size_t id, std::uint32_t branches) {
    std::vector<double> shares(branches, 0);
    double reached = 0;
    for (const BatchRouting& batch : batches) {
        for (const std::uint64_t mask : batch.masks[id]) {
            reached += mask != 0 ? 1 : 0;
            for (std::uint32_t branch = 0; branch < branches; ++branch)
                shares[branch] += static_cast<double>(mask >> branch & 1);
        }
    }
    for (double& share : shares) share /= reached;
    return shares;
}

void check_any_batch_alone(const Model& model, const std::vector<BatchRouting>& in_order) {
    const RouteGenerator generator(*model.routing.distribution, model.graph.signatures(), model.graph.batch_samples());
    CHECK(generator.batch(7).masks == in_order[7].masks);
    CHECK(generator.batch(8).masks != in_order[7].masks);
}

}  // namespace

TEST_CASE("PABEE: a layer of BERT-base has the published MACs, weights and tensors", "[workloads]") {
    const DynGraph graph = read_model("configs/workloads/pabee_bert.yaml").graph;
    double all_weights = 0;
    for (int layer = 1; layer <= 12; ++layer) {
        const std::string prefix = "layer" + std::to_string(layer) + ".";
        double macs = 0, weights = 0;
        for (const char* part : {"qkv", "attention", "output", "up", "down"}) {
            macs += static_cast<double>(named(graph, prefix + part).macs_per_sample);
            weights += weights_of(named(graph, prefix + part));
        }
        CHECK(macs == Approx(931 * kMega).epsilon(0.001));
        CHECK(weights == Approx(7.08 * kMega).epsilon(0.003));  // biases and norms are not in the published figure
        all_weights += weights;
        CHECK(named(graph, prefix + "pooler").macs_per_sample == 768 * 768);
        CHECK(named(graph, prefix + "classifier").gate_switch == (layer < 12 ? layer - 1 : kNoSwitch));
    }
    CHECK(kElementBytes * all_weights / kMebi == Approx(162).epsilon(0.003));
    CHECK(graph.batch_samples() == 128);
    CHECK(128.0 * static_cast<double>(named(graph, "layer3.down").out_bytes_per_sample) / kMebi == 24);
    CHECK(128.0 * static_cast<double>(named(graph, "layer3.up").out_bytes_per_sample) / kMebi == 96);
    CHECK(graph.outputs.size() == 12);
    CHECK(to_string(named(graph, "layer3.qkv").path, graph.switches) == "exit1.0 / exit2.0");
}

TEST_CASE("PABEE: sentences leave after the published number of layers on average", "[workloads]") {
    const Model model = read_model("configs/workloads/pabee_bert.yaml");
    const std::size_t exits = model.graph.switches.size();
    REQUIRE(exits == 11);
    const unsigned patience = model.routing.distribution->switches[0].patience;
    const auto batches = declared_routing(model, kDeclaredBatches);
    double sum = 0, squares = 0, samples = 0;
    std::vector<double> left(exits + 1, 0);
    for (const BatchRouting& batch : batches) {
        for (std::uint32_t sample = 0; sample < batch.samples; ++sample) {
            std::size_t at = 0;
            while (at < exits && batch.masks[at][sample] == 1) ++at;
            ++left[at];
            const double layers = static_cast<double>(at) + 1;
            sum += layers;
            squares += layers * layers;
            ++samples;
        }
    }
    const double mean = sum / samples, deviation = std::sqrt(squares / samples - mean * mean);
    CHECK(mean == Approx(12 / 1.62).margin(5 * deviation / std::sqrt(samples)));
    for (std::size_t at = 0; at < patience; ++at) CHECK(left[at] == 0);  // the earliest is layer patience + 1
    CHECK(left[patience] > 0);
    CHECK(left[exits] > 0);
    check_any_batch_alone(model, batches);
}

TEST_CASE("Tutel-MoE has the layers of the public example and as many experts as fit", "[workloads]") {
    const Model model = read_model("configs/workloads/tutel_moe.yaml");
    const DynGraph& graph = model.graph;
    const std::map<std::string, TensorShape> published = {
        {"conv1", {32, 32, 32}}, {"conv2", {32, 30, 30}}, {"pool1", {32, 15, 15}}, {"conv3", {64, 15, 15}},
        {"conv4", {64, 13, 13}}, {"pool2", {64, 6, 6}},   {"up0", {512, 1, 1}},    {"down0", {10, 1, 1}}};
    for (const auto& [name, shape] : published) CHECK(named(graph, name).output() == shape);
    CHECK(named(graph, "pool2").output().elements() == 2304);
    CHECK(named(graph, "up0").macs_per_sample == 2304 * 512);
    CHECK(named(graph, "down0").macs_per_sample == 512 * 10);
    const double expert = weights_of(named(graph, "up15")) + weights_of(named(graph, "down15"));
    CHECK(kElementBytes * expert / kMebi == Approx(2.26).epsilon(0.002));
    REQUIRE(graph.switches.size() == 1);
    CHECK(graph.switches[0].branches == 16);
    CHECK(graph.switches[0].exclusive);
    CHECK(kElementBytes * expert * 16 / kMebi == Approx(36).epsilon(0.01));
}

TEST_CASE("the layer of SwitchTransformer has switch-base's experts", "[workloads]") {
    const Model model = read_model("configs/workloads/switch_layer.yaml");
    const DynGraph& graph = model.graph;
    CHECK(graph.batch_samples() == 8 * 128);
    REQUIRE(graph.switches.size() == 1);
    CHECK(graph.switches[0].branches == 16);
    for (const char* expert : {"0", "15"}) {
        CHECK(named(graph, std::string("up") + expert).macs_per_sample == 768 * 3072);
        CHECK(named(graph, std::string("down") + expert).macs_per_sample == 3072 * 768);
        CHECK(weights_of(named(graph, std::string("up") + expert)) == 768 * 3072 + 3072);
        CHECK(weights_of(named(graph, std::string("down") + expert)) == 3072 * 768 + 768);
    }
    CHECK(static_cast<double>(graph.total_weight_bytes()) == Approx(151e6).epsilon(0.01));
    // Zipf's exponent 0.8.
    const std::vector<double> shares = branch_shares(declared_routing(model, 40), 0, 16);
    CHECK(shares[0] / shares[15] == Approx(std::pow(16, 0.8)).epsilon(0.1));
}

TEST_CASE("Tutel-MoE: loads of the experts are those declared, uniform or by Zipf's law", "[workloads]") {
    Model model = read_model("configs/workloads/tutel_moe.yaml");
    const auto uniform = declared_routing(model, kDeclaredBatches);
    const double trials = static_cast<double>(kDeclaredBatches) * 128;
    for (const double share : branch_shares(uniform, 0, 16))
        CHECK(share == Approx(1.0 / 16).margin(share_bound(1.0 / 16, trials)));
    check_any_batch_alone(model, uniform);

    model.routing = read_routing_file("configs/workloads/routing/tutel_moe_zipf.yaml", model.graph.signatures(), 1);
    const std::vector<double> skewed = branch_shares(declared_routing(model, kDeclaredBatches), 0, 16);
    double harmonic = 0;
    for (int rank = 1; rank <= 16; ++rank) harmonic += 1.0 / rank;
    for (std::size_t expert = 0; expert < 16; ++expert) {
        const double expected = 1 / (harmonic * static_cast<double>(expert + 1));
        CHECK(skewed[expert] == Approx(expected).margin(share_bound(expected, trials)));
    }
}

TEST_CASE("FBSNet: all groups together are the published dense networks", "[workloads]") {
    const DynGraph resnet = read_model("configs/workloads/fbsnet_resnet18.yaml").graph;
    CHECK(dense_macs(resnet) == Approx(1.81e9).epsilon(0.005));
    double weights = 0;
    for (const Operator& op : resnet.operators) weights += weights_of(op);
    CHECK(weights == Approx(11.69 * kMega).epsilon(0.005));  // torchvision's resnet18
    REQUIRE(resnet.switches.size() == 16);                   // each of the 16 convolutions of the blocks takes groups
    const DynGraph chain = read_model("configs/workloads/fbsnet_mcifarnet.yaml").graph;
    CHECK(dense_macs(chain) == Approx(174.3 * kMega).epsilon(0.001));
    REQUIRE(chain.switches.size() == 7);
    const std::map<std::string, TensorShape> published = {{"conv0.out", {64, 30, 30}},  {"conv1.out", {64, 30, 30}},
                                                          {"conv2.out", {128, 15, 15}}, {"conv3.out", {128, 15, 15}},
                                                          {"conv4.out", {128, 15, 15}}, {"conv5.out", {192, 8, 8}},
                                                          {"conv6.out", {192, 8, 8}},   {"conv7.out", {192, 8, 8}}};
    for (const auto& [name, shape] : published) CHECK(named(chain, name).output() == shape);
    CHECK(named(chain, "conv2.part5").inputs[0].first_channel() == 40);
    CHECK(named(resnet, "block8.b.out").inputs.size() == 9);  // eight groups and the shortcut
    for (const DynGraph* graph : {&resnet, &chain}) {
        for (const Switch& item : graph->switches) {
            CHECK(item.branches == 8);
            CHECK_FALSE(item.exclusive);
        }
    }
}

TEST_CASE("FBSNet: a sample keeps the declared number of groups, and loads are skewed", "[workloads]") {
    const double kept[] = {5.6, 4};
    const char* const files[] = {"configs/workloads/fbsnet_resnet18.yaml", "configs/workloads/fbsnet_mcifarnet.yaml"};
    for (std::size_t network = 0; network < 2; ++network) {
        INFO(files[network]);
        const Model model = read_model(files[network]);
        const auto batches = declared_routing(model, kDeclaredBatches);
        const double trials = static_cast<double>(kDeclaredBatches) * 128;
        const auto min = static_cast<unsigned>(kept[network]);
        bool some_idle = false;
        for (std::size_t id = 0; id < model.graph.switches.size(); ++id) {
            const std::vector<double>& declared = model.routing.distribution->switches[id].probability;
            CHECK(std::accumulate(declared.begin(), declared.end(), 0.0) == Approx(kept[network]));
            const std::vector<double> shares = branch_shares(batches, id, 8);
            for (std::size_t branch = 0; branch < 8; ++branch)
                CHECK(shares[branch] == Approx(declared[branch]).margin(share_bound(declared[branch], trials)));
            for (const BatchRouting& batch : batches) {
                bool idle = true;
                for (const std::uint64_t mask : batch.masks[id]) {
                    unsigned count = 0;
                    for (unsigned branch = 0; branch < 8; ++branch) count += mask >> branch & 1;
                    REQUIRE(count >= min);
                    REQUIRE(count <= (kept[network] > min ? min + 1 : min));
                    idle = idle && (mask >> 7) == 0;
                }
                some_idle = some_idle || idle;
            }
        }
        CHECK(some_idle);  // "some branches are not even executed once in a batch" (Adyna, section V-B)
        check_any_batch_alone(model, batches);
    }
}

TEST_CASE("FBSNet: what M-CifarNet saves on its inputs is half of what it can", "[workloads]") {
    const Model model = read_model("configs/workloads/fbsnet_mcifarnet.yaml");
    const auto fractions = expected_fractions(profile_of(model.graph, declared_routing(model, kDeclaredBatches), 128));
    double run = 0;
    for (std::size_t id = 0; id < fractions.size(); ++id) {
        const Operator& op = model.graph.operators[id];
        if (!is_gate(op.name)) run += fractions[id] * static_cast<double>(op.macs_per_sample);
    }
    const double stem = static_cast<double>(named(model.graph, "conv0.out").macs_per_sample);
    const double head = static_cast<double>(named(model.graph, "head").macs_per_sample);
    // Four of eight equal groups, whichever they are.
    CHECK(run == Approx(stem + head + (dense_macs(model.graph) - stem - head) / 2));
}

TEST_CASE("DPSNet: scorer and features are the public ones, and a batch has 8192 patches", "[workloads]") {
    const DynGraph graph = read_model("configs/workloads/dpsnet.yaml").graph;
    CHECK(graph.samples_per_input == 64);
    CHECK(graph.batch_samples() == 8192);
    // The public scorer runs on the whole image, downscaled by 3, and shares what neighbouring patches have in common.
    double whole = 0, folded = 0;
    std::uint32_t side = 224 / 3;
    for (const char* name : {"score1", "score2", "score3", "score4"}) {
        const Operator& op = named(graph, name);
        side -= op.shape.filter_rows - 1u;
        const double filter = double{1} * op.shape.filter_rows * op.shape.filter_columns;
        whole += double{1} * side * side * op.shape.in_channels * op.shape.out_channels * filter;
        folded += 64 * static_cast<double>(op.macs_per_sample);
    }
    CHECK(side / 8 == 8);  // the grid of candidates
    CHECK(whole == Approx(29.3 * kMega).epsilon(0.002));
    CHECK(folded == Approx(44.0 * kMega).epsilon(0.001));
    CHECK(named(graph, "score").output() == TensorShape{1, 1, 1});

    // The public features on patches of 100x100.
    double features = 0;
    const auto at = [](std::uint32_t size, const Operator& op) {
        return (size + 2u * op.shape.pad - op.shape.filter_rows) / op.shape.stride + 1;
    };
    std::uint32_t size = 100;
    const auto add = [&](const std::string& name, std::uint32_t from) {
        const Operator& op = named(graph, name);
        const std::uint32_t made = at(from, op);
        features += double{1} * made * made * op.shape.in_channels * op.shape.out_channels * op.shape.filter_rows *
                    op.shape.filter_columns;
        return made;
    };
    add("stem", size);
    for (int block = 1; block <= 3; ++block) {
        const std::string prefix = "block" + std::to_string(block) + ".";
        add(prefix + "shortcut", size);
        size = add(prefix + "a", size);
        add(prefix + "b", size);
    }
    CHECK(features == Approx(72.7 * kMega).epsilon(0.001));
    CHECK(to_string(named(graph, "block3.b").path, graph.switches) == "patches.1");
}

TEST_CASE("DPSNet: five patches an image are kept on average, and their number varies with the image", "[workloads]") {
    const Model model = read_model("configs/workloads/dpsnet.yaml");
    constexpr std::size_t kFewBatches = 40;  // a period of the drift
    const auto batches = declared_routing(model, kFewBatches);
    double sum = 0, squares = 0, images = 0;
    for (const BatchRouting& batch : batches) {
        const std::vector<std::uint64_t>& masks = batch.masks[0];
        for (auto image = masks.begin(); image != masks.end(); image += 64) {
            const auto kept = static_cast<double>(std::count(image, image + 64, 2));
            sum += kept;
            squares += kept * kept;
            ++images;
        }
    }
    const double mean = sum / images, variance = squares / images - mean * mean;
    CHECK(mean == Approx(5).margin(5 * std::sqrt(variance / images)));
    CHECK(variance > 3 * 64 * (5.0 / 64) * (59.0 / 64));  // three times that of patches on their own
    check_any_batch_alone(model, batches);
}

TEST_CASE("the digits' networks fit their recorded traces", "[workloads]") {
    struct Recorded {
        const char* file;
        std::size_t batches, switches;
        std::uint32_t samples, branches;
        bool exclusive, nested;
    };
    const Recorded recorded[] = {
        {"configs/workloads/digits_channel_gate.yaml", 200, 4, 128, 8, false, false},
        {"configs/workloads/digits_moe.yaml", 100, 2, 1024, 8, true, false},
        {"configs/workloads/digits_early_exit.yaml", 200, 5, 128, 2, true, true},
        {"configs/workloads/digits_patch_select.yaml", 100, 1, 2048, 2, true, false},
    };
    for (const Recorded& network : recorded) {
        INFO(network.file);
        const Model model = read_model(network.file);
        const auto signatures = model.graph.signatures();
        REQUIRE(signatures.size() == network.switches);
        for (std::size_t id = 0; id < signatures.size(); ++id) {
            CHECK(signatures[id].branches == network.branches);
            CHECK(signatures[id].exclusive == network.exclusive);
            CHECK(signatures[id].parent == (network.nested ? static_cast<int>(id) - 1 : -1));
        }
        CHECK(model.graph.batch_samples() == network.samples);
        CHECK(read_trace(model.routing.trace, signatures, network.samples).size() == network.batches);
    }
}

TEST_CASE("the digits' networks have the MACs of their layers", "[workloads]") {
    const auto macs = [](const char* file) { return read_model(file).graph.total_macs_per_sample(); };
    // stem 1->32 on 8x8; four times eight gates and 32->32, two on 8x8 and two on 4x4; head
    CHECK(macs("configs/workloads/digits_channel_gate.yaml") ==
          9 * 32 * 64 + 4 * 8 * 32 + 9ull * 32 * 32 * (64 + 64 + 16 + 16) + 320);
    // embedding, six layers on 8 tokens (QKV, attention, projection, 32->64->32) and classifiers
    CHECK(macs("configs/workloads/digits_early_exit.yaml") ==
          8 * 8 * 32 + 6ull * (8 * 32 * 96 + 2 * 8 * 8 * 32 + 8 * 32 * 32 + 2 * 8 * 32 * 64 + 320));
    // a token: embedding, two layers (QKV, attention to 8, projection, router, all of the experts), classifier
    CHECK(macs("configs/workloads/digits_moe.yaml") ==
          8 * 32 + 2ull * (32 * 96 + 2 * 8 * 32 + 32 * 32 + 32 * 8 + 8 * (2 * 32 * 64)) + 320);
    // a patch: score, 64->48->10
    CHECK(macs("configs/workloads/digits_patch_select.yaml") == 64 + 64 * 48 + 480);
}
