// SPDX-License-Identifier: Apache-2.0
// Constants of a graph, and what is computed from constants alone: views of weights, rows of tables.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/onnx_import/importer.h"
#include "switchyard/sw_scheduler/onnx_import/onnx_axes.h"

namespace switchyard::sched {

namespace {

/// Most bytes of all constants that are computed from others; a short file could ask for any number.
constexpr std::size_t kMaxComputedBytes = std::size_t{256} << 20;

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
    result.bytes = std::make_shared<const OnnxBytes>(std::move(bytes));
    return result;
}

/// Parts number `rows` of the dimension `axis`, which get the dimensions `index_dims`.
OnnxTensor parts_of(const OnnxTensor& whole, std::size_t axis, const std::vector<std::int64_t>& rows,
                    const std::vector<std::int64_t>& index_dims) {
    OnnxTensor table = contiguous(whole);
    const auto at = table.dims.begin() + static_cast<std::ptrdiff_t>(axis);
    const std::size_t size = static_cast<std::size_t>(*at);
    const auto outer = static_cast<std::size_t>(elements_of({table.dims.begin(), at}));
    const std::size_t all = table.bytes->size();
    const std::size_t row_bytes = outer * size == 0 ? 0 : all / (outer * size);
    const std::string& from = table.bytes->get();
    std::string bytes;
    for (std::size_t o = 0; o < outer; ++o)
        for (const std::int64_t row : rows) {
            const std::optional<std::size_t> place = axis_of(row, size);
            if (!place)
                throw NotImportable(
                    fmt::format("its indices: expected -{0} to {1} for the {0} rows of its constant, found {2}", size,
                                *at - 1, row));
            bytes.append(from, (o * size + *place) * row_bytes, row_bytes);
        }
    std::vector<std::int64_t> dims(table.dims.begin(), at);
    dims.insert(dims.end(), index_dims.begin(), index_dims.end());
    dims.insert(dims.end(), at + 1, table.dims.end());
    table.dims = std::move(dims);
    table.bytes = std::make_shared<const OnnxBytes>(std::move(bytes));
    return table;
}

using List = std::optional<std::vector<std::int64_t>>;

/// `axis` counted from the front. Where the file declares dimensions, nobody has checked the axes before.
std::size_t checked_axis(std::int64_t axis, std::size_t rank) {
    const std::optional<std::size_t> found = axis_of(axis, rank);
    if (!found) throw NotImportable(no_axis("axis", axis, rank));
    return *found;
}

/// Of a node Constant.
OnnxTensor stated_value(NodeReader& node) {
    const OnnxAttribute* const value = node.find("value");
    if (value != nullptr && value->tensor) return *value->tensor;
    std::string keys;
    for (const auto& [key, attribute] : node->attributes) keys += (keys.empty() ? "" : ", ") + shown(key);
    throw NotImportable(fmt::format(
        "expected one of the attributes value, value_int, value_ints, value_float and value_floats, found {}",
        keys.empty() ? "none" : shown(keys)));
}

/// `order` as a permutation of `rank` dimensions, counted from the front.
std::vector<std::int64_t> checked_order(std::vector<std::int64_t> order, std::size_t rank) {
    const auto axes = axes_of(order, rank);
    if (!axes || axes->size() != rank)
        throw NotImportable(fmt::format("its perm: expected an order of the {} dimensions of its constant, found {}",
                                        rank, listed(order)));
    for (std::int64_t& axis : order) axis = static_cast<std::int64_t>(*axis_of(axis, rank));
    return order;
}

/// Slice.
OnnxTensor sliced(OnnxTensor value, const std::vector<std::int64_t>& starts, const std::vector<std::int64_t>& ends,
                  const List& axes, const List& steps) {
    if (ends.size() != starts.size() || (axes && axes->size() != starts.size()) ||
        (steps && steps->size() != starts.size()))
        throw NotImportable(
            fmt::format("its starts, ends, axes and steps: expected one length, found {}, {}, {} and {}", starts.size(),
                        ends.size(), axes ? axes->size() : starts.size(), steps ? steps->size() : starts.size()));
    for (std::size_t i = 0; i < starts.size(); ++i) {
        const std::size_t axis = checked_axis(axes ? (*axes)[i] : static_cast<std::int64_t>(i), value.dims.size());
        const std::int64_t size = value.dims[axis], step = steps ? (*steps)[i] : 1;
        if (step < 1) throw NotImportable(fmt::format("its steps: expected 1 or more, found {}", step));
        std::vector<std::int64_t> rows;
        const std::int64_t end = bound_of(ends[i], size);
        for (std::int64_t row = bound_of(starts[i], size); row < end; row += std::min(step, size)) rows.push_back(row);
        value = parts_of(value, axis, rows, {static_cast<std::int64_t>(rows.size())});
    }
    return value;
}

}  // namespace

