// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace switchyard::sched {

/// A dimension, or a value of a list of dimensions, that the file leaves open.
inline constexpr std::int64_t kOpenDimension = std::numeric_limits<std::int64_t>::min();

/// Largest dimension, and most elements of a tensor. More is taken for a mistake.
inline constexpr std::int64_t kMaxDimension = std::int64_t{1} << 31;
inline constexpr std::int64_t kMaxElements = std::int64_t{1} << 40;

/// Product of `dims`, or -1: one is negative or open, or the product is above kMaxElements.
std::int64_t elements_of(const std::vector<std::int64_t>& dims);

/// Names of a graph, and those of the graphs around it.
struct OnnxNames {
    const OnnxNames* outer = nullptr;
    std::set<std::string> own;

    bool contain(const std::string& name) const {
        return own.count(name) > 0 || (outer != nullptr && outer->contain(name));
    }
};

/// A text of the file for a message: printable characters alone, at most 60 of them.
std::string shown(const std::string& text);

/// Dimensions or other numbers of the file for a message: "[1, 3, ?, 8]", at most 8 of them, ? for an open one.
std::string listed(const std::vector<std::int64_t>& numbers);

/// Bytes of a constant, little-endian, last dimension closest. Those of another file are read when they are asked for.
class OnnxBytes {
public:
    explicit OnnxBytes(std::string bytes) : bytes_(std::move(bytes)) {}
    OnnxBytes(std::size_t size, std::function<std::string()> load) : load_(std::move(load)), size_(size) {}

    std::size_t size() const { return load_ ? size_ : bytes_.size(); }
    const std::string& get() const;

private:
    mutable std::string bytes_;
    mutable std::function<std::string()> load_;
    std::size_t size_ = 0;
};

/// An initializer or a constant as the file has it: two tensors that come from the same one share its parameters.
struct OnnxSource {
    std::string name;
    std::int64_t elements = 0;
};

/// A constant of an ONNX graph (TensorProto), or what was computed from one. The bytes are decoded when they are asked
/// for, and shared between copies.
struct OnnxTensor {
    enum class Type : std::uint8_t {
        binary32,
        binary64,
        binary16,
        bfloat16,
        int8,
        int16,
        int32,
        int64,
        uint8,
        uint16,
        uint32,
        uint64,
        boolean,
        other
    };
    Type type = Type::binary32;
    std::string other_type;                         ///< ONNX's name of it, of type `other`
    std::vector<std::int64_t> dims;                 ///< none: a scalar
    std::shared_ptr<const OnnxBytes> bytes;         ///< none of type `other`
    std::shared_ptr<const OnnxSource> source;       ///< that it comes from
    std::vector<std::int64_t> order;                ///< if not empty: permutation of the dimensions of `bytes`
    std::vector<std::int64_t> stored_dims() const;  ///< of `bytes`

    std::int64_t elements() const { return elements_of(dims); }
    bool is_float() const { return type <= Type::bfloat16; }
    std::vector<float> floats() const;
    std::vector<std::int64_t> integers() const;
};

/// ONNX's name of the type: "INT64".
const char* name_of(OnnxTensor::Type type);

/// Bytes of an element; 0 of type `other`.
std::size_t element_bytes(OnnxTensor::Type type);

struct OnnxGraph;

struct OnnxAttribute {
    float number = 0;
    std::int64_t integer = 0;
    std::string text;
    std::vector<std::int64_t> integers;
    std::vector<float> numbers;
    std::shared_ptr<OnnxTensor> tensor;
    std::shared_ptr<OnnxGraph> graph;
    bool is_default = false;  ///< has the value that the operator has without the attribute
};

struct OnnxNode {
    std::string name, op, domain;  ///< the domain of ONNX's own operators is empty
    /// Opset in which the operator got the definition that holds for the file; 0: ONNX does not know the operator.
    int version = 0;
    std::vector<std::string> inputs, outputs;
    /// Those of the file, and the defaults of the operator's definition.
    std::map<std::string, OnnxAttribute> attributes;
    std::string fault;  ///< against the operator's definition; empty: none

    const OnnxAttribute* find(const std::string& key) const;
    std::string input(std::size_t index) const { return index < inputs.size() ? inputs[index] : ""; }
    /// "Conv (node /layer1/Conv)", for messages.
    std::string described() const;
};

struct OnnxGraph {
    std::string name;
    std::vector<OnnxNode> nodes;                  ///< each behind those whose results it takes
    std::map<std::string, OnnxTensor> constants;  ///< initializers
    std::vector<std::string> inputs, outputs;     ///< without the initializers
    /// Dimensions as declared, completed by infer_shapes(); kOpenDimension: not known.
    std::map<std::string, std::vector<std::int64_t>> shapes;
    std::map<std::string, OnnxTensor::Type> types;  ///< of the inputs
};

/// Infers the dimensions of all results whose operators are known, and notes a fault in nodes whose declared dimensions
/// differ. ONNX's own inference is not used: on files with faults it reads missing types, divides by strides of 0 and
/// counts for hours.
void infer_shapes(OnnxGraph& graph);

/// `in` elements of a dimension seen through a window. `begin`, `end`: padding; for SAME_UPPER and SAME_LOWER made of
/// `auto_pad`.
struct OnnxWindow {
    std::int64_t size = 1, stride = 1, dilation = 1, begin = 0, end = 0;
    std::string auto_pad = "NOTSET";
    bool ceil = false;

    void pad_for(std::int64_t in);                ///< carries out `auto_pad`
    std::int64_t results(std::int64_t in) const;  ///< 0: the window does not fit
};

/// The window of Conv or of a pool in each dimension behind the channels; empty: the node's lists do not fit each
/// other, or a number is out of range.
std::vector<OnnxWindow> windows_of(const OnnxNode& node, std::vector<std::int64_t> filter);

/// Reads an ONNX file of opset 9 to 17. Throws InputError, also in a build without ONNX.
OnnxGraph read_onnx(const std::string& path);

/// The same of the bytes of a file, whose path messages name.
OnnxGraph parse_onnx(const std::string& bytes, const std::string& path);

}  // namespace switchyard::sched
