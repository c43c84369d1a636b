// SPDX-License-Identifier: Apache-2.0
// Every attribute, optional input and further result that ONNX defines for an operator which the importer knows, in
// every version of the operator in opsets 9 to 17: it changes what is imported, or the network is refused.
#include <onnx/defs/schema.h>

#include <functional>
#include <map>
#include <set>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/onnx_import/importer.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/unit/onnx_import/onnx_model.h"

using namespace switchyard::sched;

namespace {

using Dims = OnnxModel::Dims;
using Attribute = onnx::AttributeProto;

constexpr int kOldest = 9, kNewest = 17;

/// A network with one node of the operator, which is imported.
struct Case {
    OnnxModel model;
    onnx::NodeProto& node() {
        for (onnx::NodeProto& one : *model.graph().mutable_node())
            if (one.name() == "node") return one;
        throw std::logic_error("no node");
    }
};

Case made(int opset, const Dims& in, const Dims& out, const std::string& op, std::vector<std::string> inputs,
          const std::string& domain = "") {
    Case result{OnnxModel(opset)};
    result.model.input("x", in).output("y", out);
    result.model.node(op, inputs, {"y"}, domain).set_name("node");
    return result;
}

const Dims kMap = {2, 3, 6, 6}, kTokens = {2, 5, 8}, kVector = {2, 8};

Case windowed(int opset, const std::string& op) {
    if (op != "Conv") {
        Case result = made(opset, kMap, {2, 3, 3, 3}, op, {"x"});
        set(result.node(), "kernel_shape", Dims{3, 3});
        set(result.node(), "strides", Dims{2, 2});
        set(result.node(), "pads", Dims{1, 1, 1, 1});
        return result;
    }
    Case result = made(opset, kMap, {2, 4, 4, 4}, op, {"x", "w"});
    result.model.floats("w", {4, 3, 3, 3});
    return result;
}

Case gated(int opset, const std::string& op) {
    Case result{OnnxModel(opset)};
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

Case base(const std::string& op, int opset) {
    if (op == "Conv" || op == "MaxPool" || op == "AveragePool") return windowed(opset, op);
    if (op == "If") return gated(opset, op);
    if (op == "Gemm") {
        Case result = made(opset, kVector, kVector, op, {"x", "w", "b"});
        result.model.floats("w", {8, 8}).floats("b", {8});
        return result;
    }
    if (op == "MatMul") {
        Case result = made(opset, kTokens, kTokens, op, {"x", "w"});
        result.model.floats("w", {8, 8});
        return result;
    }
    if (op == "BatchNormalization") {
        Case result = made(opset, kMap, {2, 4, 4, 4}, "Conv", {"x", "w"});
        result.model.floats("w", {4, 3, 3, 3}).floats("a", {4}).floats("b", {4}).floats("c", {4}).floats("d", {4});
        result.node().set_output(0, "z");
        result.node().set_name("convolution");
        result.model.node(op, {"z", "a", "b", "c", "d"}, {"y"}).set_name("node");
        return result;
    }
    if (op == "LayerNormalization") {
        Case result = made(opset, kTokens, kTokens, op, {"x", "a", "b"});
        result.model.floats("a", {8}).floats("b", {8});
        return result;
    }
    if (op.rfind("Global", 0) == 0) return made(opset, kMap, {2, 3, 1, 1}, op, {"x"});
    if (op == "ReduceMean") {
        Case result = made(opset, kMap, {2, 3, 1, 1}, op, {"x"});
        set(result.node(), "axes", Dims{2, 3});
        return result;
    }
    if (op == "Softmax") {
        Case result = made(opset, kTokens, kTokens, op, {"x"});
        set(result.node(), "axis", std::int64_t{2});
        return result;
    }
    if (op == "Cast") {
        Case result = made(opset, kMap, kMap, op, {"x"});
        set(result.node(), "to", std::int64_t{onnx::TensorProto::FLOAT16});
        return result;
    }
    if (op == "Flatten") return made(opset, kMap, {2, 108}, op, {"x"});
    if (op == "Reshape") {
        Case result = made(opset, kMap, {2, 108}, op, {"x", "shape"});
        result.model.integers("shape", {2}, {0, -1});
        return result;
    }
    if (op == "Squeeze" || op == "Unsqueeze") {
        const Dims square = {2, 8, 1, 1};
        Case result =
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
        Case result = made(opset, kTokens, kTokens, op, {"x"});
        set(result.node(), "perm", Dims{0, 1, 2});
        return result;
    }
    if (op == "Gather") {
        Case result{OnnxModel(opset)};
        result.model.input("x", {2, 5}, onnx::TensorProto::INT64).output("y", kTokens).floats("table", {10, 8});
        result.model.node(op, {"table", "x"}, {"y"}).set_name("node");
        return result;
    }
    if (op == "PRelu" || op == "Pow" || op == "Add" || op == "Sub" || op == "Mul" || op == "Div" || op == "Max" ||
        op == "Min") {
        Case result = made(opset, kMap, kMap, op, {"x", "c"});
        result.model.floats("c", {3, 1, 1});
        return result;
    }
    return made(opset, kMap, kMap, op, {"x"});
}

/// Of a constant that is computed from another: the weights of a matmul.
Case computed(const std::string& op, int opset) {
    Case result{OnnxModel(opset)};
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

/// Values that the attribute does not have in the network, of its type.
std::vector<std::function<void(onnx::NodeProto&)>> others(const std::string& key, Attribute::AttributeType type) {
    std::vector<std::function<void(onnx::NodeProto&)>> all;
    const auto add = [&](auto value) { all.emplace_back([=](onnx::NodeProto& node) { set(node, key, value); }); };
    switch (type) {
        case Attribute::INT:
            for (const std::int64_t value : {0, 1, 2, 3, 4, 7, -1, -9}) add(value);
            add(std::int64_t{1} << 40);
            break;
        case Attribute::FLOAT:
            for (const double value : {0.0, 0.5, 2.0, -1.0, 1e-3}) add(value);
            break;
        case Attribute::STRING:
            for (const char* const value : {"VALID", "SAME_UPPER", "any", "sum", "nonsense"}) add(value);
            break;
        case Attribute::INTS:
            for (const Dims& value : {Dims{}, Dims{0}, Dims{2, 2}, Dims{1, 0}, Dims{2, 1, 0}, Dims{0, 0, 0, 0, 0, 0},
                                      Dims{2, 2, 2, 2}, Dims{-1}, Dims{0, 0}})
                add(value);
            break;
        default:
            all.emplace_back([=](onnx::NodeProto& node) { attribute(node, key).set_type(type); });
    }
    return all;
}

/// Has no influence on the results of inference, by ONNX's definition.
const std::map<std::string, std::string> kNoInfluence = {
    {"BatchNormalization.momentum", "of running statistics, in training"},
    {"Dropout.ratio", "of training"},
    {"Dropout.seed", "of training"},
    {"MaxPool.storage_order", "of the second result"},
};

struct Count {
    int cases = 0, used = 0, without_values = 0, without_influence = 0;
};

void walk(const std::string& label, const std::function<Case()>& make, const onnx::OpSchema& schema, Count& count) {
    const std::string before = make().model.outcome();
    const bool imported = make().model.refusal().empty();
    INFO(label << ": " << before);
    REQUIRE(imported);
    for (const auto& [key, definition] : schema.attributes()) {
        INFO("attribute " << key);
        bool differs = false, same = false;
        for (const auto& change : others(key, definition.type)) {
            Case changed = make();
            change(changed.node());
            (changed.model.outcome() == before ? same : differs) = true;
        }
        ++count.cases;
        const bool sizes_only = !make().model.import().sizes_only.empty();
        if (kNoInfluence.count(schema.Name() + "." + key) > 0) {
            ++count.without_influence;
            CHECK(!differs);
        } else if (differs) {
            ++count.used;
        } else {
            // The model format has no values of the operator: a run that needs them is refused, with its name.
            ++count.without_values;
            CHECK(sizes_only);
            CHECK_THAT(make().model.refusal(true), Catch::Contains("no values of " + schema.Name()));
        }
    }
    Case unknown = make();
    set(unknown.node(), "made_up", std::int64_t{1});
    CHECK_THAT(unknown.model.refusal(), Catch::Contains("has no attribute made_up"));
    for (const auto& [key, definition] : schema.attributes()) {
        Case wrong = make();
        if (definition.type == Attribute::INT)
            set(wrong.node(), key, "text");
        else
            set(wrong.node(), key, std::int64_t{1});
        INFO("attribute " << key);
        CHECK_THAT(wrong.model.refusal(), Catch::Contains("its attribute " + key + ": expected type"));
    }
}

/// The newest opset, of those that are known, in which the operator has the definition of `version`.
int opset_of(const std::string& op, int version) {
    for (int opset = kNewest; opset >= kOldest; --opset) {
        const onnx::OpSchema* const schema = onnx::OpSchemaRegistry::Schema(op, opset, "");
        if (schema != nullptr && schema->SinceVersion() == version) return opset;
    }
    return 0;
}

/// All definitions of an operator in the opsets that are known.
std::set<int> versions_of(const std::string& op) {
    std::set<int> versions;
    for (int opset = kOldest; opset <= kNewest; ++opset)
        if (const onnx::OpSchema* const schema = onnx::OpSchemaRegistry::Schema(op, opset, ""))
            versions.insert(schema->SinceVersion());
    return versions;
}

}  // namespace

TEST_CASE("Every attribute of every operator is used or refused") {
    Count count;
    int operators = 0;
    for (const auto& [op, versions] : imported_operators()) {
        if (op.rfind("switchyard.", 0) == 0) continue;
        CHECK(versions == versions_of(op));
        for (const int version : versions) {
            const int opset = opset_of(op, version);
            const std::string name = op;
            walk(
                fmt::format("{} of opset {}", op, version), [&] { return base(name, opset); },
                *onnx::OpSchemaRegistry::Schema(op, opset, ""), count);
            ++operators;
        }
    }
    const int handlers = operators;
    for (const std::string op :
         {"Constant", "Identity", "Transpose", "Reshape", "Unsqueeze", "Squeeze", "Gather", "Slice"})
        for (const int version : versions_of(op)) {
            const int opset = opset_of(op, version);
            walk(
                fmt::format("{} of opset {} on constants", op, version), [&] { return computed(op, opset); },
                *onnx::OpSchemaRegistry::Schema(op, opset, ""), count);
            ++operators;
        }
    WARN(fmt::format(
        "{} versions of operators and {} on constants, {} attributes: {} used or refused, {} of operators "
        "without values, {} without influence on inference",
        handlers, operators - handlers, count.cases, count.used, count.without_values, count.without_influence));
    CHECK(handlers > 80);
    CHECK(count.used > 130);
}

TEST_CASE("Every attribute of the domain switchyard is used or refused") {
    const std::map<std::string, std::map<std::string, Attribute::AttributeType>> all = {
        {"Switch", {{"choose", Attribute::STRING}, {"threshold", Attribute::FLOAT}, {"patience", Attribute::INT}}},
        {"Merge", {{"mode", Attribute::STRING}}}};
    for (const auto& [op, attributes] : all)
        for (const auto& [key, type] : attributes)
            for (const auto& change : others(key, type)) {
                Case changed = gated(kNewest, op);
                const std::string before = changed.model.outcome();
                change(changed.node());
                INFO(op << " " << key);
                CHECK(changed.model.outcome() != before);
            }
    for (const char* const op : {"Switch", "Merge"}) {
        Case unknown = gated(kNewest, op);
        set(unknown.node(), "made_up", std::int64_t{1});
        CHECK_THAT(unknown.model.refusal(), Catch::Contains("has no attribute made_up"));
    }
}

TEST_CASE("Every further input and result of an operator is used or refused") {
    int inputs = 0, outputs = 0;
    for (const auto& [op, versions] : imported_operators()) {
        if (op.rfind("switchyard.", 0) == 0) continue;
        for (const int version : versions) {
            const int opset = opset_of(op, version);
            const onnx::OpSchema& schema = *onnx::OpSchemaRegistry::Schema(op, opset, "");
            const std::string before = base(op, opset).model.outcome();
            INFO(op << " of opset " << version);
            for (int i = base(op, opset).node().input_size(); i <= std::min(schema.max_input(), 9); ++i) {
                // A result of the network that nothing may ignore.
                Case more = base(op, opset);
                while (more.node().input_size() < i) more.node().add_input("");
                more.node().add_input("x");
                INFO("input " << i);
                CHECK(!more.model.refusal().empty());
                ++inputs;
            }
            for (int i = 1; i <= std::min(schema.max_output(), 9); ++i) {
                Case more = base(op, opset);
                while (more.node().output_size() < i) more.node().add_output("");
                more.node().add_output("further");
                more.model.output("further");
                INFO("result " << i);
                CHECK(!more.model.refusal().empty());
                ++outputs;
            }
        }
    }
    WARN(inputs << " inputs, " << outputs << " results");
}
