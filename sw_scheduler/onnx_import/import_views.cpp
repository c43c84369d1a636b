// SPDX-License-Identifier: Apache-2.0
// Operators that change dimensions, types or nothing.
#include <algorithm>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/onnx_import/importer.h"

namespace switchyard::sched {

namespace {

/// TensorProto::DataType that binary16 values pass unchanged: FLOAT, FLOAT16, DOUBLE.
const std::set<std::int64_t> kFloats = {1, 10, 11};

/// How a sample with these dimensions of ONNX stands for the channels, rows and columns of `tensor`: its elements keep
/// their order. Nothing: the model format has no such view.
std::optional<ImportedTensor::Layout> view_of(const ImportedTensor& tensor, const std::vector<std::int64_t>& sample) {
    using Layout = ImportedTensor::Layout;
    if (sample == tensor.sample_dims()) return tensor.layout;
    ImportedTensor seen = tensor;
    const auto as = [&](Layout layout) {
        seen.layout = layout;
        return seen.sample_dims() == sample;
    };
    // Channels come first in a map, and last in tokens.
    const bool of_map = tensor.layout == Layout::map || tensor.layout == Layout::vector;
    const bool of_tokens = tensor.layout == Layout::split || (tensor.layout == Layout::heads && tensor.heads == 1);
    if (of_map || tensor.one_pixel()) {
        if (as(Layout::vector)) return Layout::vector;
        if (of_map && as(Layout::map)) return Layout::map;
    }
    if (of_tokens && as(Layout::tokens)) return Layout::tokens;
    return std::nullopt;
}

}  // namespace

OnnxImporter::Tensor OnnxImporter::identity(NodeReader& node, Scope& scope) {
    return tensor(node.input(0), scope);
}

/// Leaves out nothing, unless it is told to train.
OnnxImporter::Tensor OnnxImporter::dropout(NodeReader& node, Scope& scope) {
    if (const std::string mode = node.input(2); !mode.empty() && scalar(mode, scope) != 0.0)
        throw NotImportable(
            fmt::format("its training_mode: expected the constant false, found {}; export the network for inference",
                        scalar(mode, scope) ? "true" : origin(mode, scope)));
    // Of training alone: the ratio, the seed.
    if (!node.input(1).empty()) constant_input(node, 1, "ratio", scope);
    node.ignore_attributes();
    return tensor(node.input(0), scope);
}

OnnxImporter::Tensor OnnxImporter::cast(NodeReader& node, Scope& scope) {
    const std::int64_t to = node.integer("to");
    if (kFloats.count(to) == 0)
        throw NotImportable(
            fmt::format("its attribute to: expected FLOAT (1), FLOAT16 (10) or DOUBLE (11), found type {}", to));
    const std::string name = node.input(0);
    // The host gives the integers as binary16, as it gives floats.
    return is_integer_input(name, scope) ? graph_input(name, dims_of(name, scope)) : tensor(name, scope);
}

/// Flatten, Reshape, Squeeze and Unsqueeze: infer_shapes() has read what the dimensions of the result depend on.
OnnxImporter::Tensor OnnxImporter::reshape(NodeReader& node, Scope& scope) {
    Tensor input = tensor(node.input(0), scope);
    if (!input.known) return input;
    node.ignore_attributes();
    node.ignore_input(1);
    const std::vector<std::int64_t>* const dims = dims_of(asked_, scope);
    if (dims == nullptr ||
        std::find(dims->begin() + (dims->empty() ? 0 : 1), dims->end(), kOpenDimension) != dims->end())
        throw NotImportable(fmt::format(
            "its result: expected fixed dimensions that fit its input {}, found {}; export it with fixed sizes",
            input.dims(), dims == nullptr ? "unknown ones" : listed(*dims)));
    if (dims->empty() || (dims->front() != batch_ && dims->front() != kOpenDimension))
        throw NotImportable(
            fmt::format("its result: expected the batch of the network's input first, as in {}, found {}",
                        listed({batch_}), listed(*dims)));
    const std::optional<Layout> layout = view_of(input, {dims->begin() + 1, dims->end()});
    if (!layout)
        throw NotImportable(fmt::format(
            "its result: expected the dimensions {} of its input, or a map as [N, channels x rows x columns], found {}",
            input.dims(), listed(*dims)));
    input.layout = *layout;
    return input;
}

OnnxImporter::Tensor OnnxImporter::transpose(NodeReader& node, Scope& scope) {
    Tensor input = tensor(node.input(0), scope);
    if (!input.known) return input;
    std::vector<std::int64_t> order = node.integers("perm").value_or(std::vector<std::int64_t>());
    for (std::int64_t& axis : order) axis += axis < 0 ? static_cast<std::int64_t>(input.rank()) : 0;
    std::vector<std::int64_t> same(input.rank());
    std::iota(same.begin(), same.end(), 0);
    if (order == same) return input;
    const bool turned = order == std::vector<std::int64_t>{0, 2, 1, 3};
    if (!turned || (input.layout != Layout::heads && input.layout != Layout::split))
        throw NotImportable(
            fmt::format("its perm: expected the order as it is, or [0, 2, 1, 3] in an attention, found {} for {}",
                        order.empty() ? "the reverse" : listed(order), input.dims()));
    input.layout = input.layout == Layout::heads ? Layout::split : Layout::heads;
    return input;
}

/// Rows of a table by number: the host looks them up, and what it finds is the network's input.
OnnxImporter::Tensor OnnxImporter::gather(NodeReader& node, Scope& scope) {
    const OnnxTensor table = constant_input(node, 0, "table", scope);
    const std::string index = node.input(1);
    const std::int64_t axis = node.integer("axis");
    if (table.dims.size() != 2 || axis != 0)
        throw NotImportable(
            fmt::format("expected rows, axis 0, of a table [rows, channels], found axis {} of dimensions {}", axis,
                        listed(table.dims)));
    const std::vector<std::int64_t>* const dims = dims_of(index, scope);
    if (!is_integer_input(index, scope) || dims == nullptr || dims->size() != 2)
        throw NotImportable(
            fmt::format("its indices: expected an input of the network, [N, tokens] of integers, found {}, {}",
                        origin(index, scope), dims == nullptr ? "of unknown dimensions" : listed(*dims)));
    // All tables are looked up for one input.
    const std::vector<std::int64_t> found = {dims->front(), (*dims)[1], table.dims[1]};
    if (!input_ || input_->embedded.empty() || input_->rows != found[1] || input_->channels != found[2]) {
        graph_input(index, &found);
        input_->embedded = {node.operator->()};
    }
    if (count(table)) model_.host_parameters += static_cast<std::uint64_t>(table.source->elements);
    Tensor rows = *input_;
    rows.embedded = {node.operator->()};
    return rows;
}

}  // namespace switchyard::sched