bool OnnxImporter::is_constant(const std::string& name, const Scope& scope) const {
    if (const auto known = scope.constants.find(name); known != scope.constants.end())
        return known->second.value.has_value();
    if (scope.graph->constants.count(name) > 0) return true;
    return scope.producers.count(name) == 0 && scope.outer != nullptr && is_constant(name, *scope.outer);
}

std::optional<OnnxTensor> OnnxImporter::constant(const std::string& name, const Scope& scope) const {
    std::optional<OnnxTensor> value;
    if (const auto known = scope.constants.find(name); known != scope.constants.end())
        value = known->second.value;
    else if (const auto found = scope.graph->constants.find(name); found != scope.graph->constants.end())
        value = found->second;
    else if (scope.producers.count(name) == 0 && scope.outer != nullptr)
        return constant(name, *scope.outer);
    if (value && value->type == OnnxTensor::Type::other)
        throw NotImportable(fmt::format("its constant {}: expected floats, integers or booleans, found type {}",
                                        shown(name), value->other_type));
    return value;
}

std::string OnnxImporter::origin(const std::string& name, const Scope& scope) const {
    if (name.empty()) return "none";
    if (is_constant(name, scope)) return "the constant " + shown(name);
    const OnnxNode* const node = producer(name, scope);
    return shown(name) + (node == nullptr ? ", an input of the network" : ", a result of " + node->described());
}

OnnxTensor OnnxImporter::constant_input(NodeReader& node, std::size_t index, const std::string& what,
                                        const Scope& scope) const {
    const std::string name = node.input(index);
    std::optional<OnnxTensor> value = constant(name, scope);
    if (!value)
        throw NotImportable(fmt::format("its {} (input {}): expected a constant, found {}; export it as an initializer",
                                        what, index, origin(name, scope)));
    return *std::move(value);
}

std::string no_definition(const std::set<int>& known, int version) {
    return fmt::format("expected a definition of opset {}, found {}; export the network with another opset",
                       fmt::join(known, ", "),
                       version == 0 ? "none in the file's opset" : fmt::format("that of opset {}", version));
}

/// In the order of the nodes, so that what a constant is computed from comes first.
void OnnxImporter::evaluate_constants(Scope& scope) {
    static const std::map<std::string, std::set<int>> kComputed = {
        {"Constant", {9, 11, 12, 13}}, {"Identity", {1, 13, 14, 16}}, {"Transpose", {1, 13}},
        {"Reshape", {5, 13, 14}},      {"Unsqueeze", {1, 11, 13}},    {"Squeeze", {1, 11, 13}},
        {"Gather", {1, 11, 13}},       {"Slice", {1, 10, 11, 13}}};
    for (const OnnxNode& node : scope.graph->nodes) {
        const auto found = node.domain.empty() ? kComputed.find(node.op) : kComputed.end();
        if (found == kComputed.end() || node.outputs.size() != 1) continue;
        if (!std::all_of(node.inputs.begin(), node.inputs.end(),
                         [&](const std::string& input) { return input.empty() || is_constant(input, scope); }))
            continue;
        ImportedConstant& result = scope.constants[node.outputs.front()];
        try {
            if (!node.fault.empty()) throw NotImportable(node.fault);
            if (found->second.count(node.version) == 0) throw NotImportable(no_definition(found->second, node.version));
            result = evaluate(node, scope);
        } catch (const NotImportable& reason) {
            result.reason = reason.what();
        }
    }
}

void OnnxImporter::add_computed(std::int64_t elements) {
    computed_bytes_ += static_cast<std::size_t>(elements) * sizeof(std::int64_t);
    if (computed_bytes_ > kMaxComputedBytes)
        throw NotImportable(
            fmt::format("expected at most {} MiB of constants that are computed from others, found {} MiB; simplify "
                        "the network, for example with onnxsim",
                        kMaxComputedBytes >> 20, (computed_bytes_ >> 20) + 1));
}

