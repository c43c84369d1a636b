// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "switchyard/sw_scheduler/adyna/image/kernel.h"
#include "switchyard/sw_scheduler/adyna/image/partition.h"

namespace switchyard::testing {

/// A kernel that obeys the rules of the template nest: it covers its operator, fits `rows` x `columns` PEs with at most
/// five accumulators each, and has more iterations than it needs here and there.
inline Kernel random_kernel(std::mt19937& random, unsigned rows, unsigned columns, unsigned dyn_dim) {
    const auto upto = [&random](unsigned max) { return 1 + static_cast<unsigned>(random() % max); };
    const auto u16 = [](unsigned value) { return static_cast<std::uint16_t>(value); };
    const auto ceil = [](unsigned a, unsigned b) { return (a + b - 1) / b; };
    Kernel kernel;
    kernel.total = {u16(dyn_dim),  u16(upto(70)), u16(upto(20)), u16(upto(12)),
                    u16(upto(12)), u16(upto(3)),  u16(upto(3))};
    kernel.vector_op = random() % 4 == 0;
    for (Dim dim : {Dim::n, Dim::k, Dim::p})
        kernel.loop(Level::tile, dim).block = u16(upto(std::min<unsigned>(3, kernel.size(dim))));

    unsigned free_rows = rows;
    std::vector<Dim> row_dims{Dim::n, Dim::p, Dim::q};
    std::shuffle(row_dims.begin(), row_dims.end(), random);
    for (Dim dim : row_dims) {
        const unsigned lanes = upto(free_rows);
        kernel.loop(Level::pe, dim).block = u16(lanes);
        free_rows /= lanes;
    }
    kernel.loop(Level::pe, Dim::k).block = u16(upto(columns));
    kernel.loop(Level::reg, row_dims[random() % 2 == 0 ? 0 : 1]).block = u16(upto(2));
    kernel.loop(Level::reg, Dim::k).block = u16(upto(2));

    std::vector<unsigned> order{0, 1, 2, 3, 4, 5, 6};
    std::shuffle(order.begin(), order.end(), random);
    for (unsigned d = 0; d < kDims; ++d) {
        const Dim dim = static_cast<Dim>(d);
        const unsigned part = ceil(kernel.size(dim), kernel.loop(Level::tile, dim).block);
        const unsigned block = unsigned{kernel.loop(Level::reg, dim).block} * kernel.loop(Level::pe, dim).block;
        kernel.loop(Level::spm, dim).block = u16(ceil(part, block) + (random() % 4 == 0 ? random() % 3 : 0));
        kernel.loop(Level::spm, dim).order = static_cast<std::uint8_t>(order[d]);
    }
    return kernel;
}

/// The same nest, found by asking for every single output where it is computed.
struct CountedNest {
    struct Block {
        std::set<std::tuple<unsigned, unsigned, unsigned>> rows;  ///< PEs in use, by n, p, q
        std::set<unsigned> columns;
        std::map<std::tuple<unsigned, unsigned, unsigned, unsigned>, unsigned> of_a_pe;
        std::uint64_t outputs = 0;
        unsigned deepest() const {
            unsigned max = 0;
            for (const auto& pe : of_a_pe) max = std::max(max, pe.second);
            return max;
        }
    };
    using Index = std::tuple<unsigned, unsigned, unsigned, unsigned>;  // n, k, p, q
    std::map<Index, Block> blocks;
    std::uint64_t outputs = 0, reduction = 1, all_blocks = 1;
};

inline CountedNest count_nest(const Kernel& kernel, unsigned rank, unsigned dyn_dim) {
    const unsigned factor_p = kernel.loop(Level::tile, Dim::p).block, factor_k = kernel.loop(Level::tile, Dim::k).block;
    const unsigned share_n = rank / factor_k / factor_p, share_p = rank / factor_k % factor_p,
                   share_k = rank % factor_k;
    const auto part = [&](Dim dim) {
        const unsigned factors = kernel.loop(Level::tile, dim).block;
        return (kernel.size(dim) + factors - 1u) / factors;
    };
    const auto block = [&](Dim dim, unsigned i) {
        return i / (unsigned{kernel.loop(Level::reg, dim).block} * kernel.loop(Level::pe, dim).block);
    };
    const auto lane = [&](Dim dim, unsigned i) {
        return i / kernel.loop(Level::reg, dim).block % kernel.loop(Level::pe, dim).block;
    };
    CountedNest nest;
    nest.reduction = std::uint64_t{kernel.size(Dim::c)} * kernel.size(Dim::r) * kernel.size(Dim::s);
    for (Dim dim : {Dim::n, Dim::k, Dim::p, Dim::q}) nest.all_blocks *= kernel.loop(Level::spm, dim).block;
    for (unsigned n = 0; n < part(Dim::n) && share_n * part(Dim::n) + n < dyn_dim; ++n) {
        for (unsigned k = 0; k < part(Dim::k) && share_k * part(Dim::k) + k < kernel.size(Dim::k); ++k) {
            for (unsigned p = 0; p < part(Dim::p) && share_p * part(Dim::p) + p < kernel.size(Dim::p); ++p) {
                for (unsigned q = 0; q < kernel.size(Dim::q); ++q) {
                    CountedNest::Block& here =
                        nest.blocks[{block(Dim::n, n), block(Dim::k, k), block(Dim::p, p), block(Dim::q, q)}];
                    const std::tuple row{lane(Dim::n, n), lane(Dim::p, p), lane(Dim::q, q)};
                    here.rows.insert(row);
                    here.columns.insert(lane(Dim::k, k));
                    ++here.of_a_pe[std::tuple_cat(row, std::tuple{lane(Dim::k, k)})];
                    ++here.outputs;
                    ++nest.outputs;
                }
            }
        }
    }
    return nest;
}

/// Ranks of the kernel's tile-level split, and one more, which has nothing to do.
inline unsigned ranks_of(const Kernel& kernel) {
    return kernel.loop(Level::tile, Dim::n).block * kernel.loop(Level::tile, Dim::k).block *
               kernel.loop(Level::tile, Dim::p).block +
           1u;
}

}  // namespace switchyard::testing
