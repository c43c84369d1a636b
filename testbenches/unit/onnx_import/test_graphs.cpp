// SPDX-License-Identifier: Apache-2.0
// Graphs: cycles, long chains, windows, and dimensions that must be what an operator makes of them.
#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <limits>
#include <random>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/onnx_import/importer.h"
#include "switchyard/sw_scheduler/onnx_import/onnx_graph.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/unit/onnx_import/onnx_cases.h"

using namespace switchyard::sched;

using Dims = OnnxModel::Dims;

TEST_CASE("Nodes that need each other are refused, wherever the cycle is") {
    for (const std::string op : {"Relu", "Identity", "Transpose", "Reshape", "Cast", "Squeeze", "Dropout"}) {
        OnnxModel model;
        model.input("x", {1, 8}).output("y");
        const auto node = [&](const char* from, const char* to) {
            onnx::NodeProto& one = model.node(op, {from}, {to});
            if (op == "Cast") set(one, "to", std::int64_t{1});
            if (op == "Reshape") one.add_input("x");
        };
        node("b", "a"), node("a", "b");
        model.node("Add", {"x", "b"}, {"y"});
        INFO(op);
        CHECK_THAT(model.refusal(), Catch::Contains("its input b: expected the result of an earlier node, found none"));
    }
}

TEST_CASE("A chain of operators is imported however long it is") {
    const std::string op = GENERATE("Relu", "Identity", "Add", "Reshape", "constants");
    const int length = 20000;
    OnnxModel model;
    model.input("x", {1, 8}).output("y").floats("c", {1, 8}, {0, 0, 0, 0, 0, 0, 0, 0}).integers("shape", {2}, {-1, 8});
    std::string last = op == "constants" ? "c" : "x";
    for (int i = 0; i < length; ++i) {
        const std::string next = fmt::format("t{}", i);
        if (op == "Reshape" || op == "constants")
            model.node("Reshape", {last, "shape"}, {next});
        else if (op == "Add")
            model.node(op, {last, i % 2 == 0 ? last : "x"}, {next});
        else
            model.node(op, {last}, {next});
        last = next;
    }
    model.node("Add", {"x", last}, {"y"});
    INFO(op);
    CHECK(model.refusal().empty());
}

TEST_CASE("A window that does not move or has no size is refused") {
    const std::string op = GENERATE("Conv", "MaxPool", "AveragePool");
    const std::string key = GENERATE("strides", "kernel_shape", "dilations", "pads");
    const std::int64_t value = GENERATE(0, -1, std::int64_t{1} << 40, std::numeric_limits<std::int64_t>::min());
    const std::string pad = GENERATE("NOTSET", "SAME_UPPER", "VALID");
    if ((key == "pads" && value == 0) || (key == "dilations" && op == "AveragePool")) return;
    OnnxModel model;
    model.input("x", {1, 3, 8, 8}).output("y").floats("w", {4, 3, 3, 3});
    onnx::NodeProto& node = model.node(op, {"x"}, {"y"});
    if (op == "Conv") node.add_input("w");
    set(node, "kernel_shape", Dims{3, 3});
    if (pad != "NOTSET") set(node, "auto_pad", pad.c_str());
    set(node, key, key == "pads" ? Dims{value, value, value, value} : Dims{value, value});
    INFO(op << " " << key << " " << value);
    CHECK_THAT(model.refusal(), Catch::Contains(op + " (node the_" + op + "): its " + key + ": expected"));
    set(node, key, Dims{1, 1, 1});
    CHECK_THAT(model.refusal(), Catch::Contains(": its " + key + ": expected"));
}

