// SPDX-License-Identifier: Apache-2.0
// Dimensions of all results of a graph, and the values of the short lists of integers that shapes are computed with.
// Definitions: ONNX operator schemas, opsets 9 to 17.
#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/onnx_import/onnx_axes.h"
#include "switchyard/sw_scheduler/onnx_import/onnx_graph.h"

namespace switchyard::sched {

namespace {

using Dims = std::vector<std::int64_t>;
using MaybeDims = std::optional<Dims>;

constexpr std::size_t kMaxRank = 64;

/// What of the attributes and inputs of a view does not fit its input. Operators with values of their own are checked
/// where they are converted.
struct Misfit {
    std::string fault;
};

bool is_open(std::int64_t dim) {
    return dim == kOpenDimension;
}

/// Product of dimensions; open if one is.
std::int64_t product(Dims::const_iterator begin, Dims::const_iterator end) {
    const std::int64_t elements = elements_of(Dims(begin, end));
    return elements < 0 ? kOpenDimension : elements;
}

MaybeDims broadcast(const Dims& a, const Dims& b) {
    const Dims& longer = a.size() >= b.size() ? a : b;
    const Dims& shorter = a.size() >= b.size() ? b : a;
    Dims result = longer;
    for (std::size_t d = 0; d < shorter.size(); ++d) {
        std::int64_t& to = result[longer.size() - shorter.size() + d];
        const std::int64_t other = shorter[d];
        if (to == other || other == 1) continue;
        if (to != 1 && !is_open(to) && !is_open(other)) return std::nullopt;
        if (to == 1 || is_open(to)) to = other;
    }
    return result;
}

class ShapeInference {
public:
    ShapeInference(OnnxGraph& graph, const ShapeInference* outer) : graph_(graph), outer_(outer) {}

    void run() {
        for (const auto& [name, tensor] : graph_.constants) note_constant(name, tensor);
        for (OnnxNode& node : graph_.nodes) {
            if (node.domain == "switchyard")
                infer_own(node);
            else if (node.version != 0 && node.fault.empty())
                infer_checked(node);
        }
    }

private:
    using Rule = MaybeDims (ShapeInference::*)(const OnnxNode&) const;

    void note_constant(const std::string& name, const OnnxTensor& tensor) {
        graph_.shapes[name] = tensor.dims;
        if (!tensor.is_float() && tensor.bytes && tensor.dims.size() <= 1 && tensor.elements() >= 0 &&
            tensor.elements() <= static_cast<std::int64_t>(kMaxRank))
            values_[name] = tensor.integers();
    }

    const Dims* dims(const std::string& name) const {
        const auto found = graph_.shapes.find(name);
        if (found != graph_.shapes.end()) return &found->second;
        return outer_ == nullptr ? nullptr : outer_->dims(name);
    }

    MaybeDims values(const std::string& name) const {
        const auto found = values_.find(name);
        if (found != values_.end()) return found->second;
        return outer_ == nullptr ? std::nullopt : outer_->values(name);
    }

    /// A list that is an attribute in older operators and an input in newer ones. `given`: the node has it.
    MaybeDims list(const OnnxNode& node, const std::string& key, std::size_t input, bool& given) const {
        const OnnxAttribute* const attribute = node.find(key);
        given = attribute != nullptr || !node.input(input).empty();
        if (attribute != nullptr) return attribute->integers;
        return given ? values(node.input(input)) : std::nullopt;
    }

    static std::int64_t integer(const OnnxNode& node, const char* key, std::int64_t fallback) {
        const OnnxAttribute* const found = node.find(key);
        return found == nullptr ? fallback : found->integer;
    }

    void set(OnnxNode& node, std::size_t output, const MaybeDims& inferred) {
        const std::string& name = node.outputs[output];
        if (!inferred || name.empty() || inferred->size() > kMaxRank) return;
        for (const std::int64_t dim : *inferred)
            if (!is_open(dim) && (dim < 0 || dim > kMaxDimension)) return;
        const auto [at, is_new] = graph_.shapes.emplace(name, *inferred);
        if (is_new) return;
        Dims& declared = at->second;
        bool equal = declared.size() == inferred->size();
        for (std::size_t d = 0; equal && d < declared.size(); ++d) {
            if (is_open(declared[d])) declared[d] = (*inferred)[d];
            equal = is_open((*inferred)[d]) || declared[d] == (*inferred)[d];
        }
        if (!equal)
            node.fault = fmt::format(
                "its result {}: expected the dimensions {} that its operator makes, found {} as the file declares",
                shown(name), listed(*inferred), listed(declared));
    }

