// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/network_interface/transfer_plan.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/rounding.h"

namespace switchyard::hw {

namespace {

/// `batch`: EdgeAllocations.
Partition fitting_partition(const OperatorPlacement& placement, unsigned allocation, std::uint32_t batch,
                            std::uint32_t dyn_dim) {
    if (batch > 0 && !placement.in_memory()) dyn_dim = batch;
    const int index = placement.best_fit(allocation, dyn_dim);
    if (index < 0)
        throw std::domain_error(
            fmt::format("operator {}: expected a kernel for dyn_dim {}, found none", placement.op_id, dyn_dim));
    return placement.unit_partition(static_cast<std::size_t>(index));
}

/// Rows of the edge's tensor that come from the producer's output rows [p0, p1): a pool fused into the producer
/// leaves fewer rows than it computed, a global pool one for each partial sum.
std::uint32_t scaled_row(const Edge& edge, const OperatorShape& shape, std::uint32_t row) {
    return static_cast<std::uint32_t>(std::uint64_t{row} * edge.rows / shape.out_rows);
}

/// A tensor in HBM has room for every id, elsewhere those that are there close ranks.
std::uint32_t positions(const OperatorPlacement& placement, const SampleSet& set) {
    return placement.in_memory() ? placement.unit_samples : static_cast<std::uint32_t>(set.size());
}

/// Of all ranks that hold the same samples, the one with the first channels and rows.
bool leads(const Box& box) {
    return !box.empty() && box.k0 == 0 && box.p0 == 0;
}

}  // namespace

EdgeSets sets_of(const Edge& edge, const SampleIndexList& index_list) {
    const SampleSet& source = edge.switch_id == kNone ? index_list.samples : popped(index_list, 1).samples;
    return {&source, &index_list.samples, &popped(index_list, edge.pops).samples};
}

EdgeAllocations allocations_of(const Edge& edge, const SampleIndexList& index_list, const OperatorPlacement& source,
                               const OperatorPlacement& destination) {
    EdgeAllocations result;
    const SampleIndexList &at_source = edge.switch_id == kNone ? index_list : popped(index_list, 1),
                          &at_destination = popped(index_list, edge.pops);
    result.source_batch = at_source.batch_samples;
    result.destination_batch = at_destination.batch_samples;
    if (!source.allocations.empty()) result.source = source.allocation_for(at_source);
    if (!destination.allocations.empty()) result.destination = destination.allocation_for(at_destination);
    return result;
}

TransferPlan::TransferPlan(const Edge& edge, const OperatorPlacement& source, const OperatorPlacement& destination,
                           const SampleIndexList& index_list)
    : TransferPlan(edge, source, destination, sets_of(edge, index_list),
                   allocations_of(edge, index_list, source, destination)) {}

TransferPlan::TransferPlan(const Edge& edge, const OperatorPlacement& source, const OperatorPlacement& destination,
                           const SampleSet& source_set, const SampleSet& edge_set, const SampleSet& destination_set,
                           const EdgeAllocations& allocations)
    : edge_(edge),
      edge_set_(edge_set),
      src_(source),
      dst_(destination),
      source_size_(positions(source, source_set)),
      destination_size_(positions(destination, destination_set)) {
    source_ = fitting_partition(source, allocations.source, allocations.source_batch, source_size_);
    destination_ =
        fitting_partition(destination, allocations.destination, allocations.destination_batch, destination_size_);
    const bool pooled = edge.reduce == EdgeReduce::global_pool;
    partial_sums_ = pooled && !source.in_memory() && !destination.in_memory();
    const std::uint32_t rows = pooled ? 1 : edge.rows;
    whole_ = !destination.in_memory() &&
             (edge.role == OperandRole::factor ||
              needs_whole_input(dst_.shape, edge.channels, rows, edge.role == OperandRole::second_operand));

    source_begins_ = begins_of(source_, source.in_memory() ? nullptr : &source_set);
    destination_begins_ = begins_of(destination_, destination.in_memory() ? nullptr : &destination_set);
}

TransferPlan::Begins TransferPlan::begins_of(const Partition& cut, const SampleSet* set) const {
    const std::vector<std::uint32_t>& ids = edge_set_.ids();
    const std::uint32_t block = ceil_div(cut.dyn_dim, cut.n);
    Begins begins;
    begins.reserve(std::size_t{cut.n} + 1);
    begins.push_back(0);
    auto at = ids.begin();
    for (std::uint32_t position = block; begins.size() < cut.n; position += block) {
        if (set == nullptr)
            at = std::lower_bound(at, ids.end(), position);
        else if (position <= set->size())  // behind the last one of the block before
            at = std::upper_bound(at, ids.end(), (*set)[position - 1]);
        else
            at = ids.end();
        begins.push_back(at - ids.begin());
    }
    begins.push_back(static_cast<std::ptrdiff_t>(ids.size()));
    return begins;
}

TransferPlan::Places TransferPlan::places(std::uint32_t source_block, std::uint32_t destination_block) const {
    const std::ptrdiff_t first = std::max(source_begins_[source_block], destination_begins_[destination_block]);
    const std::ptrdiff_t last = std::min(source_begins_[source_block + 1], destination_begins_[destination_block + 1]);
    return {first, std::max(first, last)};
}

TransferPlan::Needs TransferPlan::makes_of(unsigned source_rank) const {
    const Box box = output_box(src_.shape, source_, src_.k_factor, source_rank, source_size_);
    Needs made;
    if (box.empty()) return made;
    made.none = false;
    made.n = source_rank / src_.k_factor / source_.p;
    made.channels = {box.k0, box.k1};
    made.rows = {scaled_row(edge_, src_.shape, box.p0), scaled_row(edge_, src_.shape, box.p1)};
    return made;
}

TransferPlan::Needs TransferPlan::needs_of(unsigned destination_rank) const {
    const Box box = output_box(dst_.shape, destination_, dst_.k_factor, destination_rank, destination_size_);
    Needs needed;
    if (box.empty()) return needed;
    needed.none = false;
    needed.n = destination_rank / dst_.k_factor / destination_.p;
    const std::uint32_t first = edge_.first_channel;  // in the source's numbering from here on
    if (whole_) {
        needed.channels = {first, first + edge_.channels};
        needed.rows = {0, edge_.rows};
    } else {
        const Box input = input_box(dst_.shape, box, edge_.role == OperandRole::second_operand);
        needed.channels = {first + input.k0, first + input.k1};
        needed.rows = {input.p0, input.p1};
        // Who takes the mean takes the shares of all rows; a piece in HBM holds those of its own rows.
        if (edge_.reduce == EdgeReduce::global_pool && !dst_.in_memory()) needed.rows = {0, edge_.rows};
    }
    return needed;
}

std::uint64_t TransferPlan::bytes(const Needs& made, const Needs& needed) const {
    if (made.none || needed.none) return 0;
    const std::uint64_t count = samples(made.n, needed.n);
    const Range channels{std::max(made.channels.first, needed.channels.first),
                         std::min(made.channels.last, needed.channels.last)};
    if (partial_sums_) {
        // Each producer sends the sum over its own rows; the consumer adds the partial sums up.
        return count * channels.size() * (made.rows.size() > 0 ? 1 : 0) * edge_.element_bytes;
    }
    const Range rows{std::max(made.rows.first, needed.rows.first), std::min(made.rows.last, needed.rows.last)};
    return count * channels.size() * rows.size() * edge_.columns * edge_.element_bytes;
}

std::uint64_t TransferPlan::bytes(unsigned source_rank, unsigned destination_rank) const {
    return bytes(makes_of(source_rank), needs_of(destination_rank));
}

std::uint64_t TransferPlan::expected_bytes(unsigned destination_rank) const {
    const Needs needed = needs_of(destination_rank);
    if (needed.none) return 0;
    const std::uint64_t count = samples_for(needed.n);
    // The producers' boxes cover the tensor once, so what they send adds up to the consumer's box.
    if (!partial_sums_) {
        return count * needed.channels.size() * needed.rows.size() * edge_.columns * edge_.element_bytes;
    }
    return count * needed.channels.size() * parts() * edge_.element_bytes;
}

std::uint32_t TransferPlan::parts() const {
    std::uint32_t count = 0;
    for (unsigned p = 0; p < source_.p; ++p) count += makes_of(p * src_.k_factor).rows.size() > 0 ? 1 : 0;
    return count;
}

TransferPlan::Extent TransferPlan::made(unsigned source_rank) const {
    const Needs made = makes_of(source_rank);
    if (made.none) return {};
    return {made.n * ceil_div(source_.dyn_dim, source_.n), made.channels.first, made.channels.size(), made.rows.first,
            made.rows.size()};
}

TransferPlan::Extent TransferPlan::needed(unsigned destination_rank) const {
    const Needs needed = needs_of(destination_rank);
    if (needed.none) return {};
    return {needed.n * ceil_div(destination_.dyn_dim, destination_.n), needed.channels.first, needed.channels.size(),
            needed.rows.first, needed.rows.size()};
}

TensorPart TransferPlan::part(unsigned source_rank, unsigned destination_rank) const {
    const Needs made = makes_of(source_rank), needed = needs_of(destination_rank);
    TensorPart part;
    if (bytes(made, needed) == 0) return part;
    part.element_bytes = edge_.element_bytes;
    const Places taken = places(made.n, needed.n);
    part.samples.assign(edge_set_.ids().begin() + taken.first, edge_set_.ids().begin() + taken.last);
    part.first_channel = std::max(made.channels.first, needed.channels.first);
    part.channels = std::min(made.channels.last, needed.channels.last) - part.first_channel;
    if (partial_sums_) {
        part.first_row = source_rank / src_.k_factor % source_.p;
        part.rows = 1;
        return part;
    }
    part.first_row = std::max(made.rows.first, needed.rows.first);
    part.rows = std::min(made.rows.last, needed.rows.last) - part.first_row;
    part.columns = edge_.columns;
    return part;
}

std::vector<std::uint16_t> TransferPlan::sharers(unsigned destination_rank) const {
    const bool per_channel = !whole_ && (dst_.shape.channelwise() || edge_.role == OperandRole::second_operand);
    if (per_channel) return {static_cast<std::uint16_t>(destination_rank)};
    std::vector<std::uint16_t> ranks;
    const Needs needed = needs_of(destination_rank);
    const unsigned first = destination_rank / dst_.k_factor * dst_.k_factor;
    for (unsigned rank = first; rank < first + dst_.k_factor; ++rank) {
        // The rows are the same; channels differ between the heads of an attention.
        const Needs other = needs_of(rank);
        const bool alike = other.channels.first == needed.channels.first && other.channels.last == needed.channels.last;
        if (!other.none && alike) ranks.push_back(static_cast<std::uint16_t>(rank));
    }
    return ranks;
}

std::vector<std::uint16_t> TransferPlan::senders(unsigned destination_rank) const {
    std::vector<std::uint16_t> ranks;
    const Needs needed = needs_of(destination_rank);
    if (needed.none) return ranks;
    for (unsigned block = 0; block < source_.n; ++block) {
        if (samples(block, needed.n) == 0) continue;
        const unsigned first = block * source_.p * src_.k_factor;
        for (unsigned rank = first; rank < first + unsigned{source_.p} * src_.k_factor; ++rank) {
            if (bytes(makes_of(rank), needed) > 0) ranks.push_back(static_cast<std::uint16_t>(rank));
        }
    }
    return ranks;
}

TransferPlan::Access TransferPlan::access(unsigned piece, const Needs& lies, const Needs& wanted,
                                          std::uint32_t first_id) const {
    const Partition& cut = src_.in_memory() ? source_ : destination_;
    const std::uint64_t block = ceil_div(cut.dyn_dim, cut.n),
                        row_bytes = std::uint64_t{edge_.element_bytes} * edge_.columns;
    const std::uint64_t channel_bytes = lies.rows.size() * row_bytes, channels = lies.channels.size();
    const std::uint64_t channel = std::max(lies.channels.first, wanted.channels.first) - lies.channels.first;
    const std::uint64_t row = std::max(lies.rows.first, wanted.rows.first) - lies.rows.first;
    Access part;
    part.piece = piece;
    part.bytes = src_.in_memory() ? bytes(lies, wanted) : bytes(wanted, lies);
    part.offset = (first_id % block * channels + channel) * channel_bytes + row * row_bytes;
    part.offset = std::min(part.offset, block * channels * channel_bytes - part.bytes);
    return part;
}

std::vector<TransferPlan::Access> TransferPlan::reads(unsigned destination_rank) const {
    std::vector<Access> parts;
    const Needs needed = needs_of(destination_rank);
    if (needed.none) return parts;
    for (unsigned block = 0; block < source_.n; ++block) {
        if (samples(block, needed.n) == 0) continue;
        for (unsigned piece = block * source_.p; piece < (block + 1) * source_.p; ++piece) {
            const Needs lies = makes_of(piece);
            if (bytes(lies, needed) == 0) continue;
            parts.push_back(access(piece, lies, needed, first_sample(block, needed.n)));
        }
    }
    return parts;
}

std::vector<TransferPlan::Access> TransferPlan::writes(unsigned source_rank) const {
    std::vector<Access> parts;
    const Needs made = makes_of(source_rank);
    if (made.none) return parts;
    for (unsigned block = 0; block < destination_.n; ++block) {
        if (samples(made.n, block) == 0) continue;
        for (unsigned piece = block * destination_.p; piece < (block + 1) * destination_.p; ++piece) {
            const Needs lies = needs_of(piece);
            if (bytes(made, lies) == 0) continue;
            parts.push_back(access(piece, lies, made, first_sample(made.n, block)));
        }
    }
    return parts;
}

std::uint32_t TransferPlan::samples_sent(unsigned source_rank) const {
    if (!leads(output_box(src_.shape, source_, src_.k_factor, source_rank, source_size_))) return 0;
    std::uint32_t sum = 0;
    const unsigned block = source_rank / src_.k_factor / source_.p;
    for (unsigned d = 0; d < destination_.n; ++d) sum += samples(block, d);
    return sum;
}

std::uint32_t TransferPlan::samples_received(unsigned destination_rank) const {
    if (!leads(output_box(dst_.shape, destination_, dst_.k_factor, destination_rank, destination_size_))) return 0;
    return samples_for(destination_rank / dst_.k_factor / destination_.p);
}

std::uint32_t TransferPlan::samples_for(std::uint32_t destination_block) const {
    std::uint32_t sum = 0;
    for (unsigned s = 0; s < source_.n; ++s) sum += samples(s, destination_block);
    return sum;
}

std::vector<TransferPlan::Group> TransferPlan::groups_from(unsigned source_rank) const {
    std::vector<Group> groups;
    const Needs made = makes_of(source_rank);
    if (made.none) return groups;
    const unsigned ranks = destination_.n * destination_.p * dst_.k_factor;
    for (unsigned rank = 0; rank < ranks;) {
        const unsigned block = rank / dst_.k_factor / destination_.p;
        if (samples(made.n, block) == 0) {
            rank = (block + 1) * destination_.p * dst_.k_factor;
            continue;
        }
        Group group;
        group.ranks = sharers(rank);
        // Those that need the same follow one another.
        const unsigned next = std::max(rank, group.ranks.empty() ? 0u : group.ranks.back()) + 1;
        group.bytes = bytes(made, needs_of(rank));
        group.samples = samples(made.n, block);
        if (group.bytes > 0 && !group.ranks.empty()) groups.push_back(std::move(group));
        rank = next;
    }
    return groups;
}

}  // namespace switchyard::hw
