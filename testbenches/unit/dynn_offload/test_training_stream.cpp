// SPDX-License-Identifier: Apache-2.0
// Training streams: made by differentiation and read from logs; data sets by their published statistics.
#include <algorithm>
#include <map>
#include <set>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/training_streams/training_network.h"
#include "switchyard/sw_scheduler/workload/dtr_log.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/unit/dynn_offload/dynn_offload_bench.h"

using namespace switchyard;
using namespace switchyard::sched;
using Catch::Matchers::ContainsSubstring;
using test::network_of;
using test::TemporaryFile;

namespace {

/// Two operators forward and two backward, with a view, a copy and a change in place.
const char* const kLog = R"({"INSTRUCTION":"CONSTANT","NAME":"before"}
{"INSTRUCTION":"MEMORY","NAME":"before","MEMORY":"8"}
{"INSTRUCTION":"ANNOTATE","ANNOTATION":"START"}
{"INSTRUCTION":"CONSTANT","NAME":"w"}
{"INSTRUCTION":"MEMORY","NAME":"w","MEMORY":"100"}
{"INSTRUCTION":"CALL","NAME":"t","ARGS":["w"],"RESULT":["wt"],"TIME":"5"}
{"INSTRUCTION":"MEMORY","NAME":"wt","MEMORY":"100"}
{"INSTRUCTION":"ALIAS","NAME":"wt","ALIAS":"0"}
{"INSTRUCTION":"CALL","NAME":"mm","ARGS":["wt"],"RESULT":["a"],"TIME":"20"}
{"INSTRUCTION":"MEMORY","NAME":"a","MEMORY":"40"}
{"INSTRUCTION":"ALIAS","NAME":"a","ALIAS":"-1"}
{"INSTRUCTION":"COPY","DST":"b","SRC":"a"}
{"INSTRUCTION":"RELEASE","NAME":"a"}
{"INSTRUCTION":"MUTATE","NAME":"add_","ARGS":["b","w"],"MUTATE":[0],"TIME":"7"}
{"INSTRUCTION":"CALL","NAME":"mm_backward","ARGS":["b"],"RESULT":["g"],"TIME":"30"}
{"INSTRUCTION":"MEMORY","NAME":"g","MEMORY":"100"}
{"INSTRUCTION":"ALIAS","NAME":"g","ALIAS":"-1"}
{"INSTRUCTION":"RELEASE","NAME":"b"}
{"INSTRUCTION":"RELEASE","NAME":"unknown"}
)";

}  // namespace

TEST_CASE("a DTR log becomes a stream", "[dynn_offload]") {
    const TemporaryFile file("dtr.log", kLog);
    const TrainingStream stream = read_dtr_log(file.path());
    REQUIRE(stream.operators.size() == 4);
    CHECK(stream.total_ns() == 62);
    // What stands before START is left out: w, its view, a, its changed copy, g.
    REQUIRE(stream.tensors.size() == 5);
    CHECK(stream.tensors[0].kind == TensorKind::input);
    CHECK(stream.tensors[1].alias_of == 0);
    CHECK(stream.tensors[1].bytes == 0);
    // The copy kept `a` alive until the change in place made a new one.
    CHECK(stream.tensors[2].released_after == 2);
    CHECK(stream.tensors[3].bytes == 40);
    CHECK(stream.tensors[3].released_after == 3);
    CHECK(stream.tensors[4].kind == TensorKind::gradient);
    CHECK(stream.tensors[4].released_after == kNoOperator);
    CHECK(stream.operators[2].phase == TrainingPhase::forward);
    CHECK(stream.operators[3].phase == TrainingPhase::backward);
    // w + both copies; w + copy + g.
    CHECK(stream.peak_bytes() == 240);
}