    void infer_own(OnnxNode& node) {
        const Dims* const data = dims(node.input(0));
        for (std::size_t i = 0; data != nullptr && i < node.outputs.size(); ++i) set(node, i, *data);
    }

    void infer_checked(OnnxNode& node) {
        try {
            infer(node);
        } catch (const Misfit& misfit) {
            node.fault = misfit.fault;
        }
    }

    void infer(OnnxNode& node) {
        static const std::map<std::string, Rule> kRules = {{"Conv", &ShapeInference::convolution},
                                                           {"MaxPool", &ShapeInference::pool},
                                                           {"AveragePool", &ShapeInference::pool},
                                                           {"GlobalAveragePool", &ShapeInference::global_pool},
                                                           {"GlobalMaxPool", &ShapeInference::global_pool},
                                                           {"Gemm", &ShapeInference::gemm},
                                                           {"MatMul", &ShapeInference::matmul},
                                                           {"ReduceMean", &ShapeInference::reduce},
                                                           {"Flatten", &ShapeInference::flatten},
                                                           {"Reshape", &ShapeInference::reshape},
                                                           {"Squeeze", &ShapeInference::squeeze},
                                                           {"Unsqueeze", &ShapeInference::unsqueeze},
                                                           {"Transpose", &ShapeInference::transpose},
                                                           {"Gather", &ShapeInference::gather},
                                                           {"Slice", &ShapeInference::slice},
                                                           {"Concat", &ShapeInference::concat},
                                                           {"Shape", &ShapeInference::shape}};
        static const std::set<std::string> kBroadcast = {"Add", "Sub", "Mul",   "Div",     "Pow",
                                                         "Max", "Min", "PRelu", "Greater", "Less"};
        static const std::set<std::string> kSame = {"Relu",
                                                    "Sigmoid",
                                                    "HardSigmoid",
                                                    "HardSwish",
                                                    "Tanh",
                                                    "Clip",
                                                    "LeakyRelu",
                                                    "Elu",
                                                    "Selu",
                                                    "Celu",
                                                    "Softplus",
                                                    "Softsign",
                                                    "Erf",
                                                    "Exp",
                                                    "Log",
                                                    "Sqrt",
                                                    "Reciprocal",
                                                    "Abs",
                                                    "Neg",
                                                    "Sin",
                                                    "Cos",
                                                    "Identity",
                                                    "Dropout",
                                                    "Cast",
                                                    "Softmax",
                                                    "LogSoftmax",
                                                    "ThresholdedRelu",
                                                    "BatchNormalization",
                                                    "LayerNormalization"};
        if (node.op == "Constant") {
            if (const OnnxAttribute* const value = node.find("value"); value != nullptr && value->tensor)
                note_constant(node.outputs[0], *value->tensor);
        } else if (node.op == "If") {
            branches(node);
        } else if (node.op == "Split") {
            split(node);
        } else if (kSame.count(node.op) > 0) {
            if (const Dims* const data = dims(node.input(0))) set(node, 0, *data);
        } else if (kBroadcast.count(node.op) > 0) {
            set(node, 0, broadcasted(node));
        } else if (const auto rule = kRules.find(node.op); rule != kRules.end()) {
            set(node, 0, (this->*rule->second)(node));
        }
        if (MaybeDims known = computed(node); known && known->size() <= kMaxRank)
            values_[node.outputs[0]] = std::move(*known);
    }

    MaybeDims broadcasted(const OnnxNode& node) const {
        MaybeDims result = Dims();
        for (const std::string& input : node.inputs) {
            const Dims* const one = dims(input);
            if (one == nullptr || !result) return std::nullopt;
            result = broadcast(*result, *one);
        }
        return result;
    }

