// SPDX-License-Identifier: Apache-2.0
// The ONNX importer, on the bytes as they are and on networks that differ from a readable one in a few fields: a change
// of bytes alone seldom leaves a message of protobuf.
#include <onnx/onnx_pb.h>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "fuzz_input.h"
#include "switchyard/sw_scheduler/onnx_import/onnx_graph.h"
#include "switchyard/sw_scheduler/onnx_import/onnx_import.h"
#include "switchyard/sw_scheduler/workload/model_reader.h"

using namespace switchyard;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

namespace {

constexpr int kVariants = 3;
constexpr std::size_t kMaxMessage = 1000;
constexpr std::size_t kMaxMessages = 20000;  // of a network that is varied

void import(const std::string& bytes) {
    for (const bool values : {false, true}) {
        try {
            sched::OnnxImportOptions options;
            options.values = values;
            // No folder of this name: external data is never there.
            const std::string path = "/none/network.onnx";
            const sched::ImportedModel model = sched::import_onnx(sched::parse_onnx(bytes, path), path, options);
            const fuzz::MemoryFile file(reinterpret_cast<const std::uint8_t*>(model.text.data()), model.text.size());
            sched::read_model(file.path());
        } catch (const InputError& error) {
            // Messages have names of the network, so that fuzz::try_reading() cannot look for foreign words in them.
            const std::string message = error.what();
            if (message.size() < kMaxMessage && message.find('\n') == std::string::npos) continue;
            fmt::print(stderr, "a long message: {}\n", message);
            std::abort();
        }
    }
}

class Variation {
public:
    explicit Variation(std::uint32_t seed) : random_(seed) {}

    void change(onnx::ModelProto& model) {
        for (std::size_t i = upto(4) + 1; i > 0; --i) {
            messages_.clear();
            strings_.clear();
            collect(model);
            if (messages_.size() > kMaxMessages) return;
            change_field(*messages_[upto(messages_.size())]);
        }
    }

private:
    std::size_t upto(std::size_t count) { return random_() % count; }

