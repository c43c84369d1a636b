// SPDX-License-Identifier: Apache-2.0
#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/base/input_file.h"
#include "switchyard/sw_scheduler/onnx_import/onnx_external.h"
#include "switchyard/sw_scheduler/onnx_import/onnx_graph.h"

namespace switchyard::sched {

namespace {

constexpr std::int64_t kOldestOpset = 9, kNewestOpset = 17;
constexpr int kMaxRank = 64;

template <typename Value, typename Field>
std::string packed(const Field& field) {
    std::string bytes;
    bytes.reserve(static_cast<std::size_t>(field.size()) * sizeof(Value));
    for (const auto& one : field) {
        const Value value = static_cast<Value>(one);
        bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    return bytes;
}

OnnxTensor::Type type_of(int type) {
    switch (type) {
        case onnx::TensorProto::FLOAT:
            return OnnxTensor::Type::binary32;
        case onnx::TensorProto::DOUBLE:
            return OnnxTensor::Type::binary64;
        case onnx::TensorProto::FLOAT16:
            return OnnxTensor::Type::binary16;
        case onnx::TensorProto::BFLOAT16:
            return OnnxTensor::Type::bfloat16;
        case onnx::TensorProto::INT8:
            return OnnxTensor::Type::int8;
        case onnx::TensorProto::INT16:
            return OnnxTensor::Type::int16;
        case onnx::TensorProto::INT32:
            return OnnxTensor::Type::int32;
        case onnx::TensorProto::INT64:
            return OnnxTensor::Type::int64;
        case onnx::TensorProto::UINT8:
            return OnnxTensor::Type::uint8;
        case onnx::TensorProto::UINT16:
            return OnnxTensor::Type::uint16;
        case onnx::TensorProto::UINT32:
            return OnnxTensor::Type::uint32;
        case onnx::TensorProto::UINT64:
            return OnnxTensor::Type::uint64;
        case onnx::TensorProto::BOOL:
            return OnnxTensor::Type::boolean;
        default:
            return OnnxTensor::Type::other;
    }
}

/// Of the field that ONNX has for the type.
std::string typed_values(const onnx::TensorProto& proto, OnnxTensor::Type type) {
    switch (type) {
        case OnnxTensor::Type::binary32:
            return packed<float>(proto.float_data());
        case OnnxTensor::Type::binary64:
            return packed<double>(proto.double_data());
        case OnnxTensor::Type::int64:
            return packed<std::int64_t>(proto.int64_data());
        case OnnxTensor::Type::uint32:
            return packed<std::uint32_t>(proto.uint64_data());
        case OnnxTensor::Type::uint64:
            return packed<std::uint64_t>(proto.uint64_data());
        default:
            break;
    }
    switch (element_bytes(type)) {
        case 1:
            return packed<std::uint8_t>(proto.int32_data());
        case 2:
            return packed<std::uint16_t>(proto.int32_data());
        default:
            return packed<std::int32_t>(proto.int32_data());
    }
}

class FileReader {
public:
    explicit FileReader(std::string path) : path_(std::move(path)) {}

    OnnxGraph graph(onnx::ModelProto& model) {
        for (const onnx::OperatorSetIdProto& one : model.opset_import()) {
            const std::string domain = one.domain() == "ai.onnx" ? "" : one.domain();
            if (!opsets_.emplace(domain, one.version()).second)
                fail("opset_import", fmt::format("expected each domain once, found {} twice", named(domain)));
        }
        const auto own = opsets_.find("");
        if (own == opsets_.end())
            fail("opset_import",
                 fmt::format("expected an opset of ONNX from {} to {}, found none; export the model again",
                             kOldestOpset, kNewestOpset));
        if (own->second < kOldestOpset || own->second > kNewestOpset)
            fail("opset_import", fmt::format("expected an opset from {} to {}, found {}; convert the model with "
                                             "onnx.version_converter, or export it with another opset",
                                             kOldestOpset, kNewestOpset, own->second));
        if (const auto ours = opsets_.find("switchyard"); ours != opsets_.end() && ours->second != 1)
            fail("opset_import", fmt::format("expected version 1 of the domain switchyard, found {}", ours->second));
        for (const onnx::FunctionProto& one : model.functions())
            if (one.domain().empty() || one.domain() == "ai.onnx" || one.domain() == "switchyard")
                fail(shown(one.name()),
                     fmt::format(
                         "expected functions of domains of their own, found a function of {}; inline the functions",
                         named(one.domain())));
        OnnxGraph result = to_graph(*model.mutable_graph(), nullptr);
        infer_shapes(result);
        return result;
    }

private:
    using Names = OnnxNames;

    [[noreturn]] void fail(const std::string& key, const std::string& message) const {
        throw InputError(path_, 0, key, message);
    }

    static std::string named(const std::string& domain) { return domain.empty() ? "ai.onnx" : shown(domain); }

    OnnxTensor to_tensor(onnx::TensorProto& proto) const {
        OnnxTensor tensor;
        const std::string name = shown(proto.name());
        tensor.dims.assign(proto.dims().begin(), proto.dims().end());
        tensor.type = type_of(proto.data_type());
        const std::int64_t elements = tensor.elements();
        if (elements < 0 || proto.dims_size() > kMaxRank)
            fail(name, fmt::format("expected up to {} dimensions from 0, with up to {} elements together; found {}",
                                   kMaxRank, kMaxElements,
                                   fmt::join(tensor.dims.begin(), tensor.dims.begin() + std::min(proto.dims_size(), 8),
                                             " x ")));
        tensor.source = std::make_shared<const OnnxSource>(OnnxSource{proto.name(), elements});
        if (tensor.type == OnnxTensor::Type::other) {
            const bool known = onnx::TensorProto::DataType_IsValid(proto.data_type());
            tensor.other_type =
                known ? onnx::TensorProto::DataType_Name(static_cast<onnx::TensorProto::DataType>(proto.data_type()))
                      : std::to_string(proto.data_type());
            return tensor;
        }
        const std::size_t size = static_cast<std::size_t>(elements) * element_bytes(tensor.type);
        if (proto.data_location() == onnx::TensorProto::EXTERNAL) {
            std::map<std::string, std::string> keys;
            for (const onnx::StringStringEntryProto& one : proto.external_data()) keys[one.key()] = one.value();
            tensor.bytes = external_bytes(path_, proto.name(), keys, size);
            return tensor;
        }
        std::string bytes =
            proto.has_raw_data() ? std::move(*proto.mutable_raw_data()) : typed_values(proto, tensor.type);
        if (bytes.size() != size)
            fail(name, fmt::format("expected {} bytes for its dimensions and type, found {}", size, bytes.size()));
        tensor.bytes = std::make_shared<const OnnxBytes>(std::move(bytes));
        return tensor;
    }

    std::vector<std::int64_t> dimensions(const onnx::ValueInfoProto& value) const {
        std::vector<std::int64_t> dims;
        const auto& shape = value.type().tensor_type().shape();
        if (shape.dim_size() > kMaxRank)
            fail(shown(value.name()),
                 fmt::format("expected up to {} dimensions, found {}", kMaxRank, shape.dim_size()));
        for (const auto& dim : shape.dim()) {
            // Exporters write -1 for a dimension that is open.
            const std::int64_t size = dim.has_dim_value() && dim.dim_value() != -1 ? dim.dim_value() : kOpenDimension;
            if (size != kOpenDimension && (size < 0 || size > kMaxDimension))
                fail(shown(value.name()),
                     fmt::format("dimension {}: expected 0 to {}, found {}", dims.size(), kMaxDimension, size));
            dims.push_back(size);
        }
        return dims;
    }

    OnnxAttribute to_attribute(onnx::AttributeProto& proto, const Names* outer) {
        OnnxAttribute attribute;
        attribute.number = proto.f();
        attribute.integer = proto.i();
        attribute.text = proto.s();
        attribute.integers.assign(proto.ints().begin(), proto.ints().end());
        attribute.numbers.assign(proto.floats().begin(), proto.floats().end());
        if (proto.has_t()) attribute.tensor = std::make_shared<OnnxTensor>(to_tensor(*proto.mutable_t()));
        if (proto.has_g()) attribute.graph = std::make_shared<OnnxGraph>(to_graph(*proto.mutable_g(), outer));
        return attribute;
    }

    /// Attributes of the file and defaults of the definition. Returns what is wrong.
    std::string read_attributes(onnx::NodeProto& proto, const onnx::OpSchema* schema, OnnxNode& node,
                                const Names* outer) {
        std::string fault;
        for (onnx::AttributeProto& one : *proto.mutable_attribute()) {
            const std::string& key = one.name();
            bool is_default = false;
            if (schema != nullptr) {
                const auto known = schema->attributes().find(key);
                if (known == schema->attributes().end())
                    fault = fmt::format("expected attributes that opset {} defines, found {}", opsets_.at(node.domain),
                                        shown(key));
                else if (one.type() != known->second.type || one.has_ref_attr_name())
                    fault = fmt::format("its attribute {}: expected type {}, found {}", shown(key),
                                        onnx::AttributeProto::AttributeType_Name(known->second.type),
                                        onnx::AttributeProto::AttributeType_Name(one.type()));
                else
                    is_default = equal(one, known->second.default_value);
            }
            OnnxAttribute attribute = to_attribute(one, outer);
            attribute.is_default = is_default;
            if (!node.attributes.emplace(key, std::move(attribute)).second)
                fault = fmt::format("its attribute {}: expected one value, found two", shown(key));
        }
        if (schema == nullptr) return fault;
        for (const auto& [key, known] : schema->attributes()) {
            if (node.attributes.count(key) > 0) continue;
            if (known.required) return fmt::format("its attribute {}: expected a value, found none", key);
            if (known.default_value.type() == onnx::AttributeProto::UNDEFINED) continue;
            onnx::AttributeProto copy = known.default_value;
            OnnxAttribute attribute = to_attribute(copy, outer);
            attribute.is_default = true;
            node.attributes.emplace(key, std::move(attribute));
        }
        return fault;
    }

    /// Constant's numbers and lists of numbers as the tensor that they stand for.
    static void state_value(OnnxNode& node) {
        for (const char* const key : {"value_float", "value_floats", "value_int", "value_ints"}) {
            const auto found = node.attributes.find(key);
            if (found == node.attributes.end() || node.attributes.size() != 1) continue;
            const OnnxAttribute& given = found->second;
            const std::string name = key;
            const bool floats = name.rfind("value_float", 0) == 0, list = name.back() == 's';
            auto tensor = std::make_shared<OnnxTensor>();
            tensor->type = floats ? OnnxTensor::Type::binary32 : OnnxTensor::Type::int64;
            const std::size_t count = !list ? 1 : floats ? given.numbers.size() : given.integers.size();
            if (list) tensor->dims = {static_cast<std::int64_t>(count)};
            std::string bytes = !list ? (floats ? packed<float>(std::vector<float>{given.number})
                                                : packed<std::int64_t>(std::vector<std::int64_t>{given.integer}))
                                      : (floats ? packed<float>(given.numbers) : packed<std::int64_t>(given.integers));
            tensor->bytes = std::make_shared<const OnnxBytes>(std::move(bytes));
            tensor->source = std::make_shared<const OnnxSource>(OnnxSource{"", tensor->elements()});
            node.attributes.clear();
            node.attributes["value"].tensor = std::move(tensor);
            return;
        }
    }

    static bool equal(const onnx::AttributeProto& a, const onnx::AttributeProto& b) {
        return a.type() == b.type() && b.type() != onnx::AttributeProto::UNDEFINED && a.i() == b.i() &&
               a.f() == b.f() && a.s() == b.s() && a.ints_size() == b.ints_size() &&
               std::equal(a.ints().begin(), a.ints().end(), b.ints().begin()) && a.floats_size() == b.floats_size() &&
               std::equal(a.floats().begin(), a.floats().end(), b.floats().begin()) && !a.has_t() && !a.has_g();
    }

    OnnxNode to_node(onnx::NodeProto& proto, const Names* outer) {
        OnnxNode node;
        node.name = proto.name();
        node.op = proto.op_type();
        node.domain = proto.domain() == "ai.onnx" ? "" : proto.domain();
        node.inputs.assign(proto.input().begin(), proto.input().end());
        node.outputs.assign(proto.output().begin(), proto.output().end());
        const onnx::OpSchema* schema = own_operator(node);
        if (schema == nullptr && node.domain.empty())
            schema = onnx::OpSchemaRegistry::Schema(node.op, static_cast<int>(opsets_.at("")), "");
        node.fault = read_attributes(proto, schema, node, outer);
        if (node.op == "Constant" && schema != nullptr) state_value(node);
        if (schema == nullptr) return node;
        node.version = schema->SinceVersion();
        const auto inputs = static_cast<int>(node.inputs.size()), outputs = static_cast<int>(node.outputs.size());
        const auto count_fault = [&](const char* what, int low, int high, int found) {
            if (found < low || found > high)
                node.fault = fmt::format("its {}: expected {}{} in opset {}, found {}", what, low,
                                         high == low                               ? ""
                                         : high == std::numeric_limits<int>::max() ? " or more"
                                                                                   : fmt::format(" to {}", high),
                                         opsets_.at(node.domain), found);
        };
        count_fault("inputs", schema->min_input(), schema->max_input(), inputs);
        count_fault("results", schema->min_output(), schema->max_output(), outputs);
        for (std::size_t i = 0; i < node.inputs.size() && i < schema->inputs().size(); ++i)
            if (node.inputs[i].empty() && schema->inputs()[i].GetOption() != onnx::OpSchema::Optional)
                node.fault = fmt::format("its input {}: expected a tensor, found none", schema->inputs()[i].GetName());
        return node;
    }

    /// Definition of an operator of the domain switchyard.
    const onnx::OpSchema* own_operator(const OnnxNode& node) {
        if (node.domain != "switchyard") return nullptr;
        if (opsets_.count("switchyard") == 0)
            fail("opset_import", "expected version 1 of the domain switchyard, found none; add it to the model");
        static const std::map<std::string, onnx::OpSchema> kOwn = [] {
            using Schema = onnx::OpSchema;
            using Attribute = onnx::AttributeProto;
            const auto made = [](const char* name, unsigned inputs, unsigned outputs) {
                Schema schema(name, __FILE__, __LINE__);
                schema.SetDomain("switchyard").SinceVersion(1);
                schema.TypeConstraint("T", {"tensor(float)", "tensor(float16)", "tensor(double)"}, "");
                const auto option = [](unsigned count) { return count > 1 ? Schema::Variadic : Schema::Single; };
                if (inputs > 0) schema.Input(0, "data", "", "T", option(inputs == 2 ? 1 : inputs), true, 2);
                if (inputs == 2) schema.Input(1, "gate", "", "T");
                if (outputs > 0) schema.Output(0, "result", "", "T", option(outputs), true, 2);
                return schema;
            };
            std::map<std::string, Schema> all;
            all.emplace("Switch", made("Switch", 2, 64)
                                      .Attr("choose", "", Attribute::STRING, false)
                                      .Attr("threshold", "", Attribute::FLOAT, false)
                                      .Attr("patience", "", Attribute::INT, false));
            all.emplace("Merge", made("Merge", 64, 1).Attr("mode", "", Attribute::STRING, false));
            all.emplace("Sink", made("Sink", 1, 0));
            for (auto& [name, schema] : all) schema.Finalize();
            return all;
        }();
        const auto found = kOwn.find(node.op);
        return found == kOwn.end() ? nullptr : &found->second;
    }

    OnnxGraph to_graph(onnx::GraphProto& proto, const Names* outer) {
        OnnxGraph graph;
        graph.name = proto.name();
        if (proto.sparse_initializer_size() > 0)
            fail(shown(proto.sparse_initializer(0).values().name()),
                 "expected a dense initializer, found a sparse one; write it as a dense one");
        Names names{outer, {}};
        for (onnx::TensorProto& one : *proto.mutable_initializer()) {
            if (!names.own.insert(one.name()).second)
                fail(shown(one.name()), "expected one initializer of this name, found two; rename one");
            graph.constants[one.name()] = to_tensor(one);
        }
        for (const onnx::ValueInfoProto& input : proto.input()) {
            if (graph.constants.count(input.name()) > 0) continue;
            if (!names.own.insert(input.name()).second)
                fail(shown(input.name()), "expected one input of this name, found two; rename one");
            graph.inputs.push_back(input.name());
            graph.types[input.name()] = type_of(input.type().tensor_type().elem_type());
        }
        for (onnx::NodeProto& one : *proto.mutable_node()) {
            OnnxNode node = to_node(one, &names);
            for (const std::string& input : node.inputs)
                if (!input.empty() && !names.contain(input))
                    fail(node.described(),
                         fmt::format("its input {}: expected the result of an earlier node, found none: the nodes form "
                                     "a cycle, a node is missing, or they are not in the order that ONNX demands",
                                     shown(input)));
            for (const std::string& output : node.outputs) {
                if (output.empty()) continue;
                if (outer != nullptr && outer->contain(output))
                    fail(node.described(), fmt::format("its result {}: expected a name of its own, found that of a "
                                                       "value outside of the branch; rename it",
                                                       shown(output)));
                if (!names.own.insert(output).second)
                    fail(node.described(),
                         fmt::format("its result {}: expected one value of this name, found two; rename one",
                                     shown(output)));
            }
            graph.nodes.push_back(std::move(node));
        }
        const auto shapes = [&](const auto& values) {
            for (const onnx::ValueInfoProto& value : values)
                if (value.type().tensor_type().has_shape()) graph.shapes[value.name()] = dimensions(value);
        };
        shapes(proto.value_info());
        shapes(proto.output());
        shapes(proto.input());
        for (const onnx::ValueInfoProto& output : proto.output()) {
            if (!names.contain(output.name()))
                fail(shown(output.name()), "expected a node that makes this output, found none; remove the output");
            graph.outputs.push_back(output.name());
        }
        return graph;
    }

    std::string path_;
    std::map<std::string, std::int64_t> opsets_;
};

void check_bytes(std::uint64_t bytes, const std::string& path) {
    if (bytes > std::numeric_limits<std::int32_t>::max())
        throw InputError(path, 0, "",
                         fmt::format("expected less than 2 GiB, found {} bytes; save it with external data", bytes));
}

}  // namespace

OnnxGraph read_onnx(const std::string& path) {
    // A file that is no model, however long, is refused by its first byte: the tag of a field of onnx::ModelProto.
    constexpr unsigned char kTags[] = {0x08, 0x12, 0x1A, 0x22, 0x28, 0x32, 0x3A, 0x42, 0x72, 0xA2, 0xCA};
    const int first = open_input(path).peek();
    if (std::find(std::begin(kTags), std::end(kTags), first) == std::end(kTags))
        throw InputError(
            path, 0, "",
            fmt::format("expected an ONNX model, found a file that {}; export the network as ONNX",
                        first < 0 ? std::string("is empty") : fmt::format("begins with byte {:#04x}", first)));
    check_bytes(InputFile(path).size().value_or(0), path);
    return parse_onnx(read_file(path, kMaxArrayBytes), path);
}

OnnxGraph parse_onnx(const std::string& bytes, const std::string& path) {
    check_bytes(bytes.size(), path);
    onnx::ModelProto model;
    const bool parsed = model.ParseFromString(bytes);
    if (!parsed || !model.has_graph())
        throw InputError(path, 0, "",
                         fmt::format("expected an ONNX model, found {}; export the network as ONNX",
                                     parsed ? "one without a graph" : "bytes that protobuf cannot parse"));
    return FileReader(path).graph(model);
}

}  // namespace switchyard::sched