    MaybeDims windowed(const OnnxNode& node, const Dims& filter, std::int64_t channels) const {
        Dims result = *dims(node.input(0));
        std::vector<OnnxWindow> windows = windows_of(node, filter);
        if (windows.empty() || windows.size() + 2 != result.size()) return std::nullopt;
        result[1] = channels;
        for (std::size_t d = 0; d < windows.size(); ++d) {
            std::int64_t& size = result[d + 2];
            if (is_open(size)) continue;
            windows[d].pad_for(size);
            size = windows[d].results(size);
        }
        return result;
    }

    MaybeDims convolution(const OnnxNode& node) const {
        const Dims *const data = dims(node.input(0)), *const weights = dims(node.input(1));
        if (data == nullptr || weights == nullptr || weights->size() < 3) return std::nullopt;
        return windowed(node, Dims(weights->begin() + 2, weights->end()), weights->front());
    }

    MaybeDims pool(const OnnxNode& node) const {
        const Dims* const data = dims(node.input(0));
        if (data == nullptr || data->size() < 3) return std::nullopt;
        return windowed(node, {}, (*data)[1]);
    }

    MaybeDims global_pool(const OnnxNode& node) const {
        const Dims* const data = dims(node.input(0));
        if (data == nullptr || data->size() < 2) return std::nullopt;
        Dims result(data->size(), 1);
        std::copy_n(data->begin(), 2, result.begin());
        return result;
    }

    MaybeDims gemm(const OnnxNode& node) const {
        const Dims *const a = dims(node.input(0)), *const b = dims(node.input(1));
        if (a == nullptr || b == nullptr || a->size() != 2 || b->size() != 2) return std::nullopt;
        return Dims{(*a)[integer(node, "transA", 0) != 0 ? 1 : 0], (*b)[integer(node, "transB", 0) != 0 ? 0 : 1]};
    }

    MaybeDims matmul(const OnnxNode& node) const {
        const Dims *const a = dims(node.input(0)), *const b = dims(node.input(1));
        if (a == nullptr || b == nullptr || a->size() < 2 || b->size() < 2) return std::nullopt;
        MaybeDims result = broadcast(Dims(a->begin(), a->end() - 2), Dims(b->begin(), b->end() - 2));
        if (result) result->insert(result->end(), {(*a)[a->size() - 2], b->back()});
        return result;
    }

    MaybeDims reduce(const OnnxNode& node) const {
        const Dims* const data = dims(node.input(0));
        bool given = false;
        const MaybeDims wish = list(node, "axes", 1, given);
        if (data == nullptr || (given && !wish)) return std::nullopt;
        Dims all(data->size());
        std::iota(all.begin(), all.end(), 0);
        const auto axes = axes_of(wish ? *wish : all, data->size());
        if (!axes) return std::nullopt;
        Dims result;
        for (std::size_t d = 0; d < data->size(); ++d) {
            if (axes->count(d) == 0)
                result.push_back((*data)[d]);
            else if (integer(node, "keepdims", 1) != 0)
                result.push_back(1);
        }
        return result;
    }

    MaybeDims flatten(const OnnxNode& node) const {
        const Dims* const data = dims(node.input(0));
        if (data == nullptr) return std::nullopt;
        const auto rank = static_cast<std::int64_t>(data->size());
        std::int64_t axis = integer(node, "axis", 1);
        if (axis < -rank || axis > rank)
            throw Misfit{fmt::format("its axis: expected one from {} to {}, found {}", -rank, rank, axis)};
        if (axis < 0) axis += rank;
        return Dims{product(data->begin(), data->begin() + axis), product(data->begin() + axis, data->end())};
    }