/// Against the definition: ceil(in / stride) results, padded in front with the smaller or the larger half.
TEST_CASE("auto_pad is the pad that it stands for, or refused where that differs by side") {
    std::mt19937 random(GENERATE(range(0u, 200u)));
    const auto upto = [&](std::int64_t most) {
        return static_cast<std::int64_t>(random() % static_cast<unsigned>(most)) + 1;
    };
    const std::int64_t rows = upto(20), columns = upto(20), filter = upto(7), stride = upto(4);
    const bool upper = random() % 2 == 0;
    OnnxModel model;
    model.input("x", {1, 3, rows, columns}).output("y");
    onnx::NodeProto& node = model.node("MaxPool", {"x"}, {"y"});
    set(node, "kernel_shape", Dims{filter, filter});
    set(node, "strides", Dims{stride, stride});
    set(node, "auto_pad", upper ? "SAME_UPPER" : "SAME_LOWER");
    const auto pads = [&](std::int64_t in) {
        const std::int64_t out = (in + stride - 1) / stride,
                           total = std::max<std::int64_t>(0, (out - 1) * stride + filter - in);
        const std::int64_t less = total / 2, more = total - less;
        return std::pair(upper ? less : more, upper ? more : less);
    };
    const auto [top, bottom] = pads(rows);
    const auto [left, right] = pads(columns);
    OnnxModel written = model;
    onnx::NodeProto& same = *written.graph().mutable_node(0);
    same.mutable_attribute()->RemoveLast();
    set(same, "pads", Dims{top, left, bottom, right});
    INFO(rows << " x " << columns << ", filter " << filter << ", stride " << stride);
    if (written.refusal().empty()) {
        CHECK(model.outcome() == written.outcome());
        CHECK((top == left && top <= filter));
    } else {
        CHECK(!model.refusal().empty());
    }
    // A pad of the model format gives the same windows.
    if (top == bottom && left == right && top == left && top < filter) CHECK(model.refusal().empty());
}

TEST_CASE("A pad behind that no window reads is no difference") {
    OnnxModel model;
    model.input("x", {1, 3, 7, 7}).output("y", {1, 3, 3, 3});
    onnx::NodeProto& node = model.node("MaxPool", {"x"}, {"y"});
    set(node, "kernel_shape", Dims{3, 3});
    set(node, "strides", Dims{2, 2});
    set(node, "pads", Dims{0, 0, 1, 1});
    CHECK(model.refusal().empty());
    set(node, "pads", Dims{0, 0, 2, 2});
    CHECK_THAT(model.refusal(), Catch::Contains("found [1, 3, 3, 3] as the file declares"));
    model.graph().mutable_output(0)->mutable_type()->mutable_tensor_type()->clear_shape();
    CHECK_THAT(model.refusal(),
               Catch::Contains("its pads: expected the same at the start and at the end of rows, found 0 and 2"));
    set(node, "pads", Dims{1, 1, 0, 0});
    CHECK_THAT(model.refusal(),
               Catch::Contains("its pads: expected the same at the start and at the end of rows, found 1 and 0"));
    set(node, "strides", Dims{4, 4});
    CHECK(model.refusal().empty());
}

TEST_CASE("A change of dimensions is refused unless the elements of a sample stay what they are") {
    struct Try {
        Dims in, target;
        bool fits;
    };
    const Try one = GENERATE(values<Try>({
        {{2, 4, 3, 3}, {2, 36}, true},
        {{2, 4, 3, 3}, {0, -1}, true},
        {{2, 4, 3, 3}, {-1, 36}, true},
        {{2, 4, 3, 3}, {2, 4, 3, 3}, true},
        {{2, 4, 3, 3}, {2, 3, 4, 3}, false},
        {{2, 4, 3, 3}, {2, 9, 4, 1}, false},
        {{2, 4, 3, 3}, {2, 4, 9}, false},
        {{2, 4, 3, 3}, {1, -1}, false},
        {{2, 4, 3, 3}, {-1, 18}, false},
        {{2, 4, 3, 3}, {2, 35}, false},
        {{2, 4, 3, 3}, {-1, -1}, false},
        {{2, 4, 3, 3}, {2, -2}, false},
        {{2, 8}, {2, 8, 1, 1}, true},
        {{2, 8}, {0, 0, 1, 1}, true},
        {{2, 8}, {2, 2, 2, 2}, false},
        {{2, 8}, {2, 1, 1, 8}, false},
        {{2, 8}, {4, 4}, false},
        {{2, 8}, {8, 2}, false},
        {{2, 8}, {16}, false},
        {{2, 8}, {0, 0, 0}, false},
        {{2, 1, 8}, {2, 8}, true},
        {{2, 5, 8}, {2, 40}, false},
        {{2, 5, 8}, {10, 8}, false},
        {{2, 5, 8}, {2, 8, 5}, false},
        {{-1, 4, 3, 3}, {-1, 36}, true},
        {{-1, 4, 3, 3}, {0, -1}, true},
        {{-1, 4, 3, 3}, {1, -1}, false},
        {{-1, 4, 3, 3}, {2, -1}, false},
        {{-1, 4, 3, 3}, {-1, 18}, false},
        {{-1, 8}, {-1, 4}, false},
    }));
    OnnxModel model;
    model.input("x", one.in).output("y").integers("shape", {static_cast<std::int64_t>(one.target.size())}, one.target);
    model.node("Sigmoid", {"x"}, {"z"});
    model.node("Reshape", {"z", "shape"}, {"y"});
    INFO(fmt::format("{} to {}", fmt::join(one.in, ", "), fmt::join(one.target, ", ")));
    CHECK(model.refusal().empty() == one.fits);
}

