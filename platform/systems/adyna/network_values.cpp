// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/adyna/network_values.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "switchyard/hw/numerics/vector_kernels.h"
#include "switchyard/platform/systems/adyna/expectation.h"
#include "switchyard/platform/systems/adyna/network_weights.h"
#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::platform {

namespace {

std::size_t elements(const OperatorShape& shape) {
    return std::size_t{shape.out_channels} * shape.out_rows * shape.out_columns;
}

/// Calls visit(index of the first element in a batch's tensor, number of elements) for the elements of a piece in their
/// order, run by run of elements that lie together.
template <class Visit>
void for_each_run(const OperatorPlacement& tensor, std::size_t piece, Visit&& visit) {
    const Box box = piece_box(tensor, static_cast<std::uint32_t>(piece));
    const OperatorShape& shape = tensor.shape;
    if (box.n0 >= box.n1 || box.p0 >= box.p1) return;
    if (box.p0 == 0 && box.p1 == shape.out_rows) {
        visit(box.n0 * elements(shape), (box.n1 - box.n0) * elements(shape));
        return;
    }
    for (std::size_t channel = box.n0 * std::size_t{shape.out_channels};
         channel < box.n1 * std::size_t{shape.out_channels}; ++channel)
        visit((channel * shape.out_rows + box.p0) * shape.out_columns,
              std::size_t{box.p1 - box.p0} * shape.out_columns);
}

/// Samples, channels, rows, columns; the last two are left out where they are 1.
std::vector<std::size_t> output_dimensions(const OperatorShape& shape) {
    std::vector<std::size_t> dimensions{0, shape.out_channels, shape.out_rows, shape.out_columns};
    while (dimensions.size() > 2 && dimensions.back() == 1) dimensions.pop_back();
    return dimensions;
}

/// The operators and the tensors in HBM of an image, as the host needs them.
struct ImageIndex {
    explicit ImageIndex(const Image& image) {
        std::map<std::uint16_t, const TileOperator*> shares;
        std::map<std::uint16_t, const OperatorPlacement*> placements;
        for (const TileProgram& tile : image.tiles) {
            for (const OperatorPlacement& placement : tile.placements) placements.emplace(placement.op_id, &placement);
            for (const TileOperator& op : tile.operators) shares.emplace(op.op_id, &op);
        }
        for (const auto& [id, placement] : placements) {
            const std::string& name = image.meta.operators[id].name;
            if (placement->in_memory())
                tensors.emplace(name, placement);
            else if (const auto share = shares.find(id); share != shares.end())
                operators.emplace(name, Placed{&image.meta.operators[id], placement, share->second});
        }
    }

    struct Placed {
        const ImageMeta::Operator* meta;
        const OperatorPlacement* placement;
        const TileOperator* share;
    };
    std::map<std::string, const OperatorPlacement*> tensors;  ///< by name
    std::map<std::string, Placed> operators;                  ///< by name
};

/// A gate that decides has an output a branch, or one for two branches, all of them on one tile; with recorded routes
/// it may have any number anywhere.
void check_gate(const ImageIndex::Placed& gate, const std::string& source) {
    const TileOperator& op = *gate.share;
    if (op.gate_switch == kNone || op.gate_rule == GateRule::patience) return;
    const unsigned outputs = gate.placement->shape.out_channels;
    const unsigned decides = op.gate_rule == GateRule::threshold ? 2 : outputs;
    if (decides != op.gate_branches)
        throw InputError(
            source, 0, gate.meta->name,
            fmt::format("expected a gate that decides between the {} branches of its switch, with an output "
                        "for each or with one output for two, found {} outputs for {} branches",
                        op.gate_branches, outputs, decides));
    if (outputs > 1 && gate.placement->k_factor > 1)
        throw InputError(
            source, 0, gate.meta->name,
            fmt::format("expected the {} outputs of a gate on one tile, which compares them, found them on {} "
                        "tiles; compile the model again, with `parameters` of the gate",
                        outputs, gate.placement->k_factor));
}

void check_functional(const Image& image, const ImageIndex& index, const std::string& source) {
    const ImageMeta::Tensor* first = nullptr;  // output
    for (const ImageMeta::Tensor& tensor : image.meta.tensors) {
        const bool there =
            tensor.kind == "weights" ? index.operators.count(tensor.name) > 0 : index.tensors.count(tensor.name) > 0;
        if (!there)
            throw InputError(source, 0, tensor.name,
                             "expected a tensor or an operator of a tile's program, found none");
        if (tensor.kind == "input" && tensor.name != "input")
            throw InputError(source, 0, tensor.name,
                             "expected no input of a functional run but \"input\", found the numbers by which a router "
                             "without a gate chooses; give the router a gate");
        if (tensor.kind == "weights") {
            const ImageIndex::Placed& op = index.operators.at(tensor.name);
            check_parameters(source, *op.meta, op.placement->shape, *op.share);
        }
        if (tensor.kind != "output") continue;
        if (first == nullptr) first = &tensor;
        const auto dimensions = [&index](const ImageMeta::Tensor& one) {
            return output_dimensions(index.tensors.at(one.name)->shape);
        };
        if (dimensions(*first) != dimensions(tensor) || first->per_input != tensor.per_input)
            throw InputError(
                source, 0, tensor.name,
                fmt::format(
                    "expected the shape of output {}, ({}), found ({}), but of several outputs a sample's result is "
                    "the last one that it reaches",
                    first->name, fmt::join(dimensions(*first), ", "), fmt::join(dimensions(tensor), ", ")));
    }
    for (const auto& [name, op] : index.operators) check_gate(op, source);
}

}  // namespace

