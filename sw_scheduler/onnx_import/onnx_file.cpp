// SPDX-License-Identifier: Apache-2.0
#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <cstdint>
#include <set>
#include <utility>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/onnx_import/onnx_graph.h"

namespace switchyard::sched {

namespace {

template <typename Value, typename Field>
std::string packed(const Field& field) {
    std::string bytes;
    for (const auto& one : field) {
        const Value value = static_cast<Value>(one);
        bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    return bytes;
}

OnnxTensor to_tensor(onnx::TensorProto& proto, const std::string& path) {
    OnnxTensor tensor;
    tensor.name = proto.name();
    tensor.dims.assign(proto.dims().begin(), proto.dims().end());
    tensor.stored_elements = tensor.elements();
    if (proto.data_location() == onnx::TensorProto::EXTERNAL)
        throw InputError(path, 0, proto.name(), "its values are in another file, which is not supported");
    std::string bytes;
    const bool raw = proto.has_raw_data();
    if (raw) bytes = std::move(*proto.mutable_raw_data());
    switch (proto.data_type()) {
        case onnx::TensorProto::FLOAT:
            tensor.type = OnnxTensor::Type::binary32;
            if (!raw) bytes = packed<float>(proto.float_data());
            break;
        case onnx::TensorProto::DOUBLE:
            tensor.type = OnnxTensor::Type::binary64;
            if (!raw) bytes = packed<double>(proto.double_data());
            break;
        case onnx::TensorProto::INT32:
            tensor.type = OnnxTensor::Type::int32;
            if (!raw) bytes = packed<std::int32_t>(proto.int32_data());
            break;
        case onnx::TensorProto::INT64:
            tensor.type = OnnxTensor::Type::int64;
            if (!raw) bytes = packed<std::int64_t>(proto.int64_data());
            break;
        case onnx::TensorProto::BOOL:
            tensor.type = OnnxTensor::Type::boolean;
            if (!raw) bytes = packed<std::uint8_t>(proto.int32_data());
            break;
        default:
            tensor.type = OnnxTensor::Type::other;
            return tensor;
    }
    const std::uint64_t sizes[] = {4, 8, 4, 8, 1};
    if (bytes.size() != static_cast<std::uint64_t>(tensor.elements()) * sizes[static_cast<std::size_t>(tensor.type)])
        throw InputError(path, 0, proto.name(), "has another number of values than its dimensions say");
    tensor.bytes = std::make_shared<const std::string>(std::move(bytes));
    return tensor;
}

std::vector<std::int64_t> dimensions(const onnx::TypeProto& type) {
    std::vector<std::int64_t> dims;
    for (const auto& dim : type.tensor_type().shape().dim()) dims.push_back(dim.has_dim_value() ? dim.dim_value() : -1);
    return dims;
}

OnnxGraph to_graph(onnx::GraphProto& proto, const std::string& path);

OnnxAttribute to_attribute(onnx::AttributeProto& proto, const std::string& path) {
    OnnxAttribute attribute;
    attribute.number = proto.f();
    attribute.integer = proto.i();
    attribute.text = proto.s();
    attribute.integers.assign(proto.ints().begin(), proto.ints().end());
    if (proto.has_t()) attribute.tensor = std::make_shared<OnnxTensor>(to_tensor(*proto.mutable_t(), path));
    if (proto.has_g()) attribute.graph = std::make_shared<OnnxGraph>(to_graph(*proto.mutable_g(), path));
    return attribute;
}

OnnxGraph to_graph(onnx::GraphProto& proto, const std::string& path) {
    OnnxGraph graph;
    graph.name = proto.name();
    for (onnx::TensorProto& one : *proto.mutable_initializer()) graph.constants[one.name()] = to_tensor(one, path);
    for (onnx::NodeProto& one : *proto.mutable_node()) {
        OnnxNode node;
        node.name = one.name();
        node.op = one.op_type();
        node.domain = one.domain() == "ai.onnx" ? "" : one.domain();
        node.inputs.assign(one.input().begin(), one.input().end());
        node.outputs.assign(one.output().begin(), one.output().end());
        for (onnx::AttributeProto& attribute : *one.mutable_attribute())
            node.attributes[attribute.name()] = to_attribute(attribute, path);
        graph.nodes.push_back(std::move(node));
    }
    const auto shapes = [&](const auto& values) {
        for (const onnx::ValueInfoProto& value : values)
            if (value.type().tensor_type().has_shape()) graph.shapes[value.name()] = dimensions(value.type());
    };
    shapes(proto.input());
    shapes(proto.value_info());
    shapes(proto.output());
    for (const onnx::ValueInfoProto& input : proto.input())
        if (graph.constants.count(input.name()) == 0) graph.inputs.push_back(input.name());
    for (const onnx::ValueInfoProto& output : proto.output()) graph.outputs.push_back(output.name());
    return graph;
}

}  // namespace

OnnxGraph read_onnx(const std::string& path) {
    const std::string bytes = read_file(path, kMaxArrayBytes);
    onnx::ModelProto model;
    if (!model.ParseFromString(bytes) || !model.has_graph()) throw InputError(path, 0, "", "is no ONNX model");
    try {
        // With the values of what computes shapes.
        onnx::shape_inference::InferShapes(model, onnx::OpSchemaRegistry::Instance(), {false, 0, true});
    } catch (const std::exception& error) {
        throw InputError(path, 0, "", std::string("ONNX cannot infer its shapes: ") + error.what());
    }
    return to_graph(*model.mutable_graph(), path);
}

}  // namespace switchyard::sched