TEST_CASE("a damaged DTR log is an error with its line", "[dynn_offload]") {
    const std::string whole = kLog;
    const auto error_of = [](const std::string& text) {
        const TemporaryFile file("damaged.log", text);
        try {
            read_dtr_log(file.path());
        } catch (const InputError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    // Cut off within a line, within an operator, before the first one.
    CHECK_THAT(error_of(whole.substr(0, whole.find("\"ARGS\":[\"wt\"]"))),
               ContainsSubstring(":9: expected JSON, found other text from byte 35 on"));
    CHECK_THAT(error_of("[]\n"),
               ContainsSubstring(":1: expected a JSON object, found a list of 0; record the log again"));
    CHECK_THAT(error_of(whole.substr(0, whole.find("{\"INSTRUCTION\":\"MEMORY\",\"NAME\":\"a\""))),
               ContainsSubstring("expected MEMORY of a, found the end of the log"));
    CHECK_THAT(error_of(whole.substr(0, whole.find("{\"INSTRUCTION\":\"CALL\""))),
               ContainsSubstring("expected one CALL or MUTATE or more, found none"));
    CHECK_THAT(error_of("{\"INSTRUCTION\":\"SWAP\"}\n"),
               ContainsSubstring(":1: INSTRUCTION: expected one of ANNOTATE, CALL, CONSTANT, COPY, COPY_FROM, MUTATE, "
                                 "RELEASE, found SWAP"));
    CHECK_THAT(error_of("{\"INSTRUCTION\":\"COPY\",\"SRC\":\"x\",\"DST\":\"y\"}\n"),
               ContainsSubstring("SRC: expected a tensor of an earlier line, found \"x\""));
    CHECK_THAT(error_of("{\"INSTRUCTION\":\"CONSTANT\",\"NAME\":\"x\"}\n{\"INSTRUCTION\":\"MEMORY\",\"NAME\":\"x\","
                        "\"MEMORY\":\"many\"}\n"),
               ContainsSubstring("MEMORY: expected an integer, found \"many\""));
}

TEST_CASE("the backward pass of two linear layers is the one written by hand", "[dynn_offload]") {
    KernelTimes times{GpuDescription()};
    StepRecorder r(times, "two_layers", 4);
    r.at(0, 0);
    const TensorId x = r.input(4 * 8);
    const TensorId hidden = r.relu(r.linear(x, "first", 4, 8, 16));
    r.loss(r.linear(hidden, "second", 4, 16, 2));
    const TrainingStream stream = r.finish(7);
    std::vector<std::string> names;
    for (const TrainingOperator& op : stream.operators) names.push_back(op.name);
    // No gradient of the input is made.
    CHECK(names == std::vector<std::string>{"product", "relu", "product", "loss", "loss.backward",
                                            "product.backward_weight", "product.backward_data", "relu.backward",
                                            "product.backward_weight", "adam", "adam"});
    CHECK_NOTHROW(check_stream(stream));
    // Weights and biases, two moments each.
    CHECK(stream.persistent_bytes() == 3 * 4 * (8 * 16 + 16 + 16 * 2 + 2));
    // The result of relu is read last by the gradient of the second layer's weights or by its own.
    const auto relu = std::find_if(stream.tensors.begin(), stream.tensors.end(),
                                   [](const TrainingTensor& t) { return t.name == "relu"; });
    CHECK(relu->released_after == 7);
    CHECK(stream.path == 7);
}

TEST_CASE("a tensor with several readers gets one gradient", "[dynn_offload]") {
    KernelTimes times{GpuDescription()};
    StepRecorder r(times, "shared", 4);
    r.at(0, 0);
    const TensorId shared = r.linear(r.input(4 * 8), "first", 4, 8, 8);
    // Thrice the same weights: one gradient, accumulated in place.
    const TensorId sum = r.add(r.linear(shared, "again", 4, 8, 8),
                               r.add(r.linear(shared, "again", 4, 8, 8), r.linear(shared, "again", 4, 8, 8)));
    r.loss(sum);
    const TrainingStream stream = r.finish(0);
    CHECK_NOTHROW(check_stream(stream));
    std::size_t accumulations = 0, in_place = 0, weights = 0;
    for (const TrainingOperator& op : stream.operators) {
        accumulations += op.name == "accumulate";
        if (op.phase == TrainingPhase::backward) in_place += op.in_place.size();
    }
    for (const TrainingTensor& tensor : stream.tensors) weights += tensor.kind == TensorKind::gradient;
    CHECK(accumulations == 2);
    CHECK(in_place == 2);
    CHECK(weights == 2);
}

TEST_CASE("the streams of all eight networks keep the invariants", "[dynn_offload]") {
    const auto smaller = [](const std::string& width) {
        return std::map<std::string, std::string>{{"training.width", width}};
    };
    const std::vector<std::pair<std::string, std::map<std::string, std::string>>> networks{
        {"tree_cnn", smaller("16")},
        {"tree_lstm", smaller("64")},
        {"ugan", smaller("64")},
        {"var_lstm", smaller("64")},
        {"fixed_lstm", smaller("64")},
        {"var_bert", {{"training.blocks", "2"}}},
        {"fixed_bert", {{"training.blocks", "2"}}},
        {"alphafold", {{"training.rows", "64"}}}};
    for (const auto& [name, overrides] : networks) {
        INFO(name);
        const TrainingNetwork network = network_of(name, overrides);
        CHECK(network.name == name);
        CHECK(network.is_static() == (name.find("fixed") == 0));
        std::map<std::uint64_t, std::uint64_t> bytes_of_key;
        for (std::uint32_t path = 0; path < std::min(network.paths(), 20U); ++path) {
            const std::shared_ptr<const TrainingStream> stream = network.stream(path);
            CHECK_NOTHROW(check_stream(*stream));
            std::set<std::uint64_t> keys, sites;
            bool same = true;
            for (const TrainingTensor& tensor : stream->tensors) {
                keys.insert(tensor.key);
                const auto [known, fresh] = bytes_of_key.emplace(tensor.key, tensor.bytes);
                same = same && (fresh || known->second == tensor.bytes);
            }
            for (const TrainingOperator& op : stream->operators) sites.insert(op.site);
            CHECK(keys.size() == stream->tensors.size());
            CHECK(sites.size() == stream->operators.size());
            CHECK(same);  // in all paths
            CHECK(stream->peak_bytes() <= stream->total_bytes());
            CHECK(stream->peak_bytes() > stream->persistent_bytes());
        }
    }
}

TEST_CASE("BERT-large has its parameters, and Evoformer's logits their size", "[dynn_offload]") {
    const TrainingNetwork bert = network_of("var_bert", {{"training.blocks", "24"}});
    // 24 layers of 12 h^2 + 13 h, vocabulary 30522 h: 333.6 M with the pooler (without positions and segments).
    const double parameters = static_cast<double>(bert.stream(0)->persistent_bytes()) / 12;
    CHECK(parameters == Approx(24 * (12 * 1048576.0 + 13 * 1024) + 30522 * 1024.0 + 1048576).epsilon(0.002));
    const TrainingNetwork evoformer = network_of("alphafold", {{"training.batch", "1"}});
    const std::shared_ptr<const TrainingStream> stream = evoformer.stream(0);
    std::uint64_t largest = 0;
    for (const TrainingTensor& tensor : stream->tensors) largest = std::max(largest, tensor.bytes);
    // openfold, 256 residues, 128 sequences, FP32: row and triangle attention's logits 268 MB.
    CHECK(largest == 268435456);
}

TEST_CASE("data sets have the published statistics", "[dynn_offload]") {
    RandomSource random(7, 1);
    const auto check = [&](const LengthStatistics& statistics, double mean) {
        std::vector<unsigned> lengths;
        double sum = 0;
        for (int i = 0; i < 20000; ++i) {
            lengths.push_back(statistics.draw(random));
            sum += lengths.back();
        }
        std::sort(lengths.begin(), lengths.end());
        CHECK(lengths[10000] == Approx(statistics.median).epsilon(0.05));
        CHECK(lengths[18000] == Approx(statistics.p90).epsilon(0.06));
        CHECK(lengths.back() <= statistics.most);
        // Not given to the generator: the published mean, within 16 %.
        CHECK(sum / 20000 == Approx(mean).epsilon(0.16));
    };
    check({9, 15, 36}, 9.8);     // SICK
    check({66, 248, 964}, 105);  // Reuters R8
    check({67, 198, 481}, 83);   // wikitext-2
    // SICK's trees: height 5 at the 90th percentile; 1222 shapes among 4500 pairs of sentences.
    const LengthStatistics sick{9, 15, 36};
    std::set<TreeOrder> shapes;
    std::vector<unsigned> heights;
    for (int i = 0; i < 9000; ++i) {
        const unsigned leaves = sick.draw(random);
        const TreeOrder tree = draw_tree(leaves, random);
        CHECK(tree.size() == 2 * leaves - 1);
        heights.push_back(height_of(tree));
        shapes.insert(tree);
    }
    std::sort(heights.begin(), heights.end());
    CHECK(heights[8100] == 5);
    CHECK(shapes.size() > 900);
    CHECK(shapes.size() < 1800);
}

TEST_CASE("samples: the same seed the same, another seed others, a user's file in place of the statistics",
          "[dynn_offload]") {
    const TrainingNetwork network = network_of("var_lstm", {});
    const std::vector<TrainingSample> a = network.samples(1, 50), b = network.samples(1, 50),
                                      c = network.samples(2, 50);
    for (std::size_t i = 0; i < 50; ++i) {
        CHECK(a[i].path == b[i].path);
        CHECK(a[i].features == b[i].features);
        CHECK(a[i].features != c[i].features);
    }
    const TemporaryFile lengths("lengths.txt", "3\n9\n500\n");
    CHECK(network_of("var_lstm", {{"training.data", lengths.path()}}).paths() == 3);
    const TemporaryFile trees("trees.txt", "0 0 1\n0 0 1 0 1\n0 0 1\n");
    CHECK(network_of("tree_lstm", {{"training.data", trees.path()}}).weight == std::vector<double>{2.0 / 3, 1.0 / 3});
    const TemporaryFile no_tree("no_tree.txt", "0 1\n");
    CHECK_THROWS_WITH(network_of("tree_lstm", {{"training.data", no_tree.path()}}),
                      ContainsSubstring("no_tree.txt:1: expected two children of an inner node, found "));
}

TEST_CASE("the Jaccard distance of control flows", "[dynn_offload]") {
    CHECK(jaccard_distance({1, 0, 1}, {1, 0, 1}) == 0);
    CHECK(jaccard_distance({1, 1, 0, 0}, {0, 1, 1}) == Approx(2.0 / 3));
    CHECK(jaccard_distance({0}, {0, 0}) == 0);
}