void check_functional(const Image& image, const std::string& source) {
    check_functional(image, ImageIndex(image), source);
}

NetworkValues::NetworkValues(const Image& image, const std::string& folder, const std::string& inputs)
    : image_(image), inputs_(read_npy(inputs)) {
    const ImageIndex index(image);
    check_functional(image, index, image.meta.model);
    tensors_ = index.tensors;
    for (const ImageMeta::Tensor& tensor : image.meta.tensors) {
        if (tensor.kind == "weights") {
            const ImageIndex::Placed& op = index.operators.at(tensor.name);
            weights_.emplace(tensor.name, weight_slices(image.meta.model, folder, *op.meta, *op.placement, *op.share,
                                                        tensor.piece_bytes.front()));
        } else if (tensor.kind == "output") {
            outputs_.push_back({&tensor, {output_dimensions(placement_of(tensor).shape), {}}});
        } else {
            check_inputs(inputs, placement_of(tensor).shape);
        }
    }
}

void NetworkValues::check_inputs(const std::string& file, const OperatorShape& shape) {
    const std::size_t batch = image_.meta.batch_samples, fold = image_.meta.samples_per_input, size = elements(shape);
    // Dimensions of one may be left out, and samples folded into inputs or not, so it is the number that counts.
    const std::size_t first = inputs_.shape.empty() ? 0 : inputs_.shape[0], count = inputs_.values.size();
    const std::size_t single = image_.meta.samples_of_batch();  // `batch` has all that are in flight together
    if ((count != first * size && count != first * fold * size) || count < batch * size || count % (single * size) != 0)
        throw InputError(
            file, 0, "shape",
            fmt::format("expected batches of ({}, {}, {}, {}), at least {} of them, found ({}); take whole batches",
                        single, shape.out_channels, shape.out_rows, shape.out_columns, image_.meta.batches_in_flight,
                        fmt::join(inputs_.shape, ", ")));
    batches_ = static_cast<std::uint32_t>(count / size / batch);
}

const OperatorPlacement& NetworkValues::placement_of(const ImageMeta::Tensor& tensor) const {
    return *tensors_.at(tensor.name);
}

std::vector<std::uint8_t> NetworkValues::piece(const ImageMeta::Tensor& tensor, std::size_t piece,
                                               std::uint32_t batch) const {
    if (tensor.kind == "weights") return weights_.at(tensor.name).at(piece);
    const OperatorPlacement& placement = placement_of(tensor);
    const std::size_t first = std::size_t{batch} * image_.meta.batch_samples * elements(placement.shape);
    std::vector<std::uint16_t> halves;
    for_each_run(placement, piece, [&](std::size_t run, std::size_t count) {
        halves.resize(halves.size() + count);
        numerics::vector_kernels().narrow(&halves[halves.size() - count], &inputs_.values[first + run], count);
    });
    return bytes_of(halves, tensor.piece_bytes[piece]);
}

