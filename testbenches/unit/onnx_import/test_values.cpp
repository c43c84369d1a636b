// SPDX-License-Identifier: Apache-2.0
// Values and numbers of what is imported.
#include <limits>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/base/scratch_folder.h"
#include "switchyard/sw_scheduler/workload/model_reader.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/unit/onnx_import/onnx_model.h"

using namespace switchyard::sched;

using Dims = OnnxModel::Dims;

TEST_CASE("Parameters count by tensor, however many operators take it") {
    const int takers = GENERATE(1, 2, 5);
    OnnxModel model;
    model.input("x", {1, 4, 8, 8}).output("y").floats("w", {4, 4, 3, 3}).floats("b", {4});
    std::string last = "x";
    for (int i = 0; i < takers; ++i) {
        const std::string next = i + 1 == takers ? "y" : fmt::format("t{}", i);
        set(model.node("Conv", {last, "w", "b"}, {next}), "pads", Dims{1, 1, 1, 1});
        last = next;
    }
    const ImportedModel imported = model.import(true);
    CHECK(imported.parameters == 4 * 4 * 9 + 4);
    CHECK(imported.layers == static_cast<std::size_t>(takers));
    CHECK(imported.weights.size() == 2 * static_cast<std::size_t>(takers));
}

TEST_CASE("An Identity of a constant is another parameter of equal values, as PyTorch exports it") {
    OnnxModel model;
    model.input("x", {1, 4}).output("y").floats("w", {4, 4});
    model.node("Identity", {"w"}, {"other.weight"});
    model.node("MatMul", {"x", "w"}, {"z"});
    model.node("MatMul", {"z", "other.weight"}, {"y"});
    CHECK(model.import().parameters == 2 * 16);
    CHECK_THAT(model.import().text, Catch::Contains("name: other, kind: matmul"));
}

TEST_CASE("A factor behind a linear layer is in its weights and its bias, also as the last operator") {
    const float factor = GENERATE(0.5F, -2.0F);
    const std::string op = GENERATE("Mul", "Div");
    const bool relu = GENERATE(false, true);
    OnnxModel model;
    model.input("x", {2, 3}).output("y").floats("w", {3, 3}).floats("b", {3}, {1, 2, 3}).floats("c", {}, {factor});
    set(model.node("Gemm", {"x", "w", "b"}, {relu ? "g" : "z"}), "transB", std::int64_t{1});
    if (relu) model.node("Relu", {"g"}, {"z"});
    model.node(op, {"z", "c"}, {"y"});
    if (relu && factor < 0) {
        // max(0, v) times a negative factor is no function that a layer has.
        CHECK_THAT(model.import().text, Catch::Contains("kind: elementwise"));
        CHECK_THAT(model.refusal(true), Catch::Contains("values the model format has, found " + op));
        return;
    }
    const ImportedModel imported = model.import(true);
    const double scale = op == "Mul" ? static_cast<double>(factor) : 1 / static_cast<double>(factor);
    CHECK_THAT(imported.text, Catch::Contains(fmt::format("weight_scale: {}}}", scale)));
    for (std::size_t k = 0; k < 3; ++k)
        CHECK(static_cast<double>(weights(imported, "the_Gemm.bias")[k]) == scale * static_cast<double>(k + 1));
}

TEST_CASE("A factor is not in the weights of a layer whose result is also taken without it") {
    OnnxModel model;
    model.input("x", {2, 3}).output("y").output("z").floats("w", {3, 3}).floats("c", {}, {0.5F});
    model.node("MatMul", {"x", "w"}, {"z"});
    model.node("Mul", {"z", "c"}, {"y"});
    const ImportedModel imported = model.import();
    CHECK(imported.text.find("weight_scale") == std::string::npos);
    CHECK_THAT(imported.text, Catch::Contains("kind: elementwise, from: the_MatMul") &&
                                  Catch::Contains("outputs: [the_Mul, the_MatMul]"));
    CHECK_THAT(model.refusal(true), Catch::Contains("values the model format has, found Mul"));
}

TEST_CASE("A factor at an output that no layer takes over is an operator of its own, without values") {
    OnnxModel model;
    model.input("x", {2, 3, 4, 4}).output("y").floats("c", {}, {0.5F});
    model.node("GlobalAveragePool", {"x"}, {"z"});
    model.node("Mul", {"z", "c"}, {"y"});
    CHECK_THAT(model.import().text, Catch::Contains("kind: elementwise"));
    CHECK_THAT(model.refusal(true), Catch::Contains("values the model format has, found Mul"));
}

