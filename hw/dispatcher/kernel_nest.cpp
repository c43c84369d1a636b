// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/dispatcher/kernel_nest.h"

#include <algorithm>
#include <stdexcept>

namespace switchyard::hw {
namespace {

constexpr std::array<Level, 3> kTileLevels{Level::reg, Level::pe, Level::spm};  // those inside one tile

void require(bool holds, NestFault otherwise) {
    if (!holds) throw std::domain_error(text(otherwise));
}

/// Place of n, k, p or q in an OutputIndex.
unsigned output_axis(Dim dim) {
    return dim < Dim::c ? static_cast<unsigned>(dim) : static_cast<unsigned>(dim) - 1;
}

std::uint64_t covered(const Kernel& kernel, Dim dim) {
    std::uint64_t product = 1;
    for (Level level : kTileLevels) product *= kernel.loop(level, dim).block;
    return product;
}

void check_levels(const Kernel& kernel) {
    for (Dim dim : {Dim::k, Dim::c, Dim::p, Dim::q, Dim::r, Dim::s})
        require(kernel.loop(Level::unit, dim).block == 1, NestFault::units);
    require(kernel.dyn_dim() % kernel.loop(Level::unit, Dim::n).block == 0, NestFault::units);
    for (Dim dim : {Dim::q, Dim::c, Dim::r, Dim::s})
        require(kernel.loop(Level::tile, dim).block == 1, NestFault::tiles);
    for (Dim dim : {Dim::c, Dim::r, Dim::s}) {
        require(kernel.loop(Level::pe, dim).block == 1, NestFault::pes);
        require(covered(kernel, dim) >= kernel.size(dim), NestFault::reduction);
    }
    for (Level level : {Level::reg, Level::pe}) {
        const std::uint64_t rows = std::uint64_t{kernel.loop(level, Dim::n).block} * kernel.loop(level, Dim::p).block *
                                   kernel.loop(level, Dim::q).block;
        require(rows <= 0xFFFF, NestFault::rows);
    }
}

/// The rank's part of the output of a unit, from the kernel alone: only channels and rows of the shape are cut up.
Box box_of(const Kernel& kernel, unsigned rank, std::uint32_t dyn_dim) {
    OperatorShape shape;
    shape.out_channels = kernel.size(Dim::k);
    shape.out_rows = kernel.size(Dim::p);
    Partition partition;
    partition.dyn_dim = kernel.unit_samples();
    partition.n = kernel.loop(Level::tile, Dim::n).block;
    partition.p = kernel.loop(Level::tile, Dim::p).block;
    return output_box(shape, partition, kernel.loop(Level::tile, Dim::k).block, rank, dyn_dim);
}

}  // namespace

const char* text(NestFault fault) {
    switch (fault) {
        case NestFault::units:
            return "expected units that are equal parts of n, found other units";
        case NestFault::tiles:
            return "expected q, c, r and s on one tile, found one of them on several";
        case NestFault::pes:
            return "expected c, r and s on one PE, found one of them on several";
        case NestFault::reduction:
            return "expected loops over all of c, r and s of its operator, found shorter ones";
        case NestFault::rows:
            return "expected blocks of at most 65535 rows, found larger ones";
        case NestFault::uncovered:
            return "expected loops over all outputs of its operator, found shorter ones";
        case NestFault::too_long:
            return "expected a reduction of at most 4294967295 products, found a longer one";
    }
    return "";
}

KernelNest::KernelNest(const Kernel& kernel, unsigned rank, std::uint32_t dyn_dim) {
    check_levels(kernel);
    box_ = box_of(kernel, rank, dyn_dim);
    const Box& box = box_;
    const std::array<std::pair<Dim, std::uint32_t>, kOutputDims> extents{{{Dim::n, box.n1 - box.n0},
                                                                          {Dim::k, box.k1 - box.k0},
                                                                          {Dim::p, box.p1 - box.p0},
                                                                          {Dim::q, kernel.size(Dim::q)}}};
    for (unsigned i = 0; i < kOutputDims; ++i) {
        Axis& axis = axes_[i];
        axis.dim = extents[i].first;
        axis.loop = {box.empty() ? 0 : extents[i].second, kernel.loop(Level::reg, axis.dim).block,
                     kernel.loop(Level::pe, axis.dim).block, axis.dim == Dim::k};
        axis.trips = kernel.loop(Level::spm, axis.dim).block;
        require(axis.used() <= axis.trips, NestFault::uncovered);
    }
    std::stable_sort(axes_.begin(), axes_.end(), [&](const Axis& a, const Axis& b) {
        return kernel.loop(Level::spm, a.dim).order > kernel.loop(Level::spm, b.dim).order;
    });
    const std::uint64_t reduction = std::uint64_t{kernel.size(Dim::c)} * kernel.size(Dim::r) * kernel.size(Dim::s);
    require(reduction <= 0xFFFFFFFF, NestFault::too_long);
    reduction_ = static_cast<std::uint32_t>(reduction);
}

std::uint64_t KernelNest::issued() const {
    std::uint64_t blocks = 1;
    for (const Axis& axis : axes_) blocks *= axis.used();
    return blocks;
}

std::uint64_t KernelNest::skipped() const {
    std::uint64_t blocks = 1;
    for (const Axis& axis : axes_) blocks *= axis.trips;
    return blocks - issued();
}

std::uint64_t KernelNest::blocks_below(unsigned depth) const {
    std::uint64_t blocks = 1;
    for (unsigned inner = depth + 1; inner < kOutputDims; ++inner) blocks *= axes_[inner].trips;
    return blocks;
}

BlockNest KernelNest::loops() const {
    BlockNest loops;
    for (unsigned i = 0; i < kOutputDims; ++i) loops[i] = axes_[i].loop;
    return loops;
}

BlockShape KernelNest::shape(const Indices& extents) const {
    ArrayBlock block;
    std::uint64_t outputs = 1;
    for (unsigned i = 0; i < kOutputDims; ++i) {
        block = axes_[i].loop.clipped(block, static_cast<std::uint32_t>(extents[i]));
        outputs *= extents[i];
    }
    return {block.rows, block.columns, block.row_outputs, block.column_outputs, outputs};
}

std::optional<KernelNest::Visit> KernelNest::block_at(const OutputIndex& position) const {
    Indices indices{};
    for (unsigned i = 0; i < kOutputDims; ++i) {
        const std::uint64_t at = position[output_axis(axes_[i].dim)], block = axes_[i].loop.block();
        if (at >= axes_[i].loop.extent || at % block != 0) return std::nullopt;
        indices[i] = at / block;
    }
    return visited(indices);
}

KernelNest::Visit KernelNest::visited(const Indices& indices) const {
    Visit visit;
    visit.first = visit.last = true;
    Indices extents;
    for (unsigned i = 0; i < kOutputDims; ++i) {
        visit.first &= indices[i] == 0;
        visit.last &= indices[i] + 1 == axes_[i].used();
        extents[i] = axes_[i].extent_of(indices[i]);
        visit.position[output_axis(axes_[i].dim)] = static_cast<std::uint32_t>(indices[i] * axes_[i].loop.block());
    }
    visit.shape = shape(extents);
    return visit;
}

OutputIndex KernelNest::extent_at(const OutputIndex& position) const {
    OutputIndex extent{};
    for (const Axis& axis : axes_) {
        const std::uint32_t at = position[output_axis(axis.dim)];
        extent[output_axis(axis.dim)] = std::min(axis.loop.block(), axis.loop.extent - at);
    }
    return extent;
}

std::vector<KernelNest::Run> KernelNest::runs() const {
    std::vector<Run> result;
    // Along an axis all blocks are full but perhaps the last one: bit i of `tails` selects the tail of axis i. The
    // tails come last, so that the last run holds the last block.
    for (unsigned tails = 0; tails < 1u << kOutputDims; ++tails) {
        std::uint64_t repeats = 1;
        Indices extents;
        OutputIndex position{}, step{}, count{};
        for (unsigned i = 0; i < kOutputDims; ++i) {
            const BlockLoop& loop = axes_[i].loop;
            const bool tail = (tails >> i & 1) != 0;
            repeats *= tail ? loop.rest() != 0 : loop.full();
            extents[i] = tail ? loop.rest() : loop.block();
            const unsigned place = output_axis(axes_[i].dim);
            position[place] = tail ? loop.extent - loop.rest() : 0;
            step[place] = loop.block();
            count[place] = tail ? 1 : loop.full();
        }
        if (repeats > 0) result.push_back({shape(extents), repeats, position, step, count});
    }
    return result;
}

const NestPlan& NestCache::plan(const Kernel& kernel, unsigned rank, std::uint32_t dyn_dim) {
    const std::uint64_t key = std::uint64_t{rank} << 32 | dyn_dim;
    const auto known = plans_.find(key);
    if (known != plans_.end()) return known->second;
    const KernelNest nest(kernel, rank, dyn_dim);
    return plans_.emplace(key, NestPlan{nest.loops(), nest.runs(), nest.issued(), nest.skipped(), nest.reduction()})
        .first->second;
}

}  // namespace switchyard::hw
