// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/compiler/kernel_search.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/adyna/compiler/splits.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/rounding.h"
#include "switchyard/sw_scheduler/workload/graph.h"

namespace switchyard::sched {

namespace {

/// Outputs that the fullest PE computes along one dimension, summed over the blocks: what is multiplied up to a lower
/// bound of the cycles.
std::uint32_t serial_outputs(std::uint32_t size, std::uint32_t reg, std::uint32_t pe) {
    const std::uint32_t extent = reg * pe;
    return size / extent * reg + std::min(size % extent, reg);
}

}  // namespace

KernelSearch::KernelSearch(const HardwareDescription& hardware) : hardware_(hardware) {
    const unsigned max = hardware_.pe_register_bytes / 8;  // outputs whose two sets of accumulators would just fit
    for (unsigned n = 1; n <= max; ++n) {
        for (unsigned p = 1; n * p <= max; ++p) {
            for (unsigned q = 1; n * p * q <= max; ++q) {
                for (unsigned k = 1; n * p * q * k <= max; ++k) {
                    if (register_bytes(n * p * q, k) > hardware_.pe_register_bytes) continue;
                    register_blocks_.push_back({{narrow(n), narrow(k), narrow(p), narrow(q)}, n * p * q, k});
                }
            }
        }
    }
}

std::size_t KernelSearch::Hash::operator()(const TileWork& work) const {
    std::uint64_t hash = 0xCBF29CE484222325ull;
    const auto add = [&hash](std::uint64_t value) { hash = (hash ^ value) * 0x100000001B3ull; };
    for (const std::uint16_t size : work.size) add(size);
    add(std::uint64_t{work.operand_bytes} << 8 | work.element_bytes);
    add(std::uint64_t{work.reduction} << 2 | (work.vector_op ? 2u : 0u) | (work.channelwise ? 1u : 0u));
    return static_cast<std::size_t>(hash ^ hash >> 29);
}

const KernelSearch::Result& KernelSearch::best(const TileWork& work) {
    const auto found = known_.find(work);
    if (found != known_.end()) return found->second;
    return known_.emplace(work, search(work)).first->second;
}

KernelSearch::Result KernelSearch::search(const TileWork& work) const {
    const auto& size = work.size;
    Result best;
    best.cost.cycles = std::numeric_limits<std::uint64_t>::max();

    const auto consider = [&](const Blocking& blocking) {
        if (!(min_cost(hardware_, work, blocking) < best.cost)) return;
        const NestCost cost = nest_cost(hardware_, work, blocking);
        if (cost < best.cost) best = {blocking, cost};
    };
    for (const RegisterBlock& registers : register_blocks_) {
        bool fits = true;
        for (unsigned dim = 0; dim < 4; ++dim) fits = fits && registers.reg[dim] <= size[dim];
        if (!fits) continue;
        Blocking blocking;
        blocking.reg = registers.reg;
        const auto& reg = blocking.reg;
        if (work.vector_op) {  // the largest block of each register shape: vector work has no fill that it could save
            unsigned rows = hardware_.pe_rows;
            blocking.pe[kK] = narrow(std::min<unsigned>(hardware_.pe_columns, ceil_div(size[kK], reg[kK])));
            for (const unsigned dim : {kQ, kP, kN}) {
                blocking.pe[dim] = narrow(std::min<unsigned>(rows, ceil_div(size[dim], reg[dim])));
                rows /= blocking.pe[dim];
            }
            consider(blocking);
            continue;
        }
        const auto max = [&](unsigned dim, unsigned pes) { return std::min(pes, ceil_div(size[dim], reg[dim])); };
        for (unsigned k = max(kK, hardware_.pe_columns); k >= 1; --k) {
            blocking.pe[kK] = narrow(k);
            const std::uint64_t serial_k = std::uint64_t{work.reduction} * serial_outputs(size[kK], reg[kK], k);
            if (serial_k > best.cost.cycles) continue;
            for (unsigned n = max(kN, hardware_.pe_rows); n >= 1; --n) {
                blocking.pe[kN] = narrow(n);
                const std::uint64_t serial_n = serial_k * serial_outputs(size[kN], reg[kN], n);
                for (unsigned p = max(kP, hardware_.pe_rows / n); p >= 1; --p) {
                    blocking.pe[kP] = narrow(p);
                    const std::uint64_t serial_p = serial_n * serial_outputs(size[kP], reg[kP], p);
                    if (serial_p * ceil_div(size[kQ], hardware_.pe_rows / (n * p)) > best.cost.cycles) continue;
                    for (unsigned q = max(kQ, hardware_.pe_rows / (n * p)); q >= 1; --q) {
                        if (serial_p * serial_outputs(size[kQ], reg[kQ], q) > best.cost.cycles) continue;
                        blocking.pe[kQ] = narrow(q);
                        consider(blocking);
                    }
                }
            }
        }
    }
    return best;
}

std::array<std::uint16_t, 4> block_size(const OperatorShape& shape, const Partition& partition, unsigned k_factor) {
    const auto block = [](std::uint32_t size, std::uint32_t factors) {
        return static_cast<std::uint16_t>(ceil_div(size, factors));
    };
    return {block(partition.dyn_dim, partition.n), block(shape.out_channels, k_factor),
            block(shape.out_rows, partition.p), shape.out_columns};
}

TileWork tile_work(const OperatorShape& shape, unsigned operands, const Partition& partition, unsigned k_factor) {
    TileWork work;
    work.size = block_size(shape, partition, k_factor);
    const auto loops = reduction_loops(shape, operands);
    work.reduction = std::uint32_t{loops[0]} * loops[1] * loops[2];
    work.vector_op = is_vector(shape.kind);
    work.channelwise = shape.kind == OpKind::depthwise;
    work.operand_bytes = shape.operand_bytes;
    work.element_bytes = shape.element_bytes;
    return work;
}

Kernel make_kernel(KernelSearch& search, const OperatorShape& shape, unsigned operands, const Partition& partition,
                   unsigned k_factor, std::uint16_t op_id, unsigned units) {
    const TileWork work = tile_work(shape, operands, partition, k_factor);
    const Blocking& blocking = search.best(work).blocking;
    constexpr std::uint8_t kLargestStride = 15;
    if (shape.stride > kLargestStride)
        throw InputError(fmt::format("expected a stride of at most {}, which the kernel format's 4 bits hold, found {}",
                                     kLargestStride, shape.stride));

    constexpr std::uint32_t kLargestSize = 0xFFFF;
    const std::uint32_t samples = std::uint32_t{partition.dyn_dim} * units;
    if (samples > kLargestSize)
        throw InputError(
            fmt::format("expected a batch of at most {} samples, which the kernel format's 16 bits hold, "
                        "found {}; take smaller batches",
                        kLargestSize, samples));

    Kernel kernel;
    kernel.op_id = op_id;
    kernel.vector_op = work.vector_op ? 1 : 0;
    kernel.pad = static_cast<std::uint8_t>(shape.pad);
    const auto loops = reduction_loops(shape, operands);
    kernel.total = {static_cast<std::uint16_t>(samples),
                    shape.out_channels,
                    loops[0],
                    shape.out_rows,
                    shape.out_columns,
                    loops[1],
                    loops[2]};
    const std::array<std::uint16_t, 4> factors{partition.n, static_cast<std::uint16_t>(k_factor), partition.p, 1};
    for (unsigned i = 0; i < 4; ++i) {
        const Dim dim = kBlockedDims[i];
        kernel.loop(Level::reg, dim).block = blocking.reg[i];
        kernel.loop(Level::pe, dim).block = blocking.pe[i];
        kernel.loop(Level::spm, dim).block = static_cast<std::uint16_t>(ceil_div(work.size[i], blocking.extent(i)));
        kernel.loop(Level::tile, dim).block = factors[i];
    }
    kernel.loop(Level::unit, Dim::n).block = static_cast<std::uint16_t>(units);
    kernel.loop(Level::spm, Dim::c).block = loops[0];
    kernel.loop(Level::spm, Dim::r).block = loops[1];
    kernel.loop(Level::spm, Dim::s).block = loops[2];
    for (const Dim dim : {Dim::p, Dim::q}) {
        kernel.loop(Level::reg, dim).stride = static_cast<std::uint8_t>(shape.stride);
    }

    const std::array<BlockedDim, 4> order = loop_order(work, blocking);
    for (unsigned level = 0; level < kLevels; ++level) {
        std::uint8_t position = 0;
        // Output-stationary: s, r, c innermost.
        for (const Dim dim : {Dim::s, Dim::r, Dim::c, kBlockedDims[order[0]], kBlockedDims[order[1]],
                              kBlockedDims[order[2]], kBlockedDims[order[3]]}) {
            kernel.loops[level][static_cast<unsigned>(dim)].order = position++;
        }
    }
    return kernel;
}

}  // namespace switchyard::sched