TEST_CASE("A factor that is no number is refused") {
    const auto [op, factor] = GENERATE(table<const char*, float>({{"Div", 0.0F},
                                                                  {"Mul", std::numeric_limits<float>::infinity()},
                                                                  {"Mul", std::numeric_limits<float>::quiet_NaN()}}));
    OnnxModel model;
    model.input("x", {2, 3}).output("y").floats("c", {}, {factor});
    model.node(op, {"x", "c"}, {"y"});
    CHECK_THAT(model.refusal(), Catch::Contains("its factor: expected a finite number, found"));
}

TEST_CASE("Biases that do not have one value a channel are refused, not read past their end") {
    const std::string op = GENERATE("Conv", "Gemm");
    const Dims dims = GENERATE(values<Dims>({{3}, {1}, {5}, {4, 1}, {1, 4}, {2, 4}, {0}}));
    OnnxModel model;
    const bool gemm = op == "Gemm";
    model.input("x", gemm ? Dims{2, 4} : Dims{2, 4, 1, 1}).output("y");
    model.floats("w", gemm ? Dims{4, 4} : Dims{4, 4, 1, 1}).floats("b", dims);
    model.node(op, {"x", "w", "b"}, {"y"});
    const bool fits = gemm && (dims == Dims{1} || dims == Dims{1, 4});
    INFO(op << " " << fmt::format("{}", fmt::join(dims, ", ")));
    CHECK(model.refusal(true).empty() == fits);
}

TEST_CASE("A norm of another dimension than the channels is refused") {
    // Of [N, T, C] a BatchNormalization takes the statistics of each token.
    OnnxModel tokens;
    tokens.input("x", {2, 8, 8}).output("y");
    for (const char* const name : {"a", "b", "c", "d"}) tokens.floats(name, {8});
    tokens.node("BatchNormalization", {"x", "a", "b", "c", "d"}, {"y"});
    CHECK_THAT(tokens.refusal(),
               Catch::Contains("its input: expected [N, channels, rows, columns] or [N, channels], found [N, 8, 8]"));
}

namespace {

/// Queries, keys and values as PyTorch exports them. `order`: of the dimensions of each after the division into heads.
OnnxModel attention(const Dims& query_order, const Dims& key_order, const Dims& value_order, const Dims& result_order,
                    bool reshaped = true) {
    OnnxModel model;
    model.input("x", {2, 5, 8})
        .output("y", {2, 5, 8})
        .integers("heads", {4}, {0, 5, 2, 4})
        .integers("all", {3}, {0, 5, 8});
    const char* const names[] = {"q", "k", "v"};
    const Dims* const orders[] = {&query_order, &key_order, &value_order};
    for (int i = 0; i < 3; ++i) {
        const std::string name = names[i];
        model.floats(name + ".weight", {8, 8});
        model.node("MatMul", {"x", name + ".weight"}, {name});
        model.node("Reshape", {name, "heads"}, {name + ".split"});
        set(model.node("Transpose", {name + ".split"}, {name + ".heads"}), "perm", *orders[i]);
    }
    model.floats("scale", {}, {0.5F});
    model.node("MatMul", {"q.heads", "k.heads"}, {"raw"});
    model.node("Mul", {"raw", "scale"}, {"scores"});
    set(model.node("Softmax", {"scores"}, {"weighted"}), "axis", std::int64_t{-1});
    model.node("MatMul", {"weighted", "v.heads"}, {"mixed"});
    set(model.node("Transpose", {"mixed"}, {"turned"}), "perm", result_order);
    if (reshaped) model.node("Reshape", {"turned", "all"}, {"y"});
    return model;
}

}  // namespace

TEST_CASE("An attention is one only with the dimensions in the order that it needs") {
    const Dims heads = {0, 2, 1, 3}, keys = {0, 2, 3, 1}, none = {0, 1, 2, 3};
    OnnxModel right = attention(heads, keys, heads, heads);
    CHECK_THAT(right.import(true).text, Catch::Contains("kind: attention") && Catch::Contains("heads: 2"));
    const auto orders = GENERATE(values<std::vector<Dims>>({{{0, 2, 1, 3}, {0, 2, 3, 1}, {0, 2, 1, 3}, {0, 1, 2, 3}},
                                                            {{0, 2, 1, 3}, {0, 2, 1, 3}, {0, 2, 1, 3}, {0, 2, 1, 3}},
                                                            {{0, 1, 2, 3}, {0, 2, 3, 1}, {0, 2, 1, 3}, {0, 2, 1, 3}},
                                                            {{0, 2, 1, 3}, {0, 2, 3, 1}, {0, 1, 2, 3}, {0, 2, 1, 3}},
                                                            {{0, 2, 1, 3}, {0, 1, 3, 2}, {0, 2, 1, 3}, {0, 2, 1, 3}}}));
    OnnxModel wrong = attention(orders[0], orders[1], orders[2], orders[3]);
    CHECK(!wrong.refusal().empty());
}

