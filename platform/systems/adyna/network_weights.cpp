// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/adyna/network_weights.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "switchyard/hw/numerics/fp16.h"
#include "switchyard/hw/numerics/vector_kernels.h"
#include "switchyard/platform/system/npy.h"
#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::platform {

std::vector<std::uint8_t> bytes_of(const std::vector<std::uint16_t>& halves, std::size_t bytes) {
    std::vector<std::uint8_t> result(bytes);
    std::memcpy(result.data(), halves.data(), std::min(bytes, halves.size() * sizeof halves[0]));
    return result;
}

namespace {

/// Values of each output channel.
struct Parameter {
    std::size_t per_channel = 1;
    std::vector<std::uint16_t> values;  ///< binary16, channel by channel
};

class WeightFiles {
public:
    WeightFiles(const std::string& folder, const ImageMeta::Operator& meta, const OperatorShape& shape)
        : folder_(folder), meta_(meta), shape_(shape) {}

    /// What is multiplied: the operator's group of the input channels, scaled. No values if there is nothing.
    Parameter products() const {
        Parameter result{filter_elements(shape_), {}};
        if (result.per_channel == 0) return result;
        const bool own = shape_.channelwise();  // its results are channels of the group: it takes all that they have
        const std::size_t stored = result.per_channel * (own ? 1 : meta_.groups);
        const std::size_t first = own ? 0 : meta_.group * result.per_channel;
        const std::vector<float> whole = meta_.expert < 0 ? matrix(stored) : expert(stored);
        const std::size_t channels = whole.size() / stored;
        result.values.resize(result.per_channel * shape_.out_channels);
        for (std::size_t k = 0; k < shape_.out_channels; ++k) {
            const float* const channel = &whole[channel_in_file(k, channels) * stored + first];
            std::uint16_t* const to = &result.values[k * result.per_channel];
            if (meta_.weight_scale == 1) {
                numerics::vector_kernels().narrow(to, channel, result.per_channel);
                continue;
            }
            for (std::size_t i = 0; i < result.per_channel; ++i)
                to[i] = numerics::narrow(static_cast<double>(channel[i]) * meta_.weight_scale);
        }
        return result;
    }

    /// A value a channel.
    Parameter vector(const char* what) const { return vector(meta_.parameters, what); }
    Parameter norm(const char* what) const { return vector(meta_.norm_parameters, what); }

    /// Of (tokens, channels).
    Parameter position(std::size_t tokens) const {
        const std::string path = named(meta_.position_parameters) + ".npy";
        const NpyArray array = read_npy(path);
        if (array.shape.size() != 2 || array.shape[0] != tokens || !has_channels(array.shape[1]))
            wrong_shape(path, array, fmt::format("{} tokens of {} channels", tokens, shape_.out_channels));
        Parameter result{tokens, {}};
        for (std::size_t k = 0; k < shape_.out_channels; ++k)
            for (std::size_t token = 0; token < tokens; ++token)
                result.values.push_back(
                    numerics::narrow(array.values[token * array.shape[1] + channel_in_file(k, array.shape[1])]));
        return result;
    }

private:
    std::string named(const std::string& parameters) const { return folder_ + "/" + parameters; }
    /// "enc.0.norm1" and "weight": enc.0.norm1.weight.npy. "in_proj_" and "weight": in_proj_weight.npy.
    std::string path_of(const std::string& parameters, const char* what) const {
        const std::string base = named(parameters);
        return fmt::format("{}{}{}.npy", base, base.back() == '_' ? "" : ".", what);
    }
    [[noreturn]] void wrong_shape(const std::string& path, const NpyArray& array, const std::string& wanted) const {
        throw InputError(
            path, 0, "shape",
            fmt::format("expected {} for operator {}, found ({})", wanted, meta_.name, fmt::join(array.shape, ", ")));
    }

    /// Whether a file of N channels is one of the operator's. Where its results are channels of a group, the file may
    /// be that of all groups.
    bool has_channels(std::size_t channels) const {
        const bool all = shape_.channelwise() && channels == std::size_t{shape_.out_channels} * meta_.groups;
        return channels == shape_.out_channels || all;
    }

    /// Channel k of the chip, which wants queries, keys and values head by head, in a file of N channels.
    std::size_t channel_in_file(std::size_t k, std::size_t channels) const {
        if (channels != shape_.out_channels) return std::size_t{meta_.group} * shape_.out_channels + k;
        if (meta_.heads <= 1) return k;
        const std::size_t all = shape_.out_channels / 3u, head = all / meta_.heads;
        const std::size_t part = k % (3 * head) / head;
        return part * all + k / (3 * head) * head + k % head;
    }