ImportedConstant OnnxImporter::evaluate(const OnnxNode& node, const Scope& scope) {
    NodeReader reader(node);
    const auto done = [&](OnnxTensor result) {
        reader.finish();
        const auto inferred = scope.graph->shapes.find(node.outputs.front());
        const bool known = inferred != scope.graph->shapes.end();
        if (!known || inferred->second != result.dims)
            throw NotImportable(fmt::format("its result: expected the dimensions {}, found {}",
                                            known ? listed(inferred->second) : "that its definition gives",
                                            listed(result.dims)));
        return ImportedConstant{std::move(result), ""};
    };
    if (node.op == "Constant") {
        return done(stated_value(reader));
    }
    OnnxTensor value = *constant(reader.input(0), scope);
    const std::vector<std::int64_t>* const dims = dims_of(node.outputs.front(), scope);
    if (dims == nullptr || elements_of(*dims) < 0)
        throw NotImportable(
            fmt::format("expected attributes and inputs that fit its constant of dimensions {}, found a result of {}",
                        listed(value.dims), dims == nullptr ? "unknown dimensions" : listed(*dims)));
    // A view shares its bytes; what is written anew is bounded.
    const bool turned = !value.order.empty();
    if (turned || node.op == "Gather" || node.op == "Slice")
        add_computed(elements_of(*dims) + (turned ? value.elements() : 0));
    const auto numbers = [&](const char* key, std::size_t input) {
        List list = reader.integers(key);
        const std::string name = reader.input(input);
        if (!list && !name.empty()) {
            const OnnxTensor given = *constant(name, scope);
            if (given.is_float())
                throw NotImportable(
                    fmt::format("its {} (input {}): expected integers, found {}", key, input, name_of(given.type)));
            list = given.integers();
        }
        return list;
    };
    if (node.op == "Transpose") {
        std::vector<std::int64_t> order(value.dims.size());
        std::iota(order.rbegin(), order.rend(), 0);
        OnnxTensor result = contiguous(value);
        result.dims = *dims;
        result.order = checked_order(reader.integers("perm").value_or(order), value.dims.size());
        return done(result);
    }
    if (node.op == "Gather") {
        const std::size_t axis = checked_axis(reader.integer("axis"), value.dims.size());
        const OnnxTensor index = *constant(reader.input(1), scope);
        if (index.is_float())
            throw NotImportable(fmt::format("its indices: expected integers, found {}", name_of(index.type)));
        return done(parts_of(value, axis, index.integers(), index.dims));
    }
    if (node.op == "Slice") {
        const List starts = numbers("starts", 1), ends = numbers("ends", 2), axes = numbers("axes", 3),
                   steps = numbers("steps", 4);
        if (!starts || !ends)
            throw NotImportable(fmt::format("expected starts and ends, found {}", starts ? "no ends" : "no starts"));
        return done(sliced(value, *starts, *ends, axes, steps));
    }
    // Views: infer_shapes() has read what their dimensions depend on.
    OnnxTensor result = contiguous(value);
    // PyTorch writes parameters of equal values once, with an Identity for each of the others.
    if (node.op == "Identity")
        result.source = std::make_shared<const OnnxSource>(OnnxSource{node.outputs.front(), value.elements()});
    reader.ignore_attributes();
    reader.ignore_input(1);
    result.dims = *dims;
    if (result.elements() != value.elements())
        throw NotImportable(fmt::format("its result: expected the {} elements of its constant, found dimensions {}",
                                        value.elements(), listed(result.dims)));
    return done(result);
}

std::optional<double> OnnxImporter::scalar(const std::string& name, const Scope& scope) const {
    const std::optional<OnnxTensor> value = constant(name, scope);
    if (!value || value->elements() != 1) return std::nullopt;
    return static_cast<double>(value->floats().front());
}

OnnxTensor transposed(OnnxTensor matrix) {
    std::swap(matrix.dims[0], matrix.dims[1]);
    if (matrix.order.empty())
        matrix.order = {1, 0};
    else
        std::swap(matrix.order[0], matrix.order[1]);
    return matrix;
}

std::vector<std::int64_t> broadcast_to(const ImportedTensor& tensor, const OnnxTensor& constant) {
    const std::vector<std::int64_t> sample = tensor.sample_dims();
    std::vector<std::int64_t> dims = constant.dims;
    const bool fits = dims.size() <= sample.size() + 1;
    if (fits && dims.size() == sample.size() + 1 && dims.front() == 1) dims.erase(dims.begin());
    if (fits) dims.insert(dims.begin(), sample.size() - std::min(dims.size(), sample.size()), 1);
    bool equal = dims.size() == sample.size();
    for (std::size_t d = 0; equal && d < sample.size(); ++d) equal = dims[d] == 1 || dims[d] == sample[d];
    if (!equal)
        throw NotImportable(fmt::format("its constant: expected the dimensions of a sample, {}, or ones, found {}",
                                        listed(sample), listed(constant.dims)));
    return dims;
}

}  // namespace switchyard::sched