TEST_CASE("Queries, keys and values of one linear layer are an attention only if they are its thirds in order") {
    const std::vector<std::string> order = GENERATE(values<std::vector<std::string>>(
        {{"a", "b", "c"}, {"b", "a", "c"}, {"a", "c", "b"}, {"a", "b", "b"}, {"a", "b", "z"}}));
    OnnxModel model(13);
    model.input("x", {2, 5, 8}).output("y", {2, 5, 8}).floats("w", {8, 24}).floats("other", {8, 24});
    model.node("MatMul", {"x", "w"}, {"all"});
    set(model.node("Split", {"all"}, {"a", "b", "c"}), "axis", std::int64_t{2});
    model.node("MatMul", {"x", "other"}, {"more"});
    set(model.node("Split", {"more"}, {"v", "w2", "z"}), "axis", std::int64_t{-1});
    set(model.node("Transpose", {order[1]}, {"keys"}), "perm", Dims{0, 2, 1});
    model.node("MatMul", {order[0], "keys"}, {"scores"});
    model.node("Softmax", {"scores"}, {"weighted"});
    model.node("MatMul", {"weighted", order[2]}, {"y"});
    INFO(order[0] << order[1] << order[2]);
    if (order == std::vector<std::string>{"a", "b", "c"})
        CHECK_THAT(model.import().text, Catch::Contains("kind: attention") && Catch::Contains("out_channels: 24"));
    else
        CHECK_THAT(model.refusal(), Catch::Contains("queries, keys, values, found"));
}

TEST_CASE("A number or a list of numbers of a Constant is a constant") {
    const int kind = GENERATE(0, 1, 2, 3);
    OnnxModel model(13);
    model.input("x", {2, 3}).output("y").floats("w", {3, 3});
    model.node("MatMul", {"x", "w"}, {"z"});
    onnx::NodeProto& node = model.node("Constant", {}, {"c"});
    if (kind == 0) set(node, "value_float", 0.5);
    if (kind == 1) set(node, "value_int", std::int64_t{2});
    if (kind == 2)
        attribute(node, "value_floats").add_floats(0.5F),
            node.mutable_attribute(0)->set_type(onnx::AttributeProto::FLOATS);
    if (kind == 3) set(node, "value_ints", Dims{2});
    model.node(kind % 2 == 0 ? "Mul" : "Div", {"z", "c"}, {"y"});
    CHECK_THAT(model.import(true).text, Catch::Contains("weight_scale: 0.5}"));
    set(node, "value_int", std::int64_t{4});
    if (kind != 1) CHECK_THAT(model.refusal(), Catch::Contains("expected one of the attributes value, value_int"));
}

TEST_CASE("Layers have names that YAML reads as text") {
    for (const std::string name : {"null", "~", "-", "a: b", "x,y", "1.5", "true", "", "[", "#", "null.weight"}) {
        OnnxModel model;
        model.input("x", {2, 3}).output("y").floats("w", {3, 3});
        model.node("MatMul", {"x", "w"}, {"y"}).set_name(name);
        model.graph().set_name(name);
        const switchyard::ScratchFolder folder("onnx");
        switchyard::write_file(model.import().text, folder.file("model.yaml"));
        INFO(model.import().text);
        CHECK_NOTHROW(read_model(folder.file("model.yaml")));
    }
}

TEST_CASE("Tables that the host looks up are one sum for all that take them") {
    const bool alone = GENERATE(true, false);
    OnnxModel model;
    model.input("x", {2, 5}, onnx::TensorProto::INT64).input("p", {2, 5}, onnx::TensorProto::INT64).output("y");
    model.floats("words", {10, 8}).floats("places", {5, 8}).floats("w", {8, 4});
    model.node("Gather", {"words", "x"}, {"a"});
    model.node("Gather", {"places", "p"}, {"b"});
    model.node("Add", {"a", "b"}, {"sum"});
    model.node("MatMul", {"sum", "w"}, {"y"});
    if (alone) {
        model.output("z");
        model.node("MatMul", {"b", "w"}, {"z"});
        CHECK_THAT(model.refusal(), Catch::Contains("expected the sum of rows that other layers take, of Gather"));
    } else {
        CHECK(model.import().host_parameters == 15 * 8);
        CHECK(model.import().parameters == 15 * 8 + 32);
    }
    OnnxModel product = model;
    product.graph().mutable_node(2)->set_op_type("Mul");
    CHECK(!product.refusal().empty());
}