    std::vector<float> matrix(std::size_t stored) const {
        const std::string path = path_of(meta_.parameters, "weight");
        NpyArray array = read_npy(path);
        if (array.shape.empty() || !has_channels(array.shape[0]) || array.values.size() != stored * array.shape[0])
            wrong_shape(path, array, fmt::format("{} channels of {} weights", shape_.out_channels, stored));
        // Another order of the dimensions, such as channels last, has as many values.
        if (array.shape.size() == 4 &&
            (array.shape[2] != shape_.filter_rows || array.shape[3] != shape_.filter_columns))
            wrong_shape(path, array, fmt::format("filters of {} x {} last", shape_.filter_rows, shape_.filter_columns));
        return std::move(array.values);
    }

    /// One matrix of (experts, in, out), as out, in.
    std::vector<float> expert(std::size_t stored) const {
        const std::string path = named(meta_.parameters) + ".npy";
        const NpyArray array = read_npy(path);
        const auto index = static_cast<std::size_t>(meta_.expert);
        if (array.shape.size() != 3 || array.shape[0] <= index || array.shape[1] != stored ||
            array.shape[2] != shape_.out_channels)
            wrong_shape(path, array,
                        fmt::format("more than {} experts of {} x {} weights", index, stored, shape_.out_channels));
        std::vector<float> values;
        for (std::size_t k = 0; k < shape_.out_channels; ++k)
            for (std::size_t i = 0; i < stored; ++i)
                values.push_back(array.values[(index * stored + i) * shape_.out_channels + k]);
        return values;
    }

    Parameter vector(const std::string& parameters, const char* what) const {
        const std::string path = path_of(parameters, what);
        const NpyArray array = read_npy(path);
        const std::size_t channels = array.values.size();
        if (!has_channels(channels)) wrong_shape(path, array, fmt::format("{} channels", shape_.out_channels));
        Parameter result;
        for (std::size_t k = 0; k < shape_.out_channels; ++k)
            result.values.push_back(numerics::narrow(array.values[channel_in_file(k, channels)]));
        return result;
    }

    const std::string& folder_;
    const ImageMeta::Operator& meta_;
    const OperatorShape& shape_;
};

}  // namespace

void check_parameters(const std::string& source, const ImageMeta::Operator& meta, const OperatorShape& shape,
                      const TileOperator& op) {
    const auto require = [&](const std::string& parameters, const char* what) {
        if (parameters.empty())
            throw InputError(
                source, 0, meta.name,
                fmt::format("expected parameters for its {}, found none; name them in the model file", what));
    };
    if (filter_elements(shape) > 0) require(meta.parameters, "weights");
    if (shape.kind == OpKind::norm) require(meta.parameters, "weights");
    for (const EpilogueStep step : op.epilogue) {
        if (step == EpilogueStep::bias) require(meta.parameters, "weights");
        if (step == EpilogueStep::norm) require(meta.parameters, "weights");
        if (step == EpilogueStep::layer_norm) require(meta.norm_parameters, "weights");
        if (step == EpilogueStep::position) require(meta.position_parameters, "positions");
    }
    if (meta.heads > 1 && shape.out_channels / 3u < meta.heads)
        throw InputError(source, 0, meta.name,
                         fmt::format("expected at most {} heads for {} channels, found {}", shape.out_channels / 3u,
                                     shape.out_channels, meta.heads));
}

std::vector<std::vector<std::uint8_t>> weight_slices(const std::string& model, const std::string& folder,
                                                     const ImageMeta::Operator& meta,
                                                     const OperatorPlacement& placement, const TileOperator& op,
                                                     std::size_t slice_bytes) {
    const OperatorShape& shape = placement.shape;
    check_parameters(model, meta, shape, op);
    const WeightFiles files(folder, meta, shape);
    std::vector<Parameter> parameters{files.products()};
    const auto folded_norm = [&] {
        parameters.push_back(files.vector("gain"));
        parameters.push_back(files.vector("offset"));
    };
    if (shape.kind == OpKind::norm) folded_norm();
    for (const EpilogueStep step : op.epilogue) {
        if (step == EpilogueStep::bias) parameters.push_back(files.vector("bias"));
        if (step == EpilogueStep::norm) folded_norm();
        if (step == EpilogueStep::layer_norm) {
            parameters.push_back(files.norm("weight"));
            parameters.push_back(files.norm("bias"));
        }
        if (step == EpilogueStep::position) parameters.push_back(files.position(op.position_tokens));
    }
    std::vector<std::vector<std::uint8_t>> slices;
    const Partition& cut = placement.partitions.back();
    for (unsigned ik = 0; ik < placement.k_factor; ++ik) {
        const Box box = output_box(shape, cut, placement.k_factor, ik, cut.dyn_dim);
        std::vector<std::uint16_t> slice;
        for (const Parameter& parameter : parameters) {
            if (parameter.per_channel == 0) continue;
            const auto channel = [&parameter](std::size_t k) {
                return parameter.values.begin() + static_cast<std::ptrdiff_t>(k * parameter.per_channel);
            };
            slice.insert(slice.end(), channel(box.k0), channel(box.k1));
        }
        slices.push_back(bytes_of(slice, slice_bytes));
    }
    return slices;
}

}  // namespace switchyard::platform