    MaybeDims reshape(const OnnxNode& node) const {
        const Dims* const data = dims(node.input(0));
        const MaybeDims wish = values(node.input(1));
        if (data == nullptr || !wish) return std::nullopt;
        Dims result = *wish;
        std::optional<std::size_t> rest;
        std::size_t open = 0;  // dimensions that are copied, and open
        std::int64_t made = 1;
        for (std::size_t d = 0; d < result.size(); ++d) {
            if (result[d] == 0 && integer(node, "allowzero", 0) == 0) {
                if (d >= data->size())
                    throw Misfit{fmt::format("its shape: expected 0 where its input {} has a dimension, found {}",
                                             listed(*data), listed(*wish))};
                result[d] = (*data)[d];
            } else if (result[d] == -1) {
                if (rest) throw Misfit{fmt::format("its shape: expected -1 at most once, found {}", listed(*wish))};
                rest = d;
                continue;
            }
            if (is_open(result[d]))
                ++open;
            else if (result[d] < 0 || (result[d] > 0 && made > kMaxElements / result[d]))
                throw Misfit{fmt::format("its shape: expected sizes from -1 with up to {} elements, found {}",
                                         kMaxElements, listed(*wish))};
            else
                made *= result[d];
        }
        Dims known;
        for (const std::int64_t dim : *data)
            if (!is_open(dim)) known.push_back(dim);
        const std::int64_t elements = elements_of(known);
        if (elements < 0) return std::nullopt;
        const std::size_t open_before = data->size() - known.size();
        if (!rest) {
            if (open == 0 && open_before == 0 && made != elements)
                throw Misfit{fmt::format("its shape: expected the {} elements of its input {}, found {}", elements,
                                         listed(*data), listed(*wish))};
            return result;
        }
        if (open != open_before || open > 1) {
            result[*rest] = kOpenDimension;
        } else {
            if (made == 0 || elements % made != 0)
                throw Misfit{fmt::format("its shape: expected sizes that divide its input {}, found {}", listed(*data),
                                         listed(*wish))};
            result[*rest] = elements / made;
        }
        return result;
    }

    MaybeDims squeeze(const OnnxNode& node) const {
        const Dims* const data = dims(node.input(0));
        bool given = false;
        const MaybeDims wish = list(node, "axes", 1, given);
        if (data == nullptr || (given && !wish)) return std::nullopt;
        const auto axes = axes_of(wish ? *wish : Dims(), data->size());
        if (!axes) throw Misfit{no_axes("axes", *wish, data->size())};
        Dims result;
        for (std::size_t d = 0; d < data->size(); ++d) {
            const std::int64_t size = (*data)[d];
            const bool gone = given ? axes->count(d) > 0 : size == 1;
            if (is_open(size) && !given) return std::nullopt;
            if (gone && size != 1 && !is_open(size))
                throw Misfit{fmt::format("its axes: expected those of the dimensions of 1 in its input {}, found {}",
                                         listed(*data), listed(*wish))};
            if (!gone) result.push_back(size);
        }
        return result;
    }

    MaybeDims unsqueeze(const OnnxNode& node) const {
        const Dims* const data = dims(node.input(0));
        bool given = false;
        const MaybeDims wish = list(node, "axes", 1, given);
        if (data == nullptr || !wish || wish->size() > kMaxRank) return std::nullopt;
        const auto axes = axes_of(*wish, data->size() + wish->size());
        if (!axes) throw Misfit{no_axes("axes", *wish, data->size() + wish->size())};
        Dims result = *data;
        for (const std::size_t axis : *axes) result.insert(result.begin() + static_cast<std::ptrdiff_t>(axis), 1);
        return result;
    }

    MaybeDims transpose(const OnnxNode& node) const {
        const Dims* const data = dims(node.input(0));
        if (data == nullptr) return std::nullopt;
        Dims order(data->size());
        std::iota(order.rbegin(), order.rend(), 0);
        if (const OnnxAttribute* const perm = node.find("perm")) order = perm->integers;
        const auto axes = axes_of(order, data->size());
        if (!axes || axes->size() != data->size()) return std::nullopt;
        Dims result;
        for (const std::int64_t axis : order) result.push_back((*data)[*axis_of(axis, data->size())]);
        return result;
    }

    MaybeDims gather(const OnnxNode& node) const {
        const Dims *const data = dims(node.input(0)), *const index = dims(node.input(1));
        if (data == nullptr || index == nullptr) return std::nullopt;
        const std::optional<std::size_t> axis = axis_of(integer(node, "axis", 0), data->size());
        if (!axis) return std::nullopt;
        Dims result(data->begin(), data->begin() + static_cast<std::ptrdiff_t>(*axis));
        result.insert(result.end(), index->begin(), index->end());
        result.insert(result.end(), data->begin() + static_cast<std::ptrdiff_t>(*axis) + 1, data->end());
        return result;
    }

    struct Range {
        std::int64_t axis, first, end, step;  ///< first and end are open where the axis is
    };

