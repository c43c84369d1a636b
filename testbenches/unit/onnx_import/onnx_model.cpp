// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/unit/onnx_import/onnx_model.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/onnx_import/onnx_graph.h"
#include "switchyard/testbenches/catch.h"

namespace switchyard::sched {

namespace {

void set_value_info(onnx::ValueInfoProto& info, const std::string& name, const OnnxModel::Dims& dims, int type) {
    info.set_name(name);
    auto& tensor = *info.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(type);
    if (dims.empty()) return;
    for (const std::int64_t dim : dims) {
        auto& one = *tensor.mutable_shape()->add_dim();
        if (dim == -1)
            one.set_dim_param("open");
        else
            one.set_dim_value(dim);
    }
}

}  // namespace

OnnxModel::OnnxModel(int opset) {
    proto_.set_ir_version(8);
    auto& own = *proto_.add_opset_import();
    own.set_domain("");
    own.set_version(opset);
    auto& ours = *proto_.add_opset_import();
    ours.set_domain("switchyard");
    ours.set_version(1);
    graph().set_name("made");
}

OnnxModel& OnnxModel::input(const std::string& name, const Dims& dims, int type) {
    set_value_info(*graph().add_input(), name, dims, type);
    return *this;
}

OnnxModel& OnnxModel::output(const std::string& name, const Dims& dims, int type) {
    set_value_info(*graph().add_output(), name, dims, type);
    return *this;
}

OnnxModel& OnnxModel::floats(const std::string& name, const Dims& dims, std::vector<float> values) {
    auto& tensor = *graph().add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    for (const std::int64_t dim : dims) tensor.add_dims(dim);
    if (values.empty()) {
        values.resize(
            static_cast<std::size_t>(std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>())));
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i + 1) / 256;
    }
    for (const float value : values) tensor.add_float_data(value);
    return *this;
}

OnnxModel& OnnxModel::integers(const std::string& name, const Dims& dims, const std::vector<std::int64_t>& values) {
    auto& tensor = *graph().add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(onnx::TensorProto::INT64);
    for (const std::int64_t dim : dims) tensor.add_dims(dim);
    for (const std::int64_t value : values) tensor.add_int64_data(value);
    return *this;
}

onnx::NodeProto& OnnxModel::node(const std::string& op, const std::vector<std::string>& inputs,
                                 const std::vector<std::string>& outputs, const std::string& domain) {
    onnx::NodeProto& node = *graph().add_node();
    node.set_op_type(op);
    node.set_name("the_" + op);
    node.set_domain(domain);
    for (const std::string& input : inputs) node.add_input(input);
    for (const std::string& output : outputs) node.add_output(output);
    return node;
}

ImportedModel OnnxModel::import(bool values, const std::string& path) const {
    OnnxImportOptions options;
    options.values = values;
    return import_onnx(parse_onnx(bytes(), path), path, options);
}

std::string OnnxModel::refusal(bool values) const {
    try {
        import(values);
        return "";
    } catch (const InputError& error) {
        const std::string message = error.what();
        INFO(message);
        CHECK(message.size() < 800);
        CHECK(message.find('\n') == std::string::npos);
        return message;
    }
}

std::string OnnxModel::outcome() const {
    std::string outcome = refusal();
    if (!outcome.empty()) return outcome;
    const ImportedModel sizes = import();
    outcome = fmt::format("{}\n{} {} {}\n{}", sizes.text, sizes.layers, sizes.parameters, sizes.host_parameters,
                          fmt::join(sizes.sizes_only, "\n"));
    if (!sizes.sizes_only.empty()) return outcome;
    for (const ImportedWeights& one : import(true).weights)
        outcome += fmt::format("\n{} {} {}", one.name, fmt::join(one.shape, "x"), fmt::join(one.values, " "));
    return outcome;
}

onnx::AttributeProto& attribute(onnx::NodeProto& node, const std::string& key) {
    for (onnx::AttributeProto& one : *node.mutable_attribute())
        if (one.name() == key) {
            one.Clear();
            one.set_name(key);
            return one;
        }
    onnx::AttributeProto& one = *node.add_attribute();
    one.set_name(key);
    return one;
}

void set(onnx::NodeProto& node, const std::string& key, std::int64_t value) {
    onnx::AttributeProto& one = attribute(node, key);
    one.set_type(onnx::AttributeProto::INT);
    one.set_i(value);
}

void set(onnx::NodeProto& node, const std::string& key, double value) {
    onnx::AttributeProto& one = attribute(node, key);
    one.set_type(onnx::AttributeProto::FLOAT);
    one.set_f(static_cast<float>(value));
}

void set(onnx::NodeProto& node, const std::string& key, const char* value) {
    onnx::AttributeProto& one = attribute(node, key);
    one.set_type(onnx::AttributeProto::STRING);
    one.set_s(value);
}

void set(onnx::NodeProto& node, const std::string& key, const std::vector<std::int64_t>& values) {
    onnx::AttributeProto& one = attribute(node, key);
    one.set_type(onnx::AttributeProto::INTS);
    for (const std::int64_t value : values) one.add_ints(value);
}

void set(onnx::NodeProto& node, const std::string& key, const onnx::GraphProto& graph) {
    onnx::AttributeProto& one = attribute(node, key);
    one.set_type(onnx::AttributeProto::GRAPH);
    *one.mutable_g() = graph;
}

const std::vector<float>& weights(const ImportedModel& model, const std::string& name) {
    const auto found = std::find_if(model.weights.begin(), model.weights.end(),
                                    [&](const ImportedWeights& one) { return one.name == name; });
    if (found == model.weights.end()) FAIL("no values of " << name << " in\n" << model.text);
    return found->values;
}

}  // namespace switchyard::sched
