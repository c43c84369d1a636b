// SPDX-License-Identifier: Apache-2.0
// Constants of a graph, and what is computed from constants alone: views of weights, rows of tables.
#include <algorithm>
#include <numeric>

#include "switchyard/sw_scheduler/onnx_import/importer.h"

namespace switchyard::sched {

namespace {

/// The dimensions `wish` of Reshape, with 0 and -1 resolved.
std::vector<std::int64_t> resolved(std::vector<std::int64_t> wish, const OnnxTensor& tensor) {
    std::int64_t rest = tensor.elements(), open = -1;
    for (std::size_t d = 0; d < wish.size(); ++d) {
        if (wish[d] == 0 && d < tensor.dims.size()) wish[d] = tensor.dims[d];
        if (wish[d] > 0)
            rest /= wish[d];
        else
            open = static_cast<std::int64_t>(d);
    }
    if (open >= 0) wish[static_cast<std::size_t>(open)] = rest;
    return wish;
}

OnnxTensor contiguous(const OnnxTensor& tensor) {
    if (tensor.order.empty()) return tensor;
    OnnxTensor result = tensor;
    result.order.clear();
    std::string bytes;
    if (tensor.is_float()) {
        const std::vector<float> values = tensor.floats();
        bytes.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
        result.type = OnnxTensor::Type::binary32;
    } else {
        const std::vector<std::int64_t> values = tensor.integers();
        bytes.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(std::int64_t));
        result.type = OnnxTensor::Type::int64;
    }
    result.bytes = std::make_shared<const std::string>(std::move(bytes));
    return result;
}

/// Rows `first`, `first` + `step`, ... of the first dimension, or those of a list.
OnnxTensor rows_of(const OnnxTensor& whole, const std::vector<std::int64_t>& rows,
                   std::vector<std::int64_t> index_dims) {
    OnnxTensor table = contiguous(whole);
    const std::size_t row_bytes =
        table.dims.front() == 0 ? 0 : table.bytes->size() / static_cast<std::size_t>(table.dims.front());
    std::string bytes;
    for (std::int64_t row : rows) {
        if (row < 0) row += table.dims.front();
        if (row < 0 || row >= table.dims.front()) throw NotImportable("an index is outside of " + whole.name);
        bytes.append(*table.bytes, static_cast<std::size_t>(row) * row_bytes, row_bytes);
    }
    index_dims.insert(index_dims.end(), table.dims.begin() + 1, table.dims.end());
    table.dims = std::move(index_dims);
    table.bytes = std::make_shared<const std::string>(std::move(bytes));
    return table;
}

}  // namespace

std::optional<OnnxTensor> OnnxImporter::constant(const std::string& name, Scope& scope) {
    if (const auto known = scope.constants.find(name); known != scope.constants.end()) return known->second;
    if (const auto found = scope.graph->constants.find(name); found != scope.graph->constants.end())
        return found->second;
    const auto made = scope.producers.find(name);
    if (made == scope.producers.end()) return scope.outer == nullptr ? std::nullopt : constant(name, *scope.outer);
    std::optional<OnnxTensor> value = evaluate(*made->second, scope);
    if (value) scope.constants[name] = *value;
    return value;
}