    /// The ranges of Slice, of which `size` says how large each axis is; nothing if they are not known.
    template <typename Size>
    std::optional<std::vector<Range>> ranges(const OnnxNode& node, std::size_t rank, const Size& size) const {
        bool given = false, axes_given = false, steps_given = false;
        const MaybeDims starts = list(node, "starts", 1, given), ends = list(node, "ends", 2, given);
        MaybeDims axes = list(node, "axes", 3, axes_given), steps = list(node, "steps", 4, steps_given);
        if (!starts || !ends || (axes_given && !axes) || (steps_given && !steps)) return std::nullopt;
        if (!axes) {
            axes = Dims(starts->size());
            std::iota(axes->begin(), axes->end(), 0);
        }
        if (!steps) steps = Dims(starts->size(), 1);
        if (ends->size() != starts->size() || axes->size() != starts->size() || steps->size() != starts->size() ||
            !axes_of(*axes, rank))
            return std::nullopt;
        std::vector<Range> found;
        for (std::size_t i = 0; i < starts->size(); ++i) {
            const std::size_t axis = *axis_of((*axes)[i], rank);
            const std::int64_t all = size(axis);
            if (is_open((*starts)[i]) || is_open((*ends)[i]) || (*steps)[i] < 1) return std::nullopt;
            const auto bound = [all](std::int64_t at) { return is_open(all) ? all : bound_of(at, all); };
            found.push_back({static_cast<std::int64_t>(axis), bound((*starts)[i]), bound((*ends)[i]), (*steps)[i]});
        }
        return found;
    }

    MaybeDims slice(const OnnxNode& node) const {
        const Dims* const data = dims(node.input(0));
        if (data == nullptr) return std::nullopt;
        const auto found = ranges(node, data->size(), [data](std::size_t axis) { return (*data)[axis]; });
        if (!found) return std::nullopt;
        Dims result = *data;
        for (const Range& one : *found) {
            std::int64_t& size = result[static_cast<std::size_t>(one.axis)];
            if (!is_open(size)) size = one.end <= one.first ? 0 : (one.end - one.first - 1) / one.step + 1;
        }
        return result;
    }

    MaybeDims concat(const OnnxNode& node) const {
        const Dims* const first = dims(node.input(0));
        if (first == nullptr) return std::nullopt;
        const std::optional<std::size_t> axis = axis_of(integer(node, "axis", 0), first->size());
        if (!axis) return std::nullopt;
        Dims result = *first;
        for (std::size_t i = 1; i < node.inputs.size(); ++i) {
            const Dims* const one = dims(node.inputs[i]);
            if (one == nullptr || one->size() != first->size()) return std::nullopt;
            std::int64_t& size = result[*axis];
            size = is_open(size) || is_open((*one)[*axis]) ? kOpenDimension : size + (*one)[*axis];
        }
        return result;
    }

    MaybeDims shape(const OnnxNode& node) const {
        const MaybeDims known = shape_values(node);
        if (!known) return std::nullopt;
        return Dims{static_cast<std::int64_t>(known->size())};
    }

    void split(OnnxNode& node) {
        const Dims* const data = dims(node.input(0));
        bool given = false;
        const MaybeDims sizes = list(node, "split", 1, given);
        if (data == nullptr || (given && !sizes)) return;
        const std::int64_t wish = integer(node, "axis", 0);
        const std::optional<std::size_t> axis = axis_of(wish, data->size());
        const auto parts = static_cast<std::int64_t>(node.outputs.size());
        if (!axis) throw Misfit{no_axis("axis", wish, data->size())};
        if (sizes && sizes->size() != node.outputs.size())
            throw Misfit{
                fmt::format("its split: expected {} sizes, one for each result, found {}", parts, listed(*sizes))};
        const std::int64_t all = (*data)[*axis];
        if (!sizes && is_open(all)) return;
        if (!sizes && all % parts != 0)
            throw Misfit{fmt::format("its input: expected a multiple of its {} results on axis {}, found {}", parts,
                                     wish, listed(*data))};
        const Dims whole = *data;
        for (std::size_t i = 0; i < node.outputs.size(); ++i) {
            Dims part = whole;
            part[*axis] = sizes ? (*sizes)[i] : all / parts;
            set(node, i, part);
        }
    }

