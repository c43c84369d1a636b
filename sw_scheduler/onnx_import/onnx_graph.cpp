// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/onnx_import/onnx_graph.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

namespace switchyard::sched {

namespace {

template <typename Stored>
struct Plain {
    using Bits = Stored;
    static Stored value(Stored bits) { return bits; }
};

struct Binary16 {
    using Bits = std::uint16_t;
    static float value(Bits bits) {
        const int exponent = bits >> 10 & 31, fraction = bits & 1023;
        float magnitude = std::ldexp(static_cast<float>(exponent == 0 ? fraction : fraction + 1024),
                                     (exponent == 0 ? 1 : exponent) - 25);
        if (exponent == 31)
            magnitude =
                fraction == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
        return (bits & 0x8000) != 0 ? -magnitude : magnitude;
    }
};

struct Bfloat16 {
    using Bits = std::uint16_t;
    static float value(Bits bits) {
        const std::uint32_t wide = std::uint32_t{bits} << 16;
        float value;
        std::memcpy(&value, &wide, sizeof value);
        return value;
    }
};

template <typename Stored, typename Value>
std::vector<Value> decode(const std::string& bytes) {
    using Bits = typename Stored::Bits;
    std::vector<Value> values(bytes.size() / sizeof(Bits));
    for (std::size_t i = 0; i < values.size(); ++i) {
        Bits one;
        std::memcpy(&one, bytes.data() + i * sizeof(Bits), sizeof(Bits));
        // NOLINTNEXTLINE(bugprone-signed-char-misuse): INT8 elements are signed numbers, not characters.
        values[i] = static_cast<Value>(Stored::value(one));
    }
    return values;
}

template <typename Value>
std::vector<Value> decoded_integers(OnnxTensor::Type type, const std::string& bytes) {
    switch (type) {
        case OnnxTensor::Type::int8:
            return decode<Plain<std::int8_t>, Value>(bytes);
        case OnnxTensor::Type::int16:
            return decode<Plain<std::int16_t>, Value>(bytes);
        case OnnxTensor::Type::int32:
            return decode<Plain<std::int32_t>, Value>(bytes);
        case OnnxTensor::Type::int64:
            return decode<Plain<std::int64_t>, Value>(bytes);
        case OnnxTensor::Type::uint8:
        case OnnxTensor::Type::boolean:
            return decode<Plain<std::uint8_t>, Value>(bytes);
        case OnnxTensor::Type::uint16:
            return decode<Plain<std::uint16_t>, Value>(bytes);
        case OnnxTensor::Type::uint32:
            return decode<Plain<std::uint32_t>, Value>(bytes);
        case OnnxTensor::Type::uint64:
            return decode<Plain<std::uint64_t>, Value>(bytes);
        default:
            return {};
    }
}

std::vector<float> decoded_floats(OnnxTensor::Type type, const std::string& bytes) {
    switch (type) {
        case OnnxTensor::Type::binary32:
            return decode<Plain<float>, float>(bytes);
        case OnnxTensor::Type::binary64:
            return decode<Plain<double>, float>(bytes);
        case OnnxTensor::Type::binary16:
            return decode<Binary16, float>(bytes);
        case OnnxTensor::Type::bfloat16:
            return decode<Bfloat16, float>(bytes);
        default:
            return decoded_integers<float>(type, bytes);
    }
}

/// `values` with the dimensions `dims` in the order `order`.
template <typename Value>
std::vector<Value> permuted(const std::vector<Value>& values, const std::vector<std::int64_t>& dims,
                            const std::vector<std::int64_t>& order) {
    if (order.empty()) return values;
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

}  // namespace

std::int64_t elements_of(const std::vector<std::int64_t>& dims) {
    std::int64_t product = 1;
    bool none = false;
    for (const std::int64_t dim : dims) {
        if (dim < 0) return -1;
        none = none || dim == 0;
    }
    if (none) return 0;
    for (const std::int64_t dim : dims) {
        if (dim > kMaxElements / product) return -1;
        product *= dim;
    }
    return product;
}

std::string shown(const std::string& text) {
    constexpr std::size_t kMost = 60;
    std::string result = text.substr(0, kMost);
    for (char& c : result)
        if (c < ' ' || c > '~') c = '?';
    return text.size() > kMost ? result + "..." : result;
}

std::string listed(const std::vector<std::int64_t>& numbers) {
    constexpr std::size_t kMost = 8;
    std::string text;
    for (std::size_t i = 0; i < std::min(numbers.size(), kMost); ++i)
        text += (i == 0 ? "" : ", ") + (numbers[i] == kOpenDimension ? std::string("?") : std::to_string(numbers[i]));
    return fmt::format("[{}{}]", text, numbers.size() > kMost ? ", ..." : "");
}

const std::string& OnnxBytes::get() const {
    if (load_) {
        bytes_ = load_();
        load_ = nullptr;
    }
    return bytes_;
}

const char* name_of(OnnxTensor::Type type) {
    constexpr const char* kNames[] = {"FLOAT", "DOUBLE", "FLOAT16", "BFLOAT16", "INT8",   "INT16", "INT32",
                                      "INT64", "UINT8",  "UINT16",  "UINT32",   "UINT64", "BOOL",  "other"};
    return kNames[static_cast<std::size_t>(type)];
}

std::size_t element_bytes(OnnxTensor::Type type) {
    constexpr std::size_t kSizes[] = {4, 8, 2, 2, 1, 2, 4, 8, 1, 2, 4, 8, 1, 0};
    return kSizes[static_cast<std::size_t>(type)];
}

std::vector<std::int64_t> OnnxTensor::stored_dims() const {
    if (order.empty()) return dims;
    std::vector<std::int64_t> stored(dims.size());
    for (std::size_t d = 0; d < dims.size(); ++d) stored[static_cast<std::size_t>(order[d])] = dims[d];
    return stored;
}

std::vector<float> OnnxTensor::floats() const {
    return bytes ? permuted(decoded_floats(type, bytes->get()), stored_dims(), order) : std::vector<float>();
}

std::vector<std::int64_t> OnnxTensor::integers() const {
    return bytes ? permuted(decoded_integers<std::int64_t>(type, bytes->get()), stored_dims(), order)
                 : std::vector<std::int64_t>();
}

const OnnxAttribute* OnnxNode::find(const std::string& key) const {
    const auto found = attributes.find(key);
    return found == attributes.end() ? nullptr : &found->second;
}

std::string OnnxNode::described() const {
    return fmt::format("{}{} (node {})", domain.empty() ? "" : shown(domain) + ".", shown(op),
                       name.empty() ? "without a name" : shown(name));
}

void OnnxWindow::pad_for(std::int64_t in) {
    if (auto_pad.rfind("SAME_", 0) != 0) return;
    const std::int64_t covered = (size - 1) * dilation + 1;
    const std::int64_t total = std::max<std::int64_t>(((in + stride - 1) / stride - 1) * stride + covered - in, 0);
    begin = auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
    end = total - begin;
}

std::int64_t OnnxWindow::results(std::int64_t in) const {
    const std::int64_t over = in + begin + end - ((size - 1) * dilation + 1);
    return over < 0 ? 0 : (ceil ? over + stride - 1 : over) / stride + 1;
}

std::vector<OnnxWindow> windows_of(const OnnxNode& node, std::vector<std::int64_t> filter) {
    const auto list = [&](const char* key, std::size_t size, std::int64_t fallback) {
        const OnnxAttribute* const given = node.find(key);
        return given != nullptr ? given->integers : std::vector<std::int64_t>(size, fallback);
    };
    filter = list("kernel_shape", 0, 0).empty() ? filter : list("kernel_shape", 0, 0);
    const std::size_t rank = filter.size();
    const std::vector<std::int64_t> strides = list("strides", rank, 1), dilations = list("dilations", rank, 1),
                                    pads = list("pads", 2 * rank, 0);
    if (strides.size() != rank || dilations.size() != rank || pads.size() != 2 * rank) return {};
    const auto within = [](std::int64_t value, std::int64_t least) { return value >= least && value <= 65535; };
    std::vector<OnnxWindow> windows(rank);
    for (std::size_t d = 0; d < rank; ++d) {
        OnnxWindow& window = windows[d];
        window.size = filter[d], window.stride = strides[d], window.dilation = dilations[d];
        window.begin = pads[d], window.end = pads[rank + d];
        if (!within(window.size, 1) || !within(window.stride, 1) || !within(window.dilation, 1) ||
            !within(window.begin, 0) || !within(window.end, 0))
            return {};
        if (const OnnxAttribute* const pad = node.find("auto_pad")) window.auto_pad = pad->text;
        if (window.auto_pad == "VALID") window.begin = window.end = 0;
        if (const OnnxAttribute* const mode = node.find("ceil_mode")) window.ceil = mode->integer != 0;
    }
    return windows;
}

}  // namespace switchyard::sched
