// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/unit/onnx_import/onnx_cases.h"

#include <stdexcept>

namespace switchyard::sched {

namespace {

using Dims = OnnxModel::Dims;
using Attribute = onnx::AttributeProto;

OnnxCase made(int opset, const Dims& in, const Dims& out, const std::string& op, const std::vector<std::string>& inputs,
              const std::string& domain = "") {
    OnnxCase result{OnnxModel(opset)};
    result.model.input("x", in).output("y", out);
    result.model.node(op, inputs, {"y"}, domain).set_name("node");
    return result;
}

const Dims kMap = {2, 3, 6, 6}, kTokens = {2, 5, 8}, kVector = {2, 8};

OnnxCase windowed(int opset, const std::string& op) {
    if (op != "Conv") {
        OnnxCase result = made(opset, kMap, {2, 3, 3, 3}, op, {"x"});
        set(result.node(), "kernel_shape", Dims{3, 3});
        set(result.node(), "strides", Dims{2, 2});
        set(result.node(), "pads", Dims{1, 1, 1, 1});
        return result;
    }
    OnnxCase result = made(opset, kMap, {2, 4, 4, 4}, op, {"x", "w"});
    result.model.floats("w", {4, 3, 3, 3});
    return result;
}

}  // namespace

onnx::NodeProto& OnnxCase::node() {
    for (onnx::NodeProto& one : *model.graph().mutable_node())
        if (one.name() == "node") return one;
    throw std::logic_error("no node");
}

OnnxCase gated_case(int opset, const std::string& op) {
    OnnxCase result{OnnxModel(opset)};
    OnnxModel& model = result.model;
    model.input("x", kVector).output("y", kVector).floats("gate.weight", {8, 1}).floats("run.weight", {8, 8});
    model.node("MatMul", {"x", "gate.weight"}, {"gate"});
    if (op == "If") {
        model.floats("threshold", {1}, {0.25F});
        model.node("Greater", {"gate", "threshold"}, {"condition"});
        OnnxModel then, other;
        then.node("MatMul", {"x", "run.weight"}, {"inner"});
        then.output("inner", kVector);
        other.node("Identity", {"x"}, {"inner"});
        other.output("inner", kVector);
        onnx::NodeProto& node = model.node("If", {"condition"}, {"y"});
        set(node, "then_branch", then.graph());
        set(node, "else_branch", other.graph());
        node.set_name("node");
        return result;
    }
    model.node("Switch", {"x", "gate"}, {"skip", "run"}, "switchyard").set_name(op == "Switch" ? "node" : "switch");
    model.node("MatMul", {"run", "run.weight"}, {"ran"});
    model.node("Merge", {"skip", "ran"}, {"y"}, "switchyard").set_name(op == "Merge" ? "node" : "merge");
    return result;
}

OnnxCase base_case(const std::string& op, int opset) {
    if (op == "Conv" || op == "MaxPool" || op == "AveragePool") return windowed(opset, op);
    if (op == "If") return gated_case(opset, op);
    if (op == "Gemm") {
        OnnxCase result = made(opset, kVector, kVector, op, {"x", "w", "b"});
        result.model.floats("w", {8, 8}).floats("b", {8});
        return result;
    }
    if (op == "MatMul") {
        OnnxCase result = made(opset, kTokens, kTokens, op, {"x", "w"});
        result.model.floats("w", {8, 8});
        return result;
    }
    if (op == "BatchNormalization") {
        OnnxCase result = made(opset, kMap, {2, 4, 4, 4}, "Conv", {"x", "w"});
        result.model.floats("w", {4, 3, 3, 3}).floats("a", {4}).floats("b", {4}).floats("c", {4}).floats("d", {4});
        result.node().set_output(0, "z");
        result.node().set_name("convolution");
        result.model.node(op, {"z", "a", "b", "c", "d"}, {"y"}).set_name("node");
        return result;
    }
    if (op == "LayerNormalization") {
        OnnxCase result = made(opset, kTokens, kTokens, op, {"x", "a", "b"});
        result.model.floats("a", {8}).floats("b", {8});
        return result;
    }
    if (op.rfind("Global", 0) == 0) return made(opset, kMap, {2, 3, 1, 1}, op, {"x"});
    if (op == "ReduceMean") {
        OnnxCase result = made(opset, kMap, {2, 3, 1, 1}, op, {"x"});
        set(result.node(), "axes", Dims{2, 3});
        return result;
    }
    if (op == "Softmax") {
        OnnxCase result = made(opset, kTokens, kTokens, op, {"x"});
        set(result.node(), "axis", std::int64_t{2});
        return result;
    }
    if (op == "Cast") {
        OnnxCase result = made(opset, kMap, kMap, op, {"x"});
        set(result.node(), "to", std::int64_t{onnx::TensorProto::FLOAT16});
        return result;
    }
    if (op == "Flatten") return made(opset, kMap, {2, 108}, op, {"x"});
    if (op == "Reshape") {
        OnnxCase result = made(opset, kMap, {2, 108}, op, {"x", "shape"});
        result.model.integers("shape", {2}, {0, -1});
        return result;
    }
    if (op == "Squeeze" || op == "Unsqueeze") {
        const Dims square = {2, 8, 1, 1};
        OnnxCase result =
            op == "Squeeze" ? made(opset, square, kVector, op, {"x"}) : made(opset, kVector, square, op, {"x"});
        if (opset < 13) {
            set(result.node(), "axes", Dims{2, 3});
        } else {
            result.node().add_input("axes");
            result.model.integers("axes", {2}, {2, 3});
        }
        return result;
    }
    if (op == "Transpose") {
        OnnxCase result = made(opset, kTokens, kTokens, op, {"x"});
        set(result.node(), "perm", Dims{0, 1, 2});
        return result;
    }
    if (op == "Gather") {
        OnnxCase result{OnnxModel(opset)};
        result.model.input("x", {2, 5}, onnx::TensorProto::INT64).output("y", kTokens).floats("table", {10, 8});
        result.model.node(op, {"table", "x"}, {"y"}).set_name("node");
        return result;
    }
    if (op == "PRelu" || op == "Pow" || op == "Add" || op == "Sub" || op == "Mul" || op == "Div" || op == "Max" ||
        op == "Min") {
        OnnxCase result = made(opset, kMap, kMap, op, {"x", "c"});
        result.model.floats("c", {3, 1, 1});
        return result;
    }
    return made(opset, kMap, kMap, op, {"x"});
}

OnnxCase computed_case(const std::string& op, int opset) {
    OnnxCase result{OnnxModel(opset)};
    OnnxModel& model = result.model;
    model.input("x", kVector).output("y", kVector).floats("c", op == "Squeeze" ? Dims{8, 1, 8} : Dims{8, 8});
    onnx::NodeProto& node = model.node(op, {"c"}, {"w"});
    node.set_name("node");
    const auto list = [&](const char* key, const Dims& values, bool is_attribute) {
        if (is_attribute) {
            set(node, key, values);
        } else {
            node.add_input(key);
            model.integers(key, {static_cast<std::int64_t>(values.size())}, values);
        }
    };
    if (op == "Constant") {
        node.clear_input();
        attribute(node, "value").set_type(Attribute::TENSOR);
        *attribute(node, "value").mutable_t() = model.graph().initializer(0);
        node.mutable_attribute(0)->set_type(Attribute::TENSOR);
    } else if (op == "Transpose") {
        set(node, "perm", Dims{1, 0});
    } else if (op == "Reshape") {
        list("shape", {0, 8}, false);
    } else if (op == "Squeeze") {
        list("axes", {1}, opset < 13);
    } else if (op == "Unsqueeze") {
        list("axes", {0}, opset < 13);
        node.set_output(0, "v");
        model.integers("first", {}, {0});
        model.node("Gather", {"v", "first"}, {"w"});
    } else if (op == "Gather") {
        list("indices", {7, 6, 5, 4, 3, 2, 1, 0}, false);
    } else if (op == "Slice") {
        list("starts", {0}, opset < 10);
        list("ends", {8}, opset < 10);
        list("axes", {1}, opset < 10);
    }
    model.node("MatMul", {"x", "w"}, {"y"});
    return result;
}

}  // namespace switchyard::sched