std::optional<OnnxTensor> OnnxImporter::evaluate(const OnnxNode& node, Scope& scope) {
    if (!node.domain.empty()) return std::nullopt;
    if (node.op == "Constant") {
        const auto value = node.attributes.find("value");
        if (value != node.attributes.end() && value->second.tensor) return *value->second.tensor;
        return std::nullopt;
    }
    static const std::set<std::string> kViews = {"Identity", "Transpose", "Reshape", "Unsqueeze",
                                                 "Squeeze",  "Gather",    "Slice"};
    if (kViews.count(node.op) == 0) return std::nullopt;
    std::optional<OnnxTensor> value = constant(node.input(0), scope);
    if (!value || node.op == "Identity") return value;
    if (node.op == "Transpose") {
        std::vector<std::int64_t> order(value->dims.size());
        std::iota(order.rbegin(), order.rend(), 0);
        order = node.integers_or("perm", order);
        OnnxTensor result = contiguous(*value);
        for (std::size_t d = 0; d < order.size(); ++d) result.dims[d] = value->dims[static_cast<std::size_t>(order[d])];
        result.order = order;
        return result;
    }
    std::optional<OnnxTensor> second;
    if (!node.input(1).empty()) {
        second = constant(node.input(1), scope);
        if (!second) return std::nullopt;
    }
    if (node.op == "Gather") {
        if (node.integer_or("axis", 0) != 0 || !second || value->dims.empty()) return std::nullopt;
        return rows_of(*value, second->integers(), second->dims);
    }
    if (node.op == "Slice") {
        // Rows of the first or columns of the last dimension: parts of a table, positions of the tokens that there are.
        const std::optional<OnnxTensor> ends = constant(node.input(2), scope);
        const std::optional<OnnxTensor> axes = node.input(3).empty() ? std::nullopt : constant(node.input(3), scope);
        const std::optional<OnnxTensor> steps = node.input(4).empty() ? std::nullopt : constant(node.input(4), scope);
        if (!second || !ends || second->elements() != 1) return std::nullopt;
        if (steps && steps->integers().front() != 1) return std::nullopt;
        std::int64_t axis = axes ? axes->integers().front() : 0;
        if (axis < 0) axis += static_cast<std::int64_t>(value->dims.size());
        std::vector<std::int64_t> order(value->dims.size());
        std::iota(order.begin(), order.end(), 0);
        std::swap(order[0], order[static_cast<std::size_t>(axis)]);
        OnnxTensor turned = contiguous(*value);
        turned.order = order;
        std::swap(turned.dims[0], turned.dims[static_cast<std::size_t>(axis)]);
        const std::int64_t size = turned.dims[0];
        const auto bound = [size](std::int64_t at) {
            return std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size);
        };
        std::vector<std::int64_t> rows;
        for (std::int64_t row = bound(second->integers().front()); row < bound(ends->integers().front()); ++row)
            rows.push_back(row);
        const auto count = static_cast<std::int64_t>(rows.size());
        OnnxTensor result = rows_of(turned, rows, {count});
        std::swap(result.dims[0], result.dims[static_cast<std::size_t>(axis)]);
        result.order = order;
        return contiguous(result);
    }
    OnnxTensor result = contiguous(*value);
    if (node.op == "Reshape") {
        if (!second) return std::nullopt;
        result.dims = resolved(second->integers(), result);
        return result;
    }
    std::vector<std::int64_t> axes = second ? second->integers() : node.integers_or("axes", {});
    if (node.op == "Unsqueeze") {
        const auto rank = static_cast<std::int64_t>(result.dims.size() + axes.size());
        for (std::int64_t& axis : axes) axis += axis < 0 ? rank : 0;
        std::sort(axes.begin(), axes.end());
        for (const std::int64_t axis : axes) result.dims.insert(result.dims.begin() + axis, 1);
        return result;
    }
    std::vector<std::int64_t> left;
    const auto rank = static_cast<std::int64_t>(result.dims.size());
    for (std::int64_t& axis : axes) axis += axis < 0 ? rank : 0;
    for (std::int64_t d = 0; d < rank; ++d) {
        const std::int64_t size = result.dims[static_cast<std::size_t>(d)];
        const bool gone = axes.empty() ? size == 1 : std::find(axes.begin(), axes.end(), d) != axes.end();
        if (!gone) left.push_back(size);
    }
    result.dims = left;
    return result;
}

std::optional<double> OnnxImporter::scalar(const std::string& name, Scope& scope) {
    const std::optional<OnnxTensor> value = constant(name, scope);
    if (!value || value->elements() != 1 || value->type == OnnxTensor::Type::other) return std::nullopt;
    return static_cast<double>(value->floats().front());
}

}  // namespace switchyard::sched