void NetworkValues::take(const ImageMeta::Tensor& tensor, std::size_t piece, std::uint32_t batch,
                         const std::vector<std::uint8_t>& bytes) {
    const OperatorPlacement& placement = placement_of(tensor);
    const auto output = std::find_if(outputs_.begin(), outputs_.end(),
                                     [&tensor](const Output& one) { return one.tensor->name == tensor.name; });
    NpyArray& array = output->values;
    const std::size_t batch_elements = image_.meta.batch_samples * elements(placement.shape);
    array.shape[0] = std::max<std::size_t>(array.shape[0], (batch + 1u) * image_.meta.batch_samples);
    array.values.resize(std::max(array.values.size(), (batch + 1u) * batch_elements));
    std::vector<std::uint16_t> halves(bytes.size() / kElementBytes);
    std::memcpy(halves.data(), bytes.data(), halves.size() * kElementBytes);
    std::size_t at = 0;
    for_each_run(placement, piece, [&](std::size_t run, std::size_t count) {
        numerics::vector_kernels().widen(&array.values[batch * batch_elements + run], &halves[at], count);
        at += count;
    });
}

NpyArray NetworkValues::output() const {
    return outputs_.back().values;
}

std::vector<std::size_t> NetworkValues::output_shape(std::size_t batches) const {
    const std::size_t step = outputs_.front().tensor->per_input ? image_.meta.samples_per_input : 1;
    std::vector<std::size_t> shape = outputs_.front().values.shape;
    shape[0] = batches * (image_.meta.batch_samples / step);
    return shape;
}

NpyArray NetworkValues::output(const std::vector<BatchRouting>& routed) const {
    const std::size_t size = elements(placement_of(*outputs_.front().tensor).shape);
    const std::size_t step = outputs_.front().tensor->per_input ? image_.meta.samples_per_input : 1;
    const std::size_t rows = image_.meta.batch_samples / step;  // of a batch
    NpyArray result;
    result.shape = output_shape(routed.size());
    result.values.assign(result.shape[0] * size, 0);
    for (std::size_t batch = 0; batch < routed.size(); ++batch) {
        for (const Output& output : outputs_) {
            const std::uint16_t op_id = placement_of(*output.tensor).op_id;
            for (const std::uint32_t id : samples_at(image_, routed[batch], op_id)) {
                if (id % step != 0) continue;
                const std::size_t from = (batch * image_.meta.batch_samples + id) * size,
                                  to = (batch * rows + id / step) * size;
                if (from + size <= output.values.values.size())
                    std::copy_n(&output.values.values[from], size, &result.values[to]);
            }
        }
    }
    return result;
}

void check_expected_shape(const std::vector<std::size_t>& got, const std::vector<std::size_t>& expected,
                          const std::string& file) {
    std::vector<std::size_t> compared = expected;
    if (!compared.empty() && compared[0] > got.at(0)) compared[0] = got[0];
    if (!same_shape(compared, got)) check_shape(file, expected, got);
    for (const std::size_t size : got)
        if (size == 0)
            throw InputError(
                file, 0, "shape",
                fmt::format("expected outputs of the run to compare with, found ({})", fmt::join(got, ", ")));
}

OutputComparison compare_outputs(const NpyArray& got, const NpyArray& expected, double bound, const std::string& file) {
    check_expected_shape(got.shape, expected.shape, file);
    const std::size_t outputs = got.values.size() / got.shape[0];
    OutputComparison result;
    result.samples = got.shape[0];
    double sum = 0;
    for (std::size_t sample = 0; sample < result.samples; ++sample) {
        const auto a = got.values.begin() + static_cast<std::ptrdiff_t>(sample * outputs);
        const auto b = expected.values.begin() + static_cast<std::ptrdiff_t>(sample * outputs);
        const auto end = static_cast<std::ptrdiff_t>(outputs);
        for (std::ptrdiff_t i = 0; i < end; ++i) {
            const double difference = std::abs(double{a[i]} - b[i]);
            const double error = std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
            if (error > result.largest_error) {
                result.largest_error = error;
                result.worst_sample = sample;
                result.worst_output = static_cast<std::size_t>(i);
            }
            sum += error;
        }
        const auto label = std::max_element(a, a + end) - a, wanted = std::max_element(b, b + end) - b;
        if (label == wanted) continue;
        ++result.different_labels;
        std::vector<float> sorted(b, b + end);
        std::partial_sort(sorted.begin(), sorted.begin() + 2, sorted.end(),
                          std::greater<>());  // labels differ: two at least
        if (double{sorted[0]} - sorted[1] > bound) ++result.wrong_labels;
    }
    result.mean_error = sum / static_cast<double>(result.samples * outputs);
    return result;
}

}  // namespace switchyard::platform