    void branches(OnnxNode& node) {
        std::vector<MaybeDims> results;
        for (auto& [key, attribute] : node.attributes) {
            if (!attribute.graph) continue;
            ShapeInference inner(*attribute.graph, this);
            inner.run();
            const std::vector<std::string>& outputs = attribute.graph->outputs;
            const Dims* const found = outputs.size() == 1 ? inner.dims(outputs.front()) : nullptr;
            results.push_back(found == nullptr ? std::nullopt : MaybeDims(*found));
        }
        if (results.size() == 2 && node.outputs.size() == 1 && results[0] == results[1]) set(node, 0, results[0]);
    }

    MaybeDims shape_values(const OnnxNode& node) const {
        const Dims* const data = dims(node.input(0));
        if (data == nullptr) return std::nullopt;
        const auto rank = static_cast<std::int64_t>(data->size());
        const std::int64_t start = bound_of(integer(node, "start", 0), rank),
                           end = bound_of(integer(node, "end", rank), rank);
        return start >= end ? Dims() : Dims(data->begin() + start, data->begin() + end);
    }

    /// The values of the node's result, where it is a short list or a number that depends on shapes alone.
    MaybeDims computed(const OnnxNode& node) const {
        if (node.op == "Shape") return shape_values(node);
        MaybeDims first = values(node.input(0));
        if (!first) return std::nullopt;
        const Dims* const result = node.outputs[0].empty() ? nullptr : dims(node.outputs[0]);
        if (result == nullptr || result->size() > 1) return std::nullopt;
        if (node.op == "Identity" || node.op == "Unsqueeze" || node.op == "Squeeze" || node.op == "Reshape")
            return first;
        if (node.op == "Cast") {
            const std::int64_t to = integer(node, "to", 0);
            return to == 6 || to == 7 ? first : std::nullopt;  // INT32, INT64
        }
        if (node.op == "Slice") {
            const auto found = ranges(node, 1, [&](std::size_t) { return static_cast<std::int64_t>(first->size()); });
            if (!found || found->size() != 1) return std::nullopt;
            Dims part;
            for (std::int64_t at = found->front().first; at < found->front().end;) {
                part.push_back((*first)[static_cast<std::size_t>(at)]);
                if (found->front().step > found->front().end) break;
                at += found->front().step;
            }
            return part;
        }
        if (node.op == "Concat") {
            Dims all;
            for (const std::string& input : node.inputs) {
                const MaybeDims one = values(input);
                if (!one || all.size() + one->size() > kMaxRank) return std::nullopt;
                all.insert(all.end(), one->begin(), one->end());
            }
            return all;
        }
        const MaybeDims second = values(node.input(1));
        if (!second) return std::nullopt;
        return node.op == "Gather" ? parts_of(*first, *second) : arithmetic(node.op, *first, *second);
    }

    static MaybeDims parts_of(const Dims& from, const Dims& index) {
        Dims part;
        for (const std::int64_t one : index) {
            const std::optional<std::size_t> at = is_open(one) ? std::nullopt : axis_of(one, from.size());
            if (!at) return std::nullopt;
            part.push_back(from[*at]);
        }
        return part;
    }

    static MaybeDims arithmetic(const std::string& op, const Dims& a, const Dims& b) {
        if (a.empty() || b.empty() || (a.size() != b.size() && a.size() != 1 && b.size() != 1)) return std::nullopt;
        Dims result;
        for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
            const std::int64_t x = a[a.size() == 1 ? 0 : i], y = b[b.size() == 1 ? 0 : i];
            if (std::max(x, y) > kMaxDimension || std::min(x, y) < -kMaxDimension) return std::nullopt;  // or open
            if (op == "Add")
                result.push_back(x + y);
            else if (op == "Sub")
                result.push_back(x - y);
            else if (op == "Mul")
                result.push_back(x * y);
            else if (op == "Div" && y != 0)
                result.push_back(x / y);
            else
                return std::nullopt;
        }
        return result;
    }

    OnnxGraph& graph_;
    const ShapeInference* outer_;
    std::map<std::string, Dims> values_;
};

}  // namespace

void infer_shapes(OnnxGraph& graph) {
    ShapeInference(graph, nullptr).run();
}

}  // namespace switchyard::sched
