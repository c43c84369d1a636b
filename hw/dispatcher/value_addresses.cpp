// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/dispatcher/value_addresses.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/rounding.h"

namespace switchyard::hw {
namespace {

constexpr std::array<Dim, 4> kAxes{Dim::n, Dim::k, Dim::p, Dim::q};
enum : unsigned { kN, kK, kP, kQ };
constexpr auto kBytes = static_cast<std::int32_t>(kElementBytes);

}  // namespace

ValueAddresses::ValueAddresses(const Kernel& kernel, const KernelNest& nest, const OperatorValues& values,
                               std::uint32_t weight_offset, std::uint32_t output_offset)
    : nest_(nest), values_(values), weight_offset_(weight_offset) {
    const OperatorShape& shape = values.shape;
    if (kernel.size(Dim::k) != shape.out_channels || kernel.size(Dim::p) != shape.out_rows ||
        kernel.size(Dim::q) != shape.out_columns)
        throw std::domain_error(
            fmt::format("expected a result of its operator's {} channels, {} rows and {} columns, found {}, {} and {}",
                        shape.out_channels, shape.out_rows, shape.out_columns, kernel.size(Dim::k), kernel.size(Dim::p),
                        kernel.size(Dim::q)));
    if (values.sources.empty()) throw std::domain_error("expected a source or more of its operator, found none");
    const Box& box = nest.box();
    input_ = input_box(shape, box);
    for (unsigned axis = 0; axis < kAxes.size(); ++axis) reg_[axis] = kernel.loop(Level::reg, kAxes[axis]).block;
    size_ = {box.n1 - box.n0, box.k1 - box.k0, box.p1 - box.p0, kernel.size(Dim::q)};
    stride_ = shape.stride;
    pad_ = shape.pad;
    channelwise_ = shape.channelwise();
    row_bytes_ = static_cast<std::int32_t>(kElementBytes * shape.in_columns);
    channel_bytes_ = static_cast<std::int32_t>(input_.p1 - input_.p0) * row_bytes_;
    sample_bytes_ = static_cast<std::int32_t>(input_.k1 - input_.k0) * channel_bytes_;
    kernel_.rows = static_cast<std::int32_t>(input_.p1 - input_.p0);
    kernel_.columns = shape.in_columns;
    kernel_.reduce = values.reduce;
    kernel_.epilogue = values.epilogue;
    kernel_.output = output_offset;
    kernel_.wide_inputs = shape.operand_bytes == kWideElementBytes;
    kernel_.wide_output = shape.element_bytes == kWideElementBytes;
    if (shape.kind == OpKind::attention)
        make_attention(kernel);
    else
        make_steps(kernel, values);
    make_across();
}

void ValueAddresses::make_attention(const Kernel& kernel) {
    const OperatorShape& shape = values_.shape;
    kernel_.steps.resize(std::size_t{kernel.size(Dim::c)} * kernel.size(Dim::r) * kernel.size(Dim::s));
    KernelAddresses::Attention& attention = kernel_.attention;
    attention.tokens = std::uint32_t{shape.in_rows} * shape.joined;
    attention.head_channels = static_cast<std::uint32_t>(shape.out_channels / shape.heads);
    attention.channel_bytes = channel_bytes_;
    attention.token_bytes = shape.joined > 1 ? sample_bytes_ : row_bytes_;
}

void ValueAddresses::make_across() {
    kernel_.across = values_.across;
    if (kernel_.across.kind == KernelAddresses::Across::Kind::none) return;
    for (std::uint32_t n = 0; n < size_[kN]; ++n)
        for (std::uint32_t p = 0; p < size_[kP]; ++p)
            for (std::uint32_t q = 0; q < size_[kQ]; ++q)
                kernel_.across.rows.push_back(row({n, true}, {p, true}, {q, true}));
    for (std::uint32_t k = 0; k < size_[kK]; ++k) kernel_.across.columns.push_back(column({k, true}));
}

void ValueAddresses::make_steps(const Kernel& kernel, const OperatorValues& values) {
    const std::uint32_t channels = kernel.size(Dim::c), rows = kernel.size(Dim::r), columns = kernel.size(Dim::s);
    if (values.sources.size() > 1) {
        // Each step is a source, or the only step is the source that has the sample.
        const std::int32_t sample_bytes = sample_bytes_ * operand_scale();
        if (rows * columns != 1 || (channels != 1 && channels != values.sources.size()))
            throw std::domain_error(fmt::format(
                "expected a reduction of one source or of all {}, found one of {} channels, {} rows and {} columns",
                values.sources.size(), channels, rows, columns));
        kernel_.steps.resize(channels);
        for (const OperatorValues::Source& source : values.sources) {
            if (!source.present.empty() && source.present.size() < nest_.box().n1)
                throw std::domain_error(fmt::format("expected at most the {} samples of its sources, found {}",
                                                    source.present.size(), nest_.box().n1));
            std::vector<std::int32_t>& places = samples_.emplace_back();
            std::int32_t place = 0;
            for (std::uint32_t n = 0; n < size_[kN]; ++n) {
                const bool present = source.present.empty() || source.present[nest_.box().n0 + n];
                places.push_back(present ? static_cast<std::int32_t>(source.offset) + place++ * sample_bytes
                                         : BlockAddresses::kAbsent);
            }
        }
        return;
    }
    const std::int32_t outermost = values.shape.joined > 1 ? sample_bytes_ : channel_bytes_;
    for (std::uint32_t c = 0; c < channels; ++c) {
        for (std::uint32_t r = 0; r < rows; ++r) {
            for (std::uint32_t s = 0; s < columns; ++s) {
                KernelAddresses::Step step;
                step.input = static_cast<std::int32_t>(c) * outermost + static_cast<std::int32_t>(r) * row_bytes_ +
                             static_cast<std::int32_t>(kElementBytes * s);
                step.weights = static_cast<std::int32_t>(kElementBytes * ((c * rows + r) * columns + s));
                step.y = static_cast<std::int32_t>(r);
                step.x = static_cast<std::int32_t>(s);
                kernel_.steps.push_back(step);
            }
        }
    }
}

ValueAddresses::Span ValueAddresses::span(unsigned axis, const OutputIndex& position, const OutputIndex& extent) const {
    return {position[axis], extent[axis], reg_[axis], ceil_div(extent[axis], reg_[axis]),
            std::min(reg_[axis], extent[axis])};
}

void ValueAddresses::find(const OutputIndex& position, BlockAddresses& block) {
    const OutputIndex extent = nest_.extent_at(position);
    // Blocks that follow each other often differ in their channels only, or in their place.
    const auto same = [&](unsigned axis) { return position[axis] == last_position_[axis]; };
    const auto as_large = [&](unsigned axis) { return extent[axis] == last_extent_[axis]; };
    const bool alike = last_.kernel != nullptr && as_large(kN) && as_large(kP) && as_large(kQ);
    const bool here = same(kN) && same(kP) && same(kQ);
    const bool can_move = kernel_.attention.tokens == 0 && values_.shape.joined == 1;
    if (!alike || (!here && !can_move))
        find_rows(position, extent);
    else if (!here)
        move_rows(position);
    if (last_.columns.empty() || !same(kK)) find_columns(position, extent);
    last_position_ = position;
    last_extent_ = extent;
    block = last_;
}

void ValueAddresses::find_columns(const OutputIndex& position, const OutputIndex& extent) {
    const Span k = span(kK, position, extent);
    last_.columns.clear();
    for (std::uint32_t pe = 0; pe < k.lanes; ++pe)
        for (std::uint32_t in_pe = 0; in_pe < k.depth; ++in_pe) last_.columns.push_back(column(k.at(pe, in_pe)));
}

void ValueAddresses::find_rows(const OutputIndex& position, const OutputIndex& extent) {
    const Span n = span(kN, position, extent), p = span(kP, position, extent), q = span(kQ, position, extent);
    last_.kernel = &kernel_;
    last_.rows.clear();
    last_.inputs.clear();
    last_.rows.reserve(std::size_t{n.size()} * p.size() * q.size());
    for (std::uint32_t pe_n = 0; pe_n < n.lanes; ++pe_n)
        for (std::uint32_t pe_p = 0; pe_p < p.lanes; ++pe_p)
            for (std::uint32_t pe_q = 0; pe_q < q.lanes; ++pe_q)
                for (std::uint32_t in_n = 0; in_n < n.depth; ++in_n)
                    for (std::uint32_t in_p = 0; in_p < p.depth; ++in_p)
                        for (std::uint32_t in_q = 0; in_q < q.depth; ++in_q) {
                            last_.rows.push_back(row(n.at(pe_n, in_n), p.at(pe_p, in_p), q.at(pe_q, in_q)));
                            if (!samples_.empty()) add_inputs(last_.rows.back(), last_.inputs);
                        }
}

void ValueAddresses::move_rows(const OutputIndex& position) {
    const auto distance = [&](unsigned axis) {
        return static_cast<std::int32_t>(position[axis]) - static_cast<std::int32_t>(last_position_[axis]);
    };
    const auto outputs_of = [&](unsigned axis) { return static_cast<std::int32_t>(size_[axis]); };
    const std::int32_t samples = distance(kN), rows = distance(kP), columns = distance(kQ),
                       stride = static_cast<std::int32_t>(stride_);
    const std::int32_t input = samples * sample_bytes_ + stride * (rows * row_bytes_ + columns * kBytes);
    const auto output = static_cast<std::uint32_t>(
        kBytes * ((samples * outputs_of(kK) * outputs_of(kP) + rows) * outputs_of(kQ) + columns));
    for (BlockAddresses::Row& row : last_.rows) {
        if (!row.wanted()) continue;
        if (!values_.first_tokens.empty()) {
            const std::uint32_t before = nest_.box().n0 + row.sample,
                                now = before + static_cast<std::uint32_t>(samples);
            row.token += values_.first_tokens.at(now) - values_.first_tokens[before] + static_cast<std::uint32_t>(rows);
        }
        row.y += rows * stride;
        row.x += columns * stride;
        row.input += input;
        row.sample += static_cast<std::uint32_t>(samples);
        row.output += output;
        row.second += output;
    }
    if (samples_.empty()) return;
    last_.inputs.clear();
    for (const BlockAddresses::Row& row : last_.rows) add_inputs(row, last_.inputs);
}

BlockAddresses::Row ValueAddresses::row(const Lane& n, const Lane& p, const Lane& q) const {
    BlockAddresses::Row row;
    if (!n.wanted || !p.wanted || !q.wanted) {
        row.output = BlockAddresses::kUnwanted;
        return row;
    }
    // Top left corner of the window; above and left of the stored input where it lies in the padding.
    row.y = static_cast<std::int32_t>((nest_.box().p0 + p.at) * stride_) - pad_ - static_cast<std::int32_t>(input_.p0);
    row.x = static_cast<std::int32_t>(q.at * stride_) - pad_;
    const std::uint32_t joined = values_.shape.joined, in_group = joined > 1 ? n.at % joined : 0;
    row.input = static_cast<std::int32_t>(values_.sources.front().offset) +
                static_cast<std::int32_t>(n.at - in_group) * sample_bytes_ + row.y * row_bytes_ +
                row.x * static_cast<std::int32_t>(kElementBytes);
    if (values_.shape.kind == OpKind::attention) {  // reads all tokens, whichever the row's own is
        row.input -= row.y * row_bytes_;
        row.y = static_cast<std::int32_t>(joined > 1 ? in_group : nest_.box().p0 + p.at);
    }
    row.sample = n.at;
    if (!values_.first_tokens.empty())
        row.token = values_.first_tokens.at(nest_.box().n0 + n.at) + nest_.box().p0 + p.at;
    row.output = kElementBytes * ((n.at * size_[kK] * size_[kP] + p.at) * size_[kQ] + q.at);
    row.second = row.output;
    return row;
}

void ValueAddresses::add_inputs(const BlockAddresses::Row& row, std::vector<std::int32_t>& inputs) const {
    if (!row.wanted()) {
        inputs.insert(inputs.end(), kernel_.steps.size(), BlockAddresses::kAbsent);
        return;
    }
    const std::int32_t inside =
        (row.y * row_bytes_ + row.x * static_cast<std::int32_t>(kElementBytes)) * operand_scale();
    const auto reads = [&](const std::vector<std::int32_t>& places) {
        const std::int32_t place = places[row.sample];
        return place == BlockAddresses::kAbsent ? place : place + inside;
    };
    if (kernel_.steps.size() == samples_.size()) {
        for (const auto& places : samples_) inputs.push_back(reads(places));
    } else {
        std::int32_t only = BlockAddresses::kAbsent;
        for (const auto& places : samples_)
            if (only == BlockAddresses::kAbsent) only = reads(places);
        inputs.push_back(only);
    }
}

BlockAddresses::Column ValueAddresses::column(const Lane& k) const {
    BlockAddresses::Column column;
    if (!k.wanted) {
        column.output = BlockAddresses::kUnwanted;
        return column;
    }
    if (channelwise_) column.input = static_cast<std::int32_t>(nest_.box().k0 + k.at - input_.k0) * channel_bytes_;
    column.weights = static_cast<std::int32_t>(weight_offset_ + kElementBytes * k.at * nest_.reduction());
    if (kernel_.attention.tokens > 0) {
        const std::uint32_t head_channels = kernel_.attention.head_channels, channel = nest_.box().k0 + k.at;
        const std::uint32_t first = channel / head_channels * 3 * head_channels;
        column.input = static_cast<std::int32_t>(first - input_.k0) * channel_bytes_;
        column.weights = static_cast<std::int32_t>(2 * head_channels + channel % head_channels) * channel_bytes_;
    }
    column.output = kElementBytes * k.at * size_[kP] * size_[kQ];
    column.channel = k.at;
    return column;
}

}  // namespace switchyard::hw