TEST_CASE("A target that is computed from shapes is followed") {
    const bool open = GENERATE(false, true);
    OnnxModel model;
    model.input("x", {open ? -1 : 2, 4, 3, 3}).output("y").integers("zero", {}, {0}).integers("axes", {1}, {0});
    model.integers("rest", {1}, {-1});
    model.node("Relu", {"x"}, {"a"});
    model.node("Shape", {"a"}, {"s"});
    model.node("Gather", {"s", "zero"}, {"n"});
    model.node("Unsqueeze", {"n", "axes"}, {"m"});
    set(model.node("Concat", {"m", "rest"}, {"t"}), "axis", std::int64_t{0});
    model.node("Reshape", {"a", "t"}, {"f"});
    model.floats("w", {36, 5});
    model.node("MatMul", {"f", "w"}, {"y"});
    CHECK_THAT(model.import().text, Catch::Contains("out_channels: 5, filter: 3"));
}

TEST_CASE("Declared dimensions that differ from those of the operator are refused") {
    OnnxModel model;
    model.input("x", {1, 3, 8, 8}).output("y", {1, 4, 8, 8}).floats("w", {4, 3, 3, 3});
    model.node("Conv", {"x", "w"}, {"y"});
    CHECK_THAT(model.refusal(),
               Catch::Contains("its result y: expected the dimensions [1, 4, 6, 6] that its operator makes, found"));
}

TEST_CASE("Operands that ONNX would broadcast to another shape are refused") {
    struct Try {
        Dims a, b;
        bool fits;
    };
    const Try one = GENERATE(values<Try>({
        {{2, 8, 1, 1}, {2, 8}, false},
        {{2, 1, 8}, {2, 8}, false},
        {{2, 8}, {2, 8}, true},
        {{2, 5, 8}, {2, 1, 8}, false},
        {{2, 8, 3, 3}, {2, 8, 3, 3}, true},
        {{2, 8, 3, 3}, {2, 8, 1, 1}, false},
    }));
    OnnxModel model;
    model.input("x", one.a).output("y");
    model.node("Sigmoid", {"x"}, {"a"});
    model.node("Relu", {"x"}, {"r"});
    if (one.a == one.b) {
        model.node("Identity", {"r"}, {"b"});
    } else if (one.a.size() == 4 && one.b.size() == 2) {
        model.node("Flatten", {"r"}, {"b"});
    } else if (one.b.size() == 2) {
        model.integers("axes", {1}, {1}).node("Squeeze", {"r", "axes"}, {"b"});
    } else {
        set(model.node("ReduceMean", {"r"}, {"b"}), "axes", one.a.size() == 4 ? Dims{2, 3} : Dims{1});
    }
    model.node("Add", {"a", "b"}, {"y"});
    CHECK(model.refusal().empty() == one.fits);
}

TEST_CASE("Constants that do not fit a sample are refused") {
    const std::string op = GENERATE("Add", "Mul", "Sub", "Div", "Max");
    const Dims dims =
        GENERATE(values<Dims>({{2, 1, 1, 1}, {1, 1, 1, 1, 1}, {4, 1}, {3}, {2, 3, 1, 1}, {1, 3, 3, 1}, {0}}));
    OnnxModel model;
    model.input("x", {2, 3, 8, 8}).output("y").floats("c", dims);
    model.node(op, {"x", "c"}, {"y"});
    INFO(op << " " << fmt::format("{}", fmt::join(dims, ", ")));
    CHECK(!model.refusal().empty());
}

