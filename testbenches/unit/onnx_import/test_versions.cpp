// SPDX-License-Identifier: Apache-2.0
// Operators have the meaning of the file's opset.
#include <cmath>

#include <fmt/format.h>

#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/unit/onnx_import/onnx_model.h"

using namespace switchyard::sched;

using Dims = OnnxModel::Dims;

TEST_CASE("Softmax is over all dimensions from axis 1 on before opset 13, and over the last one from then on") {
    const int opset = GENERATE(9, 10, 11, 12, 13, 14, 17);
    const std::int64_t tokens = GENERATE(1, 5);
    OnnxModel model(opset);
    model.input("x", {2, tokens, 8}).output("y", {2, tokens, 8});
    onnx::NodeProto& node = model.node("Softmax", {"x"}, {"y"});
    INFO("opset " << opset << ", " << tokens << " tokens");
    if (opset < 13 && tokens > 1)
        CHECK_THAT(model.refusal(), Catch::Contains("found axis 1 and all after it"));
    else
        CHECK_THAT(model.import(true).text, Catch::Contains("fused: [softmax]"));
    set(node, "axis", GENERATE(std::int64_t{2}, std::int64_t{-1}));
    CHECK_THAT(model.import(true).text, Catch::Contains("fused: [softmax]"));
    set(node, "axis", GENERATE(std::int64_t{0}, std::int64_t{3}, std::int64_t{-4}));
    CHECK_THAT(model.refusal(), Catch::Contains("Softmax (node the_Softmax): its axis: expected the last one"));
}

TEST_CASE("Opsets 9 to 17 are imported, and others are refused with what to do") {
    for (int opset = 0; opset < 30; ++opset) {
        OnnxModel model(opset);
        model.input("x", {2, 8}).output("y", {2, 8});
        model.node("Sigmoid", {"x"}, {"y"});
        INFO("opset " << opset);
        if (opset < 9 || opset > 17)
            CHECK_THAT(model.refusal(),
                       Catch::Contains(fmt::format("expected an opset from 9 to 17, found {}", opset)));
        else
            CHECK(model.refusal().empty());
    }
    OnnxModel none(17);
    none.input("x", {2, 8}).output("y", {2, 8});
    none.node("Sigmoid", {"x"}, {"y"});
    none.proto().mutable_opset_import()->DeleteSubrange(0, 1);
    CHECK_THAT(none.refusal(), Catch::Contains("expected an opset of ONNX from 9 to 17, found none"));
    none.proto().mutable_opset_import(0)->set_domain("ai.onnx");
    none.proto().mutable_opset_import(0)->set_version(13);
    CHECK(none.refusal().empty());
    *none.proto().add_opset_import() = none.proto().opset_import(0);
    CHECK_THAT(none.refusal(), Catch::Contains("expected each domain once, found ai.onnx twice"));
}

TEST_CASE("Axes are an attribute before opset 13 and an input from then on, and in no opset the other one") {
    const int opset = GENERATE(9, 11, 12, 13, 15, 17);
    const bool as_input = GENERATE(true, false);
    const std::string op = GENERATE("Squeeze", "Unsqueeze");
    OnnxModel model(opset);
    const Dims square = {2, 8, 1, 1}, flat = {2, 8};
    model.input("x", op == "Squeeze" ? square : flat).output("y", op == "Squeeze" ? flat : square);
    model.node("Relu", {"x"}, {"z"});
    onnx::NodeProto& node = model.node(op, {"z"}, {"y"});
    if (as_input) {
        model.integers("axes", {2}, {2, 3});
        node.add_input("axes");
    } else {
        set(node, "axes", Dims{2, 3});
    }
    INFO(op << " of opset " << opset << ", " << as_input);
    CHECK(model.refusal().empty() == (as_input == (opset >= 13)));
}

TEST_CASE("Statistics of a batch, as in training, are refused in each form that an opset has for them") {
    const int opset = GENERATE(9, 13, 14, 15, 17);
    OnnxModel model(opset);
    model.input("x", {2, 3, 4, 4}).output("y", {2, 3, 4, 4});
    for (const char* const name : {"a", "b", "c", "d"}) model.floats(name, {3});
    onnx::NodeProto& node = model.node("BatchNormalization", {"x", "a", "b", "c", "d"}, {"y"});
    INFO("opset " << opset);
    CHECK(model.refusal().empty());
    if (opset < 14) {
        for (const char* const name : {"mean", "variance", "saved_mean", "saved_variance"}) node.add_output(name);
    } else {
        set(node, "training_mode", std::int64_t{1});
    }
    CHECK_THAT(model.refusal(), Catch::Contains("statistics of the batch"));
}

TEST_CASE("Dropout of training is refused") {
    const int opset = GENERATE(12, 13, 17);
    const bool training = GENERATE(false, true);
    OnnxModel model(opset);
    model.input("x", {2, 8}).output("y", {2, 8}).floats("ratio", {}, {0.5F});
    auto& mode = *model.graph().add_initializer();
    mode.set_name("mode");
    mode.set_data_type(onnx::TensorProto::BOOL);
    mode.add_int32_data(training ? 1 : 0);
    model.node("Relu", {"x"}, {"z"});
    model.node("Dropout", {"z", "ratio", "mode"}, {"y"});
    if (training)
        CHECK_THAT(model.refusal(), Catch::Contains("its training_mode: expected the constant false, found true"));
    else
        CHECK(model.refusal().empty());
}

TEST_CASE("A Cast keeps floats, and is refused to all other types") {
    for (int type = -1; type < 20; ++type) {
        OnnxModel model(13);
        model.input("x", {2, 8}).output("y", {2, 8}, type);
        model.node("Relu", {"x"}, {"z"});
        set(model.node("Cast", {"z"}, {"y"}), "to", std::int64_t{type});
        INFO("type " << type);
        const bool kept =
            type == onnx::TensorProto::FLOAT || type == onnx::TensorProto::FLOAT16 || type == onnx::TensorProto::DOUBLE;
        CHECK(model.refusal().empty() == kept);
    }
}

TEST_CASE("Inputs of integers come in through a Cast alone") {
    const bool cast = GENERATE(true, false);
    OnnxModel model;
    model.input("x", {2, 8}, onnx::TensorProto::UINT8).output("y", {2, 8});
    if (cast) set(model.node("Cast", {"x"}, {"z"}), "to", std::int64_t{onnx::TensorProto::FLOAT});
    model.node("Relu", {cast ? "z" : "x"}, {"y"});
    if (cast)
        CHECK(model.refusal().empty());
    else
        CHECK_THAT(model.refusal(),
                   Catch::Contains("the input x: expected floats, or a Cast to them, or a Gather by it, found UINT8"));
}
