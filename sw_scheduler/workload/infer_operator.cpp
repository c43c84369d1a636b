// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/workload/graph_builder.h"

namespace switchyard::sched {

namespace {

OpKind operator_kind(LayerKind kind) {
    switch (kind) {
        case LayerKind::convolution:
            return OpKind::convolution;
        case LayerKind::depthwise:
            return OpKind::depthwise;
        case LayerKind::matmul:
            return OpKind::matmul;
        case LayerKind::attention:
            return OpKind::attention;
        case LayerKind::pool:
            return OpKind::pool;
        case LayerKind::norm:
            return OpKind::norm;
        case LayerKind::merge:
            return OpKind::merge;
        default:
            return OpKind::elementwise;
    }
}

std::uint16_t windows(unsigned size, unsigned filter, const LayerSpec& layer, const std::string& file) {
    const unsigned padded = size + 2u * layer.pad;
    if (layer.pad >= filter)
        throw InputError(file, layer.line, layer.key("pad"),
                         fmt::format("expected a pad below the filter of {}, found {}", filter, layer.pad));
    if (padded < filter)
        throw InputError(file, layer.line, layer.key("filter"),
                         fmt::format("expected a filter of at most {} for an input of {} with a pad of {}, found {}",
                                     padded, size, layer.pad, filter));
    return static_cast<std::uint16_t>((padded - filter) / layer.stride + 1);
}

std::uint64_t fused_weight_bytes(const Operator& op, std::uint64_t channels) {
    std::uint64_t values = 0;  // a channel
    for (const FusedStep step : op.fused) {
        if (step == FusedStep::bias) values += 1;
        if (step == FusedStep::norm || step == FusedStep::layer_norm) values += 2;  // gain and offset
        if (step == FusedStep::position) values += op.position_tokens;
    }
    return values * channels * kElementBytes;
}

/// Samples that `over: input` joins.
std::uint16_t joined_samples(const LayerSpec& layer, std::uint32_t samples_per_input, const std::string& file) {
    if (!layer.over_input) return 1;
    if (samples_per_input == 1)
        throw InputError(
            file, layer.line, layer.key("over"),
            "expected samples_per_input of 2 or more for a layer that joins the samples of an input, found 1");
    return static_cast<std::uint16_t>(samples_per_input);
}

/// All rows of all samples of an input.
std::uint16_t position_tokens(const LayerSpec& layer, const TensorShape& result, std::uint32_t samples_per_input,
                              const std::string& file) {
    const std::uint32_t tokens = samples_per_input * result.rows;
    if (result.columns != 1)
        throw InputError(file, layer.line, layer.key("fused"),
                         fmt::format("expected channels x tokens x 1 for a position, found {}", to_string(result)));
    if (tokens > 0xFFFF)
        throw InputError(file, layer.line, layer.key("fused"),
                         fmt::format("expected a position of at most 65535 tokens, found {}", tokens));
    return static_cast<std::uint16_t>(tokens);
}

void check_heads(const LayerSpec& layer, std::uint32_t channels, const std::string& file) {
    if (layer.kind == LayerKind::matmul && layer.heads > 1 && channels % (3u * layer.heads) != 0)
        throw InputError(
            file, layer.line, layer.key("heads"),
            fmt::format("expected a multiple of {} channels, queries, keys and values of {} heads, found {}",
                        3u * layer.heads, layer.heads, channels));
}

/// Shape and work of an attention, whose input has queries, keys and values.
void infer_attention(const LayerSpec& layer, const TensorShape& input, std::uint32_t samples_per_input,
                     const std::string& file, Operator& op) {
    OperatorShape& shape = op.shape;
    if (input.channels % 3 != 0)
        throw InputError(
            file, layer.line, layer.key("from"),
            fmt::format("expected queries, keys and values side by side, a multiple of 3 channels, found {}",
                        input.channels));
    shape.out_channels = static_cast<std::uint16_t>(input.channels / 3);
    shape.heads = layer.heads;
    if (shape.out_channels % shape.heads != 0)
        throw InputError(
            file, layer.line, layer.key("heads"),
            fmt::format("expected a divisor of {} channels, found {} heads", shape.out_channels, shape.heads));
    shape.joined = joined_samples(layer, samples_per_input, file);
    if (shape.joined > 1 && input.rows != 1)
        throw InputError(
            file, layer.line, layer.key("over"),
            fmt::format("expected samples of one token for an attention over the samples of an input, found {}",
                        to_string(input)));
    op.macs_per_sample = 2 * std::uint64_t{input.rows} * input.rows * shape.joined * shape.out_channels;
}

}  // namespace

std::string to_string(const TensorShape& shape) {
    return fmt::format("{}x{}x{}", shape.channels, shape.rows, shape.columns);
}

Operator infer_operator(const LayerSpec& layer, const TensorShape& input, const std::string& file,
                        std::uint32_t samples_per_input) {
    Operator op;
    op.name = layer.name;
    op.line = layer.line;
    op.fused = layer.fused;
    op.merge_mode = layer.merge_mode;
    op.pool = layer.pool;
    op.parameters = layer.parameters;
    op.weight_scale = layer.weight_scale;
    op.norm_parameters = layer.norm_parameters;
    op.position_parameters = layer.position_parameters;
    op.expert = layer.expert;
    OperatorShape& shape = op.shape;
    shape.kind = operator_kind(layer.kind);
    shape.in_channels = shape.out_channels = input.channels;
    shape.in_rows = shape.out_rows = input.rows;
    shape.in_columns = shape.out_columns = input.columns;

    std::uint64_t weights = 0;
    const auto slide_filter = [&] {
        shape.filter_rows = layer.filter_rows;
        shape.filter_columns = layer.filter_columns;
        shape.stride = layer.stride;
        shape.pad = layer.pad;
        shape.out_rows = windows(input.rows, layer.filter_rows, layer, file);
        shape.out_columns = windows(input.columns, layer.filter_columns, layer, file);
    };
    const auto want_tokens = [&] {
        if (input.columns != 1)
            throw InputError(
                file, layer.line, layer.key("from"),
                fmt::format(
                    "expected for a {} an input of channels x tokens x 1, found {}; pool it, or use a convolution",
                    to_string(shape.kind), to_string(input)));
    };
    switch (shape.kind) {
        case OpKind::convolution:
            slide_filter();
            shape.out_channels = layer.out_channels;
            weights = std::uint64_t{shape.in_channels} * shape.out_channels * shape.filter_rows * shape.filter_columns;
            op.macs_per_sample = weights * shape.out_rows * shape.out_columns;
            break;
        case OpKind::depthwise:
            slide_filter();
            weights = std::uint64_t{shape.out_channels} * shape.filter_rows * shape.filter_columns;
            op.macs_per_sample = weights * shape.out_rows * shape.out_columns;
            break;
        case OpKind::matmul:
            want_tokens();
            shape.out_channels = layer.out_channels;
            op.parameter_heads = layer.heads;
            check_heads(layer, shape.out_channels, file);
            weights = std::uint64_t{shape.in_channels} * shape.out_channels;
            op.macs_per_sample = weights * shape.out_rows;
            break;
        case OpKind::attention:
            want_tokens();
            infer_attention(layer, input, samples_per_input, file, op);
            break;
        case OpKind::pool:
            shape.joined = joined_samples(layer, samples_per_input, file);
            slide_filter();
            break;
        case OpKind::norm:
            weights = 2 * std::uint64_t{input.channels};
            break;
        case OpKind::elementwise:
        case OpKind::merge:
            break;
    }
    const auto fuses = [&op](FusedStep step) {
        return std::find(op.fused.begin(), op.fused.end(), step) != op.fused.end();
    };
    if (fuses(FusedStep::position)) op.position_tokens = position_tokens(layer, op.output(), samples_per_input, file);
    op.weight_bytes = weights * kElementBytes + fused_weight_bytes(op, shape.out_channels);
    op.out_bytes_per_sample = op.output().bytes();
    return op;
}

}  // namespace switchyard::sched
