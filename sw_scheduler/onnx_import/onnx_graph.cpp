// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/onnx_import/onnx_graph.h"

#include <cstring>
#include <functional>
#include <numeric>

namespace switchyard::sched {

namespace {

template <typename Stored, typename Value>
std::vector<Value> decode(const std::string& bytes) {
    std::vector<Value> values(bytes.size() / sizeof(Stored));
    for (std::size_t i = 0; i < values.size(); ++i) {
        Stored one;
        std::memcpy(&one, bytes.data() + i * sizeof(Stored), sizeof(Stored));
        values[i] = static_cast<Value>(one);
    }
    return values;
}

/// `values` with the dimensions `dims` in the order `order`.
template <typename Value>
std::vector<Value> permuted(const std::vector<Value>& values, const std::vector<std::int64_t>& dims,
                            const std::vector<std::int64_t>& order) {
    const std::size_t rank = dims.size();
    std::vector<std::size_t> strides(rank, 1);
    for (std::size_t d = rank; d-- > 1;) strides[d - 1] = strides[d] * static_cast<std::size_t>(dims[d]);
    std::vector<Value> result;
    result.reserve(values.size());
    std::vector<std::int64_t> at(rank, 0);  // in the new order
    for (std::size_t i = 0; i < values.size(); ++i) {
        std::size_t from = 0;
        for (std::size_t d = 0; d < rank; ++d)
            from += static_cast<std::size_t>(at[d]) * strides[static_cast<std::size_t>(order[d])];
        result.push_back(values[from]);
        for (std::size_t d = rank; d-- > 0;) {
            if (++at[d] < dims[static_cast<std::size_t>(order[d])]) break;
            at[d] = 0;
        }
    }
    return result;
}

template <typename Value>
std::vector<Value> values_of(const OnnxTensor& tensor) {
    const auto decoded = [&]() -> std::vector<Value> {
        switch (tensor.type) {
            case OnnxTensor::Type::binary32:
                return decode<float, Value>(*tensor.bytes);
            case OnnxTensor::Type::binary64:
                return decode<double, Value>(*tensor.bytes);
            case OnnxTensor::Type::int32:
                return decode<std::int32_t, Value>(*tensor.bytes);
            case OnnxTensor::Type::int64:
                return decode<std::int64_t, Value>(*tensor.bytes);
            case OnnxTensor::Type::boolean:
                return decode<std::uint8_t, Value>(*tensor.bytes);
            case OnnxTensor::Type::other:
                break;
        }
        return {};
    };
    if (tensor.order.empty()) return decoded();
    return permuted(decoded(), tensor.stored_dims(), tensor.order);
}

}  // namespace

std::vector<std::int64_t> OnnxTensor::stored_dims() const {
    if (order.empty()) return dims;
    std::vector<std::int64_t> stored(dims.size());
    for (std::size_t d = 0; d < dims.size(); ++d) stored[static_cast<std::size_t>(order[d])] = dims[d];
    return stored;
}

std::int64_t OnnxTensor::elements() const {
    return std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
}

std::vector<float> OnnxTensor::floats() const {
    return values_of<float>(*this);
}

std::vector<std::int64_t> OnnxTensor::integers() const {
    return values_of<std::int64_t>(*this);
}

std::int64_t OnnxNode::integer_or(const std::string& key, std::int64_t fallback) const {
    const auto found = attributes.find(key);
    return found == attributes.end() ? fallback : found->second.integer;
}

std::vector<std::int64_t> OnnxNode::integers_or(const std::string& key,
                                                const std::vector<std::int64_t>& fallback) const {
    const auto found = attributes.find(key);
    return found == attributes.end() ? fallback : found->second.integers;
}

double OnnxNode::number_or(const std::string& key, double fallback) const {
    const auto found = attributes.find(key);
    return found == attributes.end() ? fallback : static_cast<double>(found->second.number);
}

std::string OnnxNode::text_or(const std::string& key, const std::string& fallback) const {
    const auto found = attributes.find(key);
    return found == attributes.end() ? fallback : found->second.text;
}

std::string OnnxNode::described() const {
    return (domain.empty() ? op : domain + "." + op) + " (node " + (name.empty() ? "without a name" : name) + ")";
}

}  // namespace switchyard::sched
