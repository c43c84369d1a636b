// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace switchyard::sched {

/// A constant of an ONNX graph (TensorProto), or what was computed from one. The bytes are decoded when they are asked
/// for, and shared between copies.
struct OnnxTensor {
    enum class Type : std::uint8_t { binary32, binary64, int32, int64, boolean, other };
    Type type = Type::binary32;
    std::vector<std::int64_t> dims;                 ///< none: a scalar
    std::shared_ptr<const std::string> bytes;       ///< little-endian, last dimension closest
    std::string name;                               ///< of the initializer that it comes from
    std::int64_t stored_elements = 0;               ///< of that initializer
    std::vector<std::int64_t> order;                ///< if not empty: permutation of the dimensions of `bytes`
    std::vector<std::int64_t> stored_dims() const;  ///< of `bytes`

    std::int64_t elements() const;
    bool is_float() const { return type == Type::binary32 || type == Type::binary64; }
    std::vector<float> floats() const;
    std::vector<std::int64_t> integers() const;
};

struct OnnxGraph;

struct OnnxAttribute {
    float number = 0;
    std::int64_t integer = 0;
    std::string text;
    std::vector<std::int64_t> integers;
    std::shared_ptr<OnnxTensor> tensor;
    std::shared_ptr<OnnxGraph> graph;
};

struct OnnxNode {
    std::string name, op, domain;  ///< the domain of ONNX's own operators is empty
    std::vector<std::string> inputs, outputs;
    std::map<std::string, OnnxAttribute> attributes;

    std::int64_t integer_or(const std::string& key, std::int64_t fallback) const;
    std::vector<std::int64_t> integers_or(const std::string& key, const std::vector<std::int64_t>& fallback) const;
    double number_or(const std::string& key, double fallback) const;
    std::string text_or(const std::string& key, const std::string& fallback) const;
    std::string input(std::size_t index) const { return index < inputs.size() ? inputs[index] : ""; }
    /// "Conv (node /layer1/Conv)", for messages.
    std::string described() const;
};

struct OnnxGraph {
    std::string name;
    std::vector<OnnxNode> nodes;
    std::map<std::string, OnnxTensor> constants;  ///< initializers
    std::vector<std::string> inputs, outputs;     ///< without the initializers
    /// Dimensions as declared or inferred by ONNX (onnx::shape_inference); -1: not known.
    std::map<std::string, std::vector<std::int64_t>> shapes;
};

/// Reads an ONNX file (IR version 8 or older). Throws InputError, also in a build without ONNX.
OnnxGraph read_onnx(const std::string& path);

}  // namespace switchyard::sched