    void collect(Message& message) {
        messages_.push_back(&message);
        const Reflection& reflection = *message.GetReflection();
        std::vector<const FieldDescriptor*> fields;
        reflection.ListFields(message, &fields);
        for (const FieldDescriptor* const field : fields) {
            if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
                if (!field->is_repeated()) {
                    strings_.push_back(reflection.GetString(message, field));
                } else {
                    for (int i = 0; i < reflection.FieldSize(message, field); ++i)
                        strings_.push_back(reflection.GetRepeatedString(message, field, i));
                }
            } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
                if (!field->is_repeated()) {
                    collect(*reflection.MutableMessage(&message, field));
                } else {
                    for (int i = 0; i < reflection.FieldSize(message, field); ++i)
                        collect(*reflection.MutableRepeatedMessage(&message, field, i));
                }
            }
        }
    }

    /// One that the message has, or, less often, one that it may have.
    void change_field(Message& message) {
        const Reflection& reflection = *message.GetReflection();
        std::vector<const FieldDescriptor*> fields;
        reflection.ListFields(message, &fields);
        const auto& all = *message.GetDescriptor();
        const FieldDescriptor* const field =
            fields.empty() || upto(8) == 0
                ? all.field(static_cast<int>(upto(static_cast<std::size_t>(all.field_count()))))
                : fields[upto(fields.size())];
        if (!field->is_repeated()) {
            if (upto(6) == 0)
                reflection.ClearField(&message, field);
            else
                put(message, *field, -1);
            return;
        }
        const int size = reflection.FieldSize(message, field);
        const int at = size == 0 ? 0 : static_cast<int>(upto(static_cast<std::size_t>(size)));
        switch (size == 0 ? 0 : upto(5)) {
            case 0:
                put(message, *field, size);
                break;
            case 1:
                reflection.SwapElements(&message, field, at, size - 1);
                reflection.RemoveLast(&message, field);
                break;
            case 2:
                reflection.SwapElements(&message, field, at, static_cast<int>(upto(static_cast<std::size_t>(size))));
                break;
            default:
                put(message, *field, at);
        }
    }

    std::int64_t number() {
        constexpr std::int64_t kNumbers[] = {0,  1,  2,  3,  4,  5,   7,     8,     9,      10,
                                             11, 13, 16, 17, 64, 255, 65535, 65536, 1 << 30};
        constexpr std::int64_t kExtremes[] = {std::numeric_limits<std::int32_t>::max(),
                                              std::int64_t{1} << 32,
                                              std::int64_t{1} << 62,
                                              std::numeric_limits<std::int64_t>::max(),
                                              std::numeric_limits<std::int64_t>::min(),
                                              std::numeric_limits<std::int32_t>::min()};
        if (upto(6) == 0) return kExtremes[upto(std::size(kExtremes))];
        const std::int64_t one = kNumbers[upto(std::size(kNumbers))];
        return upto(4) == 0 ? -one : one;
    }

    float real() {
        constexpr float kReals[] = {0,
                                    1,
                                    -1,
                                    0.5F,
                                    1e-5F,
                                    1e30F,
                                    -1e-30F,
                                    std::numeric_limits<float>::infinity(),
                                    std::numeric_limits<float>::quiet_NaN()};
        return kReals[upto(std::size(kReals))];
    }

    std::string text() {
        constexpr const char* kOperators[] = {"Conv",
                                              "Gemm",
                                              "MatMul",
                                              "BatchNormalization",
                                              "LayerNormalization",
                                              "MaxPool",
                                              "AveragePool",
                                              "Softmax",
                                              "Add",
                                              "Mul",
                                              "Sub",
                                              "Div",
                                              "Max",
                                              "Identity",
                                              "Dropout",
                                              "Cast",
                                              "Flatten",
                                              "Reshape",
                                              "Squeeze",
                                              "Unsqueeze",
                                              "Transpose",
                                              "Gather",
                                              "If",
                                              "Switch",
                                              "Merge",
                                              "Sink",
                                              "Shape",
                                              "Concat",
                                              "Slice",
                                              "Constant",
                                              "Split",
                                              "ReduceMean",
                                              "Pow",
                                              "Sqrt",
                                              "Relu",
                                              "Sigmoid",
                                              "Tanh",
                                              "Erf",
                                              "Greater",
                                              "switchyard",
                                              "ai.onnx",
                                              "",
                                              "axis",
                                              "axes",
                                              "perm",
                                              "strides",
                                              "pads",
                                              "kernel_shape",
                                              "auto_pad",
                                              "dilations",
                                              "group",
                                              "alpha",
                                              "to",
                                              "keepdims",
                                              "SAME_UPPER",
                                              "value"};
        if (upto(3) == 0 || strings_.empty()) return kOperators[upto(std::size(kOperators))];
        return strings_[upto(strings_.size())];
    }

    /// Element `at` of a repeated field, behind its last one too; -1: of one that is not repeated.
    void put(Message& message, const FieldDescriptor& field, int at) {
        const Reflection& to = *message.GetReflection();
        const bool adds = at >= 0 && at == to.FieldSize(message, &field);
        const auto set = [&](auto single, auto repeated, auto add, auto value) {
            if (at < 0)
                (to.*single)(&message, &field, value);
            else if (adds)
                (to.*add)(&message, &field, value);
            else
                (to.*repeated)(&message, &field, at, value);
        };
        switch (field.cpp_type()) {
            case FieldDescriptor::CPPTYPE_INT32:
                set(&Reflection::SetInt32, &Reflection::SetRepeatedInt32, &Reflection::AddInt32,
                    static_cast<std::int32_t>(number()));
                break;
            case FieldDescriptor::CPPTYPE_INT64:
                set(&Reflection::SetInt64, &Reflection::SetRepeatedInt64, &Reflection::AddInt64, number());
                break;
            case FieldDescriptor::CPPTYPE_UINT64:
                set(&Reflection::SetUInt64, &Reflection::SetRepeatedUInt64, &Reflection::AddUInt64,
                    static_cast<std::uint64_t>(number()));
                break;
            case FieldDescriptor::CPPTYPE_FLOAT:
                set(&Reflection::SetFloat, &Reflection::SetRepeatedFloat, &Reflection::AddFloat, real());
                break;
            case FieldDescriptor::CPPTYPE_DOUBLE:
                set(&Reflection::SetDouble, &Reflection::SetRepeatedDouble, &Reflection::AddDouble,
                    static_cast<double>(real()));
                break;
            case FieldDescriptor::CPPTYPE_ENUM:
                set(&Reflection::SetEnumValue, &Reflection::SetRepeatedEnumValue, &Reflection::AddEnumValue,
                    static_cast<int>(upto(16)));
                break;
            case FieldDescriptor::CPPTYPE_STRING:
                set(&Reflection::SetString, &Reflection::SetRepeatedString, &Reflection::AddString, text());
                break;
            case FieldDescriptor::CPPTYPE_MESSAGE:
                put_message(message, field, at, adds);
                break;
            default:
                break;
        }
    }

    /// A copy of one of the same kind that the network has elsewhere.
    void put_message(Message& message, const FieldDescriptor& field, int at, bool adds) {
        std::vector<const Message*> alike;
        for (const Message* const one : messages_)
            if (one->GetDescriptor() == field.message_type() && one->SpaceUsedLong() < 100000) alike.push_back(one);
        if (alike.empty()) return;
        const Message& from = *alike[upto(alike.size())];
        const std::unique_ptr<Message> copy(from.New());
        copy->CopyFrom(from);
        const Reflection& to = *message.GetReflection();
        Message& place = at < 0 ? *to.MutableMessage(&message, &field)
                         : adds ? *to.AddMessage(&message, &field)
                                : *to.MutableRepeatedMessage(&message, &field, at);
        place.CopyFrom(*copy);
    }

    std::mt19937 random_;
    std::vector<Message*> messages_;
    std::vector<std::string> strings_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string bytes = fuzz::text_of(data, size);
    import(bytes);
    onnx::ModelProto model;
    if (!model.ParseFromString(bytes)) return 0;
    const std::size_t seed = std::hash<std::string>()(bytes);
    for (int i = 0; i < kVariants; ++i) {
        onnx::ModelProto variant = model;
        Variation(static_cast<std::uint32_t>(seed) + static_cast<std::uint32_t>(i)).change(variant);
        import(variant.SerializeAsString());
    }
    return 0;
}