namespace {

/// Dimensions that ONNX itself infers; kOpenDimension: not known.
std::map<std::string, Dims> shapes_of_onnx(onnx::ModelProto model) {
    onnx::shape_inference::InferShapes(model, onnx::OpSchemaRegistry::Instance(), {false, 0, true});
    std::map<std::string, Dims> shapes;
    for (const onnx::ValueInfoProto& one : model.graph().value_info()) {
        if (!one.type().tensor_type().has_shape()) continue;
        Dims& dims = shapes[one.name()];
        for (const auto& dim : one.type().tensor_type().shape().dim())
            dims.push_back(dim.has_dim_value() ? dim.dim_value() : kOpenDimension);
    }
    return shapes;
}

/// The dimensions of all results of nodes are ONNX's. Returns how many.
int compare_shapes(OnnxModel model) {
    model.graph().clear_output();  // ONNX then notes their dimensions with those of the other results
    const OnnxGraph graph = parse_onnx(model.bytes(), "network.onnx");
    int compared = 0;
    for (const auto& [name, dims] : shapes_of_onnx(model.proto())) {
        const auto found = graph.shapes.find(name);
        INFO(name << ": " << fmt::format("{}", fmt::join(dims, ", ")));
        REQUIRE(found != graph.shapes.end());
        CHECK(found->second == dims);
        ++compared;
    }
    return compared;
}

}  // namespace

TEST_CASE("Dimensions of each operator are those that ONNX infers") {
    int compared = 0;
    for (const auto& [op, versions] : imported_operators()) {
        if (op.rfind("switchyard.", 0) == 0 || op == "If") continue;
        for (const int opset : {9, 11, 12, 13, 15, 17}) {
            if (onnx::OpSchemaRegistry::Schema(op, opset, "") == nullptr) continue;
            INFO(op << " of opset " << opset);
            compared += compare_shapes(base_case(op, opset).model);
        }
    }
    CHECK(compared > 200);
}

TEST_CASE("Dimensions behind random windows, views and shapes are those that ONNX infers") {
    std::mt19937 random(GENERATE(range(0u, 300u)));
    const auto upto = [&](std::int64_t most) {
        return static_cast<std::int64_t>(random() % static_cast<unsigned>(most));
    };
    OnnxModel model(13);
    const std::int64_t channels = 1 + upto(4), rows = 8 + upto(9), columns = 8 + upto(9), filter = 1 + upto(4);
    model.input("x", {upto(2) == 0 ? -1 : 1 + upto(3), channels, rows, columns});
    model.floats("w", {3, channels, filter, filter});
    onnx::NodeProto& convolution = model.node("Conv", {"x", "w"}, {"a"});
    set(convolution, "strides", Dims{1 + upto(3), 1 + upto(3)});
    if (upto(2) == 0) set(convolution, "dilations", Dims{1 + upto(2), 1 + upto(2)});
    if (upto(2) == 0)
        set(convolution, "auto_pad", upto(2) == 0 ? "SAME_UPPER" : "SAME_LOWER");
    else
        set(convolution, "pads", Dims{upto(4), upto(4), upto(4), upto(4)});
    onnx::NodeProto& pool = model.node(upto(2) == 0 ? "MaxPool" : "AveragePool", {"a"}, {"b"});
    set(pool, "kernel_shape", Dims{1 + upto(2), 1 + upto(2)});
    set(pool, "strides", Dims{1 + upto(2), 1 + upto(2)});
    set(pool, "ceil_mode", upto(2));
    set(model.node("Transpose", {"b"}, {"c"}), "perm", upto(2) == 0 ? Dims{0, 2, 3, 1} : Dims{3, 1, 0, 2});
    set(model.node("Flatten", {"c"}, {"d"}), "axis", upto(9) - 4);
    model.integers("axes", {2}, {upto(5) - 2, 3});
    model.node("Unsqueeze", {"c", "axes"}, {"e"});
    onnx::NodeProto& mean = model.node("ReduceMean", {"c"}, {"f"});
    set(mean, "axes", Dims{upto(2), -1 - upto(2)});
    set(mean, "keepdims", upto(2));
    model.integers("index", {2}, {upto(4), 0});
    model.node("Shape", {"b"}, {"g"});
    model.node("Gather", {"g", "index"}, {"h"});
    model.integers("rest", {1}, {-1});
    set(model.node("Concat", {"h", "rest"}, {"i"}), "axis", std::int64_t{0});
    model.node("Reshape", {"b", "i"}, {"j"});
    set(model.node("Split", {"b"}, {"k", "l", "m"}), "axis", std::int64_t{1});
    model.integers("from", {1}, {upto(5) - 2}).integers("to", {1}, {upto(9) - 2}).integers("of", {1}, {upto(3) - 3});
    model.node("Slice", {"b", "from", "to", "of"}, {"n"});
    onnx::NodeProto& all = model.node("Slice", {"b", "from", "to"}, {"o"});
    if (upto(2) == 0) {
        all.add_input("");
        all.add_input("step");
        model.integers("step", {1}, {1 + upto(3)});
    }
    CHECK(compare_shapes(model) > 5);
}
