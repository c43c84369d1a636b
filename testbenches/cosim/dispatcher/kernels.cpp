// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/cosim/dispatcher/kernels.h"

#include <algorithm>
#include <array>

namespace switchyard::testing {

namespace {

std::uint16_t u16(unsigned value) {
    return static_cast<std::uint16_t>(value);
}

/// Byte offset of a loop.
unsigned loop_at(Level level, Dim dim) {
    return 3 * (static_cast<unsigned>(level) * kDims + static_cast<unsigned>(dim));
}

}  // namespace

KernelBytes sealed(KernelBytes bytes) {
    unsigned crc = 0xFFFF;
    for (unsigned i = 0; i < 126; ++i) {
        crc ^= unsigned{bytes[i]} << 8;
        for (unsigned bit = 0; bit < 8; ++bit) crc = (crc << 1 ^ ((crc & 0x8000) != 0 ? 0x1021u : 0u)) & 0xFFFF;
    }
    bytes[126] = static_cast<std::uint8_t>(crc);
    bytes[127] = static_cast<std::uint8_t>(crc >> 8);
    return bytes;
}

Kernel wide_kernel(std::mt19937& random) {
    const auto upto = [&random](std::uint64_t max) { return u16(1 + static_cast<unsigned>(random() % max)); };
    // Of random size as well, so that high bits are set as often as low ones.
    const auto any = [&](unsigned bits) { return upto(std::uint64_t{1} << random() % (bits + 1)); };
    const auto field = [&] { return random() % 2 == 0 ? upto(0xFFFF) : any(15); };
    Kernel kernel;
    for (std::uint16_t& total : kernel.total) total = field();
    // c * r * s below 2^32
    kernel.total[static_cast<unsigned>(Dim::r)] = any(11);
    kernel.total[static_cast<unsigned>(Dim::s)] = any(5);
    kernel.vector_op = random() % 2 == 0;
    kernel.pad = static_cast<std::uint8_t>(random() % 256);
    kernel.op_id = u16(static_cast<unsigned>(random()));
    for (auto& level : kernel.loops) {
        for (Kernel::Loop& loop : level) {
            loop.stride = static_cast<std::uint8_t>(1 + random() % 15);
            loop.order = static_cast<std::uint8_t>(random() % 7);
        }
    }
    for (Dim dim : {Dim::c, Dim::r, Dim::s}) {
        const std::uint32_t part = field();
        kernel.loop(Level::reg, dim).block = u16(part);
        const std::uint32_t trips = (kernel.size(dim) + part - 1) / part;
        kernel.loop(Level::spm, dim).block = u16(std::max<unsigned>(trips, field()));
    }
    for (Dim dim : {Dim::n, Dim::k, Dim::p})
        kernel.loop(Level::tile, dim).block = random() % 2 == 0 ? std::uint16_t{1} : field();
    // One of n, p, q has wide PEs, one (perhaps the same) deep registers: their products stay below 2^16.
    const Dim rows[] = {Dim::n, Dim::p, Dim::q};
    const Dim wide = rows[random() % 3], deep = rows[random() % 3];
    kernel.loop(Level::pe, wide).block = field();
    kernel.loop(Level::reg, deep).block = field();
    kernel.loop(Level::pe, Dim::k).block = field();
    kernel.loop(Level::reg, Dim::k).block = field();
    for (Dim dim : {Dim::n, Dim::k, Dim::p, Dim::q}) {
        // Few blocks: what the block does not cover is cut off the operator.
        const std::uint64_t block =
            std::uint64_t{kernel.loop(Level::reg, dim).block} * kernel.loop(Level::pe, dim).block;
        std::uint16_t& total = kernel.total[static_cast<unsigned>(dim)];
        const std::uint64_t factor = kernel.loop(Level::tile, dim).block;
        total = static_cast<std::uint16_t>(std::min<std::uint64_t>(total, 4 * block * factor));
        const std::uint64_t share = (total + factor - 1) / factor;
        kernel.loop(Level::spm, dim).block =
            u16(std::max<unsigned>(static_cast<unsigned>((share + block - 1) / block), field()));
    }
    return kernel;
}

void add_units(Kernel& kernel, std::mt19937& random) {
    std::uint16_t& samples = kernel.total[static_cast<unsigned>(Dim::n)];
    const unsigned most = 0xFFFFu / samples;
    const unsigned units = 1 + static_cast<unsigned>(random()) % std::min(most, 1u << random() % 16);
    samples = u16(samples * units);
    kernel.loop(Level::unit, Dim::n).block = u16(units);
}

Kernel wild_kernel(std::mt19937& random) {
    const auto field = [&random] { return u16(1 + static_cast<unsigned>(random() % 0xFFFF)); };
    Kernel kernel;
    for (auto& level : kernel.loops) {
        for (Kernel::Loop& loop : level)
            loop = {field(), static_cast<std::uint8_t>(1 + random() % 15), static_cast<std::uint8_t>(random() % 7)};
    }
    for (std::uint16_t& total : kernel.total) total = field();
    kernel.op_id = field();
    kernel.vector_op = random() % 2 == 0;
    kernel.pad = static_cast<std::uint8_t>(random());
    return kernel;
}

std::vector<KernelBytes> malformed_kernels() {
    const KernelBytes good = encode(smallest_kernel(4));
    std::vector<KernelBytes> all;
    const auto with = [&](unsigned at, std::uint8_t byte) {
        KernelBytes bad = good;
        bad[at] = byte;
        all.push_back(sealed(bad));
    };
    for (unsigned level = 0; level < kLevels; ++level) {
        for (unsigned dim = 0; dim < kDims; ++dim) {
            const unsigned at = loop_at(static_cast<Level>(level), static_cast<Dim>(dim));
            if (good[at] == 1 && good[at + 1] == 0) with(at, 0);  // block
            with(at + 2, 0x00);                                   // stride
            with(at + 2, 0x71);                                   // order
        }
    }
    for (unsigned dim = 1; dim < kDims; ++dim) with(105 + 2 * dim, 0);
    with(121, 2);                                           // flags
    for (unsigned at : {123u, 124u, 125u}) with(at, 0x10);  // reserved
    KernelBytes flipped = good;
    flipped[40] = static_cast<std::uint8_t>(flipped[40] ^ 4);
    all.push_back(flipped);  // checksum
    return all;
}

std::vector<Kernel> faulty_kernels() {
    std::vector<Kernel> all;
    const auto with = [&all](Level level, Dim dim, unsigned block) {
        Kernel bad;
        bad.total = {8, 3, 3, 3, 3, 3, 3};
        for (unsigned d = 0; d < kDims; ++d) bad.loops[static_cast<unsigned>(Level::spm)][d].block = bad.total[d];
        bad.loop(level, dim).block = u16(block);
        all.push_back(bad);
    };
    for (Dim dim : {Dim::n, Dim::k, Dim::c, Dim::p, Dim::q, Dim::r, Dim::s})
        with(Level::unit, dim, dim == Dim::n ? 5 : 2);  // of 8
    for (Dim dim : {Dim::q, Dim::c, Dim::r, Dim::s}) with(Level::tile, dim, 2);
    for (Dim dim : {Dim::c, Dim::r, Dim::s}) with(Level::pe, dim, 2);
    for (Dim dim : {Dim::c, Dim::r, Dim::s, Dim::n, Dim::k, Dim::p, Dim::q}) with(Level::spm, dim, 2);
    constexpr std::array<std::array<Dim, 2>, 3> kRowDims{{{Dim::n, Dim::p}, {Dim::n, Dim::q}, {Dim::p, Dim::q}}};
    for (const Level level : {Level::pe, Level::reg}) {
        for (const auto& dims : kRowDims) {
            Kernel rows = smallest_kernel(8);
            for (const Dim dim : dims) rows.loop(level, dim).block = 300;
            all.push_back(rows);
        }
    }
    Kernel rows = smallest_kernel(8);
    rows.loop(Level::reg, Dim::q).block = rows.loop(Level::reg, Dim::p).block = 0x8000;
    all.push_back(rows);
    Kernel long_reduction = smallest_kernel(8);
    for (Dim dim : {Dim::c, Dim::r, Dim::s}) {
        long_reduction.total[static_cast<unsigned>(dim)] = 0xFFFF;
        long_reduction.loop(Level::spm, dim).block = 0xFFFF;
    }
    all.push_back(long_reduction);
    return all;
}

Kernel smallest_kernel(unsigned dyn_dim) {
    Kernel kernel;
    kernel.total[static_cast<unsigned>(Dim::n)] = u16(dyn_dim);
    kernel.loop(Level::pe, Dim::n).block = u16(dyn_dim);
    return kernel;
}

}  // namespace switchyard::testing
