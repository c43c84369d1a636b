#include "switchyard/platform/network_values.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "switchyard/hw/numerics/fp16.h"
#include "switchyard/platform/expectation.h"
#include "switchyard/sw_scheduler/formats/error.h"

namespace switchyard::platform {

namespace {

class HalfWriter {
public:
    void add(double value) {
        const std::uint16_t bits = numerics::narrow(value);
        bytes_.push_back(static_cast<std::uint8_t>(bits));
        bytes_.push_back(static_cast<std::uint8_t>(bits >> 8));
    }
    std::vector<std::uint8_t> take(std::size_t bytes) {
        bytes_.resize(bytes, 0);
        return std::move(bytes_);
    }

private:
    std::vector<std::uint8_t> bytes_;
};

std::size_t elements(const OperatorShape& shape) {
    return std::size_t{shape.out_channels} * shape.out_rows * shape.out_columns;
}

/// Calls visit(index of the element in a batch's tensor) for the elements of a piece in their order.
template <class Visit>
void for_each_element(const OperatorPlacement& tensor, std::size_t piece, Visit&& visit) {
    const Box box = piece_box(tensor, static_cast<std::uint32_t>(piece));
    const OperatorShape& shape = tensor.shape;
    for (std::size_t n = box.n0; n < box.n1; ++n) {
        for (std::size_t k = 0; k < shape.out_channels; ++k) {
            for (std::size_t p = box.p0; p < box.p1; ++p) {
                for (std::size_t q = 0; q < shape.out_columns; ++q) {
                    visit(((n * shape.out_channels + k) * shape.out_rows + p) * shape.out_columns + q);
                }
            }
        }
    }
}

}  // namespace

NetworkValues::NetworkValues(const Image& image, std::string folder, const std::string& inputs)
    : image_(image), folder_(std::move(folder)), inputs_(read_npy(inputs)) {
    std::map<std::uint16_t, const OperatorPlacement*> placements;
    std::map<std::uint16_t, const TileOperator*> operators;
    for (const TileProgram& tile : image.tiles) {
        for (const OperatorPlacement& placement : tile.placements) placements.emplace(placement.op_id, &placement);
        for (const TileOperator& op : tile.operators) operators.emplace(op.op_id, &op);
    }
    std::map<std::string, std::uint16_t> ids;
    for (std::size_t id = 0; id < image.meta.operators.size(); ++id) {
        const auto placement = placements.find(static_cast<std::uint16_t>(id));
        if (placement == placements.end()) continue;
        const std::string& name = image.meta.operators[id].name;
        if (placement->second->in_memory()) {
            tensors_.emplace(name, placement->second);
        } else {
            ids.emplace(name, static_cast<std::uint16_t>(id));
        }
    }
    for (const ImageMeta::Tensor& tensor : image.meta.tensors) {
        if (tensor.kind == "weights") {
            const std::uint16_t id = ids.at(tensor.name);
            weights_.emplace(tensor.name, read_weights(image.meta.operators[id], *placements.at(id), *operators.at(id),
                                                       tensor.piece_bytes.front()));
        } else if (tensor.kind == "output") {
            const OperatorShape& shape = placement_of(tensor).shape;
            output_.shape = {0, shape.out_channels, shape.out_rows, shape.out_columns};
            while (output_.shape.size() > 2 && output_.shape.back() == 1) output_.shape.pop_back();
        } else {
            const OperatorShape& shape = placement_of(tensor).shape;
            const std::vector<std::size_t> wanted{image.meta.batch_samples, shape.out_channels, shape.out_rows,
                                                  shape.out_columns};
            // Dimensions of one may be left out, so it is the number that counts.
            if (inputs_.shape.empty() || inputs_.shape[0] < wanted[0] ||
                inputs_.values.size() != inputs_.shape[0] * elements(shape))
                throw InputError(inputs, 0, "shape",
                                 fmt::format("is ({}), the network wants batches of ({})",
                                             fmt::join(inputs_.shape, ", "), fmt::join(wanted, ", ")));
            batches_ = static_cast<std::uint32_t>(inputs_.shape[0] / wanted[0]);
        }
    }
}

const OperatorPlacement& NetworkValues::placement_of(const ImageMeta::Tensor& tensor) const {
    return *tensors_.at(tensor.name);
}

std::vector<float> NetworkValues::per_channel(const ImageMeta::Operator& meta, const char* what,
                                              std::size_t channels) const {
    const std::string path = fmt::format("{}/{}.{}.npy", folder_, meta.parameters, what);
    NpyArray array = read_npy(path);
    if (array.values.size() != channels)
        throw InputError(
            path, 0, "shape",
            fmt::format("is ({}), operator {} has {} channels", fmt::join(array.shape, ", "), meta.name, channels));
    return std::move(array.values);
}

NetworkValues::Slices NetworkValues::read_weights(const ImageMeta::Operator& meta, const OperatorPlacement& placement,
                                                  const TileOperator& op, std::size_t slice_bytes) const {
    if (meta.parameters.empty())
        throw InputError(image_.meta.model, 0, meta.name, "has weights, and the model names no parameters for them");
    const OperatorShape& shape = placement.shape;
    const std::size_t filter = filter_elements(shape), stored = filter * meta.groups;
    NpyArray weight;
    if (filter > 0) {
        const std::string path = fmt::format("{}/{}.weight.npy", folder_, meta.parameters);
        weight = read_npy(path);
        if (weight.shape.empty() || weight.shape[0] != shape.out_channels ||
            weight.values.size() != stored * shape.out_channels)
            throw InputError(path, 0, "shape",
                             fmt::format("is ({}), operator {} wants {} channels of {} weights",
                                         fmt::join(weight.shape, ", "), meta.name, shape.out_channels, stored));
    }
    std::vector<std::vector<float>> parameters;
    const auto norm = [&] {
        parameters.push_back(per_channel(meta, "gain", shape.out_channels));
        parameters.push_back(per_channel(meta, "offset", shape.out_channels));
    };
    if (shape.kind == OpKind::norm) norm();
    for (const EpilogueStep step : op.epilogue) {
        if (step == EpilogueStep::bias) parameters.push_back(per_channel(meta, "bias", shape.out_channels));
        if (step == EpilogueStep::norm) norm();
    }
    Slices slices;
    const Partition& cut = placement.partitions.back();
    for (unsigned ik = 0; ik < placement.k_ways; ++ik) {
        const Box box = output_box(shape, cut, placement.k_ways, ik, cut.dyn_dim);
        HalfWriter writer;
        for (std::size_t k = box.k0; k < box.k1; ++k) {
            const std::size_t first = k * stored + meta.group * filter;
            for (std::size_t i = first; i < first + filter; ++i)
                writer.add(static_cast<double>(weight.values[i]) * meta.weight_scale);
        }
        for (const std::vector<float>& values : parameters) {
            for (std::size_t k = box.k0; k < box.k1; ++k) writer.add(values[k]);
        }
        slices.bytes.push_back(writer.take(slice_bytes));
    }
    return slices;
}

std::vector<std::uint8_t> NetworkValues::piece(const ImageMeta::Tensor& tensor, std::size_t piece,
                                               std::uint32_t batch) const {
    if (tensor.kind == "weights") return weights_.at(tensor.name).bytes.at(piece);
    const OperatorPlacement& placement = placement_of(tensor);
    const std::size_t first = std::size_t{batch} * image_.meta.batch_samples * elements(placement.shape);
    HalfWriter writer;
    for_each_element(placement, piece, [&](std::size_t i) { writer.add(inputs_.values[first + i]); });
    return writer.take(tensor.piece_bytes[piece]);
}

void NetworkValues::take(const ImageMeta::Tensor& tensor, std::size_t piece, std::uint32_t batch,
                         const std::vector<std::uint8_t>& bytes) {
    const OperatorPlacement& placement = placement_of(tensor);
    const std::size_t batch_elements = image_.meta.batch_samples * elements(placement.shape);
    output_.shape[0] = std::max<std::size_t>(output_.shape[0], (batch + 1u) * image_.meta.batch_samples);
    output_.values.resize(std::max(output_.values.size(), (batch + 1u) * batch_elements));
    std::size_t at = 0;
    for_each_element(placement, piece, [&](std::size_t i) {
        std::uint16_t bits = 0;
        std::memcpy(&bits, &bytes[at], kElementBytes);
        at += kElementBytes;
        output_.values[batch * batch_elements + i] = numerics::widen(bits);
    });
}

NpyArray NetworkValues::output() const {
    return output_;
}

NpyArray NetworkValues::output(const std::vector<BatchRouting>& routed) const {
    NpyArray result = output_;
    for (const ImageMeta::Tensor& tensor : image_.meta.tensors) {
        if (tensor.kind != "output") continue;
        const OperatorPlacement& placement = placement_of(tensor);
        const std::size_t size = elements(placement.shape);
        for (std::size_t batch = 0; batch < routed.size(); ++batch) {
            std::vector<bool> reached(image_.meta.batch_samples);
            for (const std::uint32_t id : samples_at(image_, routed[batch], placement.op_id)) reached[id] = true;
            for (std::size_t id = 0; id < reached.size(); ++id) {
                const std::size_t first = (batch * reached.size() + id) * size;
                if (!reached[id] && first + size <= result.values.size())
                    std::fill_n(result.values.begin() + static_cast<std::ptrdiff_t>(first), size, 0.0f);
            }
        }
    }
    return result;
}

OutputComparison compare_outputs(const NpyArray& got, const NpyArray& expected, double bound) {
    const auto per_sample = [](const NpyArray& array) {
        return array.shape.empty() || array.shape[0] == 0 ? 0 : array.values.size() / array.shape[0];
    };
    const std::size_t outputs = per_sample(expected);
    if (outputs == 0 || per_sample(got) != outputs)
        throw InputError(fmt::format("outputs of shape ({}) cannot be compared with ({})", fmt::join(got.shape, ", "),
                                     fmt::join(expected.shape, ", ")));
    OutputComparison result;
    result.samples = std::min(got.shape[0], expected.shape[0]);
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
        std::partial_sort(sorted.begin(), sorted.begin() + 2, sorted.end(), std::greater<>());
        if (double{sorted[0]} - sorted[1] > bound) ++result.wrong_labels;
    }
    result.mean_error = sum / static_cast<double>(result.samples * outputs);
    return result;
}

}  // namespace switchyard::platform
