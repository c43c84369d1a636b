// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "switchyard/testbenches/half.h"
#include "switchyard/testbenches/unit/compute/compute_bench.h"

namespace switchyard::testing {

/// A random operator with random values, a kernel for it, and its result by plain loops over whole tensors: the
/// compiler's _Float16 and float, in the order of accumulation of docs/numerics.md.
class ValuedOperator {
public:
    enum class Case { convolution, depthwise, matmul, flattening, pool_maximum, pool_mean, elementwise, sum, choice };
    static constexpr Case kCases[] = {Case::convolution, Case::depthwise,    Case::matmul,
                                      Case::flattening,  Case::pool_maximum, Case::pool_mean,
                                      Case::elementwise, Case::sum,          Case::choice};

    ValuedOperator(Case which, unsigned pe_rows, unsigned pe_columns, std::mt19937& random)
        : which_(which), random_(random) {
        make_shape();
        made_for_ = upto(9);
        dyn_dim_ = upto(made_for_);
        make_kernel(pe_rows, pe_columns);
        const unsigned sources = which == Case::sum ? 2 + upto(2) : which == Case::choice ? 3 : 1;
        for (unsigned s = 0; s < sources; ++s)
            inputs_.push_back(values(std::size_t{dyn_dim_} * shape_.in_channels * shape_.in_rows * shape_.in_columns));
        for (unsigned n = 0; n < dyn_dim_; ++n) chosen_.push_back(static_cast<unsigned>(random_() % sources));
        weights_ = values(std::size_t{shape_.out_channels} * taps());
        second_ = values(std::size_t{dyn_dim_} * shape_.out_channels * shape_.out_rows * shape_.out_columns);
        bias_ = values(shape_.out_channels);
        kernel_.loop(Level::spm, Dim::c).block = kernel_.total[2] = static_cast<std::uint16_t>(reduced()[0]);
    }

    const Kernel& kernel() const { return kernel_; }
    const OperatorShape& shape() const { return shape_; }
    unsigned dyn_dim() const { return dyn_dim_; }
    unsigned sources() const { return static_cast<unsigned>(inputs_.size()); }
    unsigned ranks() const {
        return unsigned{kernel_.loop(Level::tile, Dim::n).block} * kernel_.loop(Level::tile, Dim::k).block *
               kernel_.loop(Level::tile, Dim::p).block;
    }

    /// Runs the rank's part on `bench`, whose store holds the kernel alone, and compares each output.
    void check(ComputeBench& bench, unsigned rank) const {
        Partition partition;
        partition.dyn_dim = static_cast<std::uint16_t>(made_for_);
        partition.n = kernel_.loop(Level::tile, Dim::n).block;
        partition.p = kernel_.loop(Level::tile, Dim::p).block;
        const Box box = output_box(shape_, partition, kernel_.loop(Level::tile, Dim::k).block, rank, dyn_dim_);
        const Box in = input_box(shape_, box);

        OperatorValues operator_values;
        operator_values.shape = shape_;
        operator_values.reduce = which_ == Case::pool_maximum ? KernelAddresses::Reduce::maximum
                                 : which_ == Case::pool_mean  ? KernelAddresses::Reduce::mean
                                                              : KernelAddresses::Reduce::sum;
        std::uint32_t at = 0x8000;
        for (unsigned s = 0; s < inputs_.size(); ++s) {
            OperatorValues::Source source;
            source.offset = at;
            std::vector<std::uint16_t> slot;
            for (unsigned n = 0; n < dyn_dim_; ++n) {
                const bool here = which_ != Case::choice || chosen_[n] == s;
                if (inputs_.size() > 1) source.present.push_back(here);
                if (!here || n < in.n0 || n >= in.n1) continue;
                for (unsigned c = in.k0; c < in.k1; ++c)
                    for (unsigned y = in.p0; y < in.p1; ++y)
                        for (unsigned x = 0; x < shape_.in_columns; ++x) slot.push_back(inputs_[s][input(n, c, y, x)]);
            }
            at = poke(bench, at, slot);
            operator_values.sources.push_back(source);
        }
        DispatchExtension request;
        request.kernel_count = 1;
        request.rank = static_cast<std::uint16_t>(rank);
        request.dyn_dim = dyn_dim_;
        request.values = &operator_values;
        request.channelwise = which_ == Case::depthwise;
        request.input_offset = operator_values.sources[0].offset;
        request.weight_offset = at;
        const auto slice = [&](const std::vector<std::uint16_t>& all, unsigned each) {
            return std::vector<std::uint16_t>(all.begin() + box.k0 * each, all.begin() + box.k1 * each);
        };
        at = poke(bench, at, slice(weights_, taps()));
        std::vector<std::uint16_t> second;
        for (unsigned n = box.n0; n < box.n1; ++n)
            for (unsigned k = box.k0; k < box.k1; ++k)
                for (unsigned p = box.p0; p < box.p1; ++p)
                    for (unsigned q = 0; q < shape_.out_columns; ++q) second.push_back(second_[output(n, k, p, q)]);
        using Kind = KernelAddresses::Fused::Kind;
        operator_values.epilogue.push_back({Kind::bias, at});
        at = poke(bench, at, slice(bias_, 1));
        operator_values.epilogue.push_back({Kind::add, at});
        at = poke(bench, at, second);
        operator_values.epilogue.push_back({Kind::relu, 0});
        request.output_offset = at;

        CAPTURE(static_cast<int>(which_), rank, dyn_dim_, made_for_);
        REQUIRE(bench.dispatch(request).status == ::tlm::TLM_OK_RESPONSE);
        std::vector<std::uint16_t> results(second.size());
        if (results.empty()) return;
        REQUIRE(bench
                    .access(bench.network, ::tlm::TLM_READ_COMMAND, at, results.data(),
                            static_cast<unsigned>(2 * results.size()))
                    .status == ::tlm::TLM_OK_RESPONSE);
        std::size_t i = 0;
        for (unsigned n = box.n0; n < box.n1; ++n)
            for (unsigned k = box.k0; k < box.k1; ++k)
                for (unsigned p = box.p0; p < box.p1; ++p)
                    for (unsigned q = 0; q < shape_.out_columns; ++q, ++i) {
                        CAPTURE(n, k, p, q);
                        REQUIRE(results[i] == expected(n, k, p, q));
                    }
    }

private:
    using Half = testing::Half;

    unsigned upto(unsigned max) { return 1 + static_cast<unsigned>(random_() % max); }
    bool windowed() const {
        return which_ == Case::convolution || which_ == Case::depthwise || which_ == Case::pool_maximum ||
               which_ == Case::pool_mean;
    }
    bool vector_op() const { return which_ >= Case::pool_maximum; }

    void make_shape() {
        const auto u16 = [](unsigned value) { return static_cast<std::uint16_t>(value); };
        static constexpr OpKind kKinds[] = {OpKind::convolution, OpKind::depthwise, OpKind::matmul,
                                            OpKind::matmul,      OpKind::pool,      OpKind::pool,
                                            OpKind::elementwise, OpKind::merge,     OpKind::merge};
        shape_.kind = kKinds[static_cast<unsigned>(which_)];
        shape_.in_channels = u16(upto(6));
        shape_.out_channels = shape_.channelwise() ? shape_.in_channels : u16(upto(9));
        shape_.in_rows = u16(2 + upto(6));
        shape_.in_columns = u16(2 + upto(6));
        if (windowed()) {
            shape_.filter_rows = u16(upto(3));
            shape_.filter_columns = u16(upto(3));
            shape_.stride = u16(upto(3));
            shape_.pad = u16(random_() % std::min(shape_.filter_rows, shape_.filter_columns));
            shape_.out_rows = u16((shape_.in_rows + 2u * shape_.pad - shape_.filter_rows) / shape_.stride + 1);
            shape_.out_columns = u16((shape_.in_columns + 2u * shape_.pad - shape_.filter_columns) / shape_.stride + 1);
        } else if (which_ == Case::matmul) {
            shape_.in_columns = 1;
            shape_.out_rows = shape_.in_rows;
        } else if (which_ != Case::flattening) {
            shape_.out_rows = shape_.in_rows;
            shape_.out_columns = shape_.in_columns;
        }
    }
    /// c, r, s of the kernel.
    std::vector<unsigned> reduced() const {
        switch (which_) {
            case Case::convolution:
                return {shape_.in_channels, shape_.filter_rows, shape_.filter_columns};
            case Case::flattening:
                return {shape_.in_channels, shape_.in_rows, shape_.in_columns};
            case Case::matmul:
                return {shape_.in_channels, 1, 1};
            case Case::sum:
                return {static_cast<unsigned>(inputs_.size()), 1, 1};
            default:
                return {1, shape_.filter_rows, shape_.filter_columns};
        }
    }
    unsigned taps() const { return reduced()[0] * reduced()[1] * reduced()[2]; }

    void make_kernel(unsigned pe_rows, unsigned pe_columns) {
        const auto u16 = [](unsigned value) { return static_cast<std::uint16_t>(value); };
        const auto loops = reduced();
        kernel_.total = {u16(made_for_),  u16(shape_.out_channels), u16(std::max(1u, loops[0])),
                         shape_.out_rows, shape_.out_columns,       u16(loops[1]),
                         u16(loops[2])};
        kernel_.vector_op = vector_op() ? 1 : 0;
        kernel_.pad = static_cast<std::uint8_t>(shape_.pad);
        for (Dim dim : {Dim::n, Dim::k, Dim::p})
            kernel_.loop(Level::tile, dim).block = u16(upto(std::min<unsigned>(2, kernel_.size(dim))));
        unsigned free_rows = pe_rows;
        std::vector<Dim> row_dims{Dim::n, Dim::p, Dim::q};
        std::shuffle(row_dims.begin(), row_dims.end(), random_);
        for (Dim dim : row_dims) {
            const unsigned lanes = upto(free_rows);
            kernel_.loop(Level::pe, dim).block = u16(lanes);
            free_rows /= lanes;
        }
        kernel_.loop(Level::pe, Dim::k).block = u16(upto(pe_columns));
        kernel_.loop(Level::reg, row_dims[0]).block = u16(upto(2));
        kernel_.loop(Level::reg, Dim::k).block = u16(upto(2));
        std::vector<unsigned> order{0, 1, 2, 3, 4, 5, 6};
        std::shuffle(order.begin(), order.end(), random_);
        for (unsigned d = 0; d < kDims; ++d) {
            const Dim dim = static_cast<Dim>(d);
            const unsigned factors = kernel_.loop(Level::tile, dim).block;
            const unsigned block = unsigned{kernel_.loop(Level::reg, dim).block} * kernel_.loop(Level::pe, dim).block;
            const unsigned part = (kernel_.size(dim) + factors - 1) / factors;
            kernel_.loop(Level::spm, dim).block = u16((part + block - 1) / block);
            kernel_.loop(Level::spm, dim).order = static_cast<std::uint8_t>(order[d]);
        }
        for (Dim dim : {Dim::p, Dim::q})
            kernel_.loop(Level::reg, dim).stride = static_cast<std::uint8_t>(shape_.stride);
    }

    std::vector<std::uint16_t> values(std::size_t count) {
        std::vector<std::uint16_t> all(count);
        for (std::uint16_t& bits : all)
            bits = bits_of(static_cast<Half>(static_cast<float>(static_cast<int>(random_() % 2001) - 1000) / 256.0f));
        return all;
    }
    std::size_t input(unsigned n, unsigned c, unsigned y, unsigned x) const {
        return ((std::size_t{n} * shape_.in_channels + c) * shape_.in_rows + y) * shape_.in_columns + x;
    }
    std::size_t output(unsigned n, unsigned k, unsigned p, unsigned q) const {
        return ((std::size_t{n} * shape_.out_channels + k) * shape_.out_rows + p) * shape_.out_columns + q;
    }
    static std::uint32_t poke(ComputeBench& bench, std::uint32_t at, std::vector<std::uint16_t> values) {
        const unsigned bytes = static_cast<unsigned>(2 * values.size());
        if (bytes > 0)
            REQUIRE(bench.access(bench.network, ::tlm::TLM_WRITE_COMMAND, at, values.data(), bytes).status ==
                    ::tlm::TLM_OK_RESPONSE);
        return at + (bytes + 63) / 64 * 64;
    }
    static std::uint16_t bits_of(Half half) {
        std::uint16_t bits = 0;
        std::memcpy(&bits, &half, sizeof bits);
        return bits;
    }
    static float number(std::uint16_t bits) {
        Half half;
        std::memcpy(&half, &bits, sizeof half);
        return static_cast<float>(half);
    }

    float reduce(unsigned n, unsigned k, unsigned p, unsigned q) const {
        float sum = 0;
        if (which_ == Case::choice) return number(inputs_[chosen_[n]][input(n, k, p, q)]);
        if (which_ == Case::elementwise || which_ == Case::sum) {
            for (const auto& source : inputs_) sum += number(source[input(n, k, p, q)]);
            return sum;
        }
        if (which_ == Case::flattening || which_ == Case::matmul) {
            unsigned tap = k * taps();
            for (unsigned c = 0; c < shape_.in_channels; ++c)
                for (unsigned y = 0; y < (which_ == Case::matmul ? 1u : shape_.in_rows); ++y)
                    for (unsigned x = 0; x < shape_.in_columns; ++x)
                        sum += number(inputs_[0][input(n, c, which_ == Case::matmul ? p : y, x)]) *
                               number(weights_[tap++]);
            return sum;
        }
        unsigned tap = k * taps();
        float max = -INFINITY;
        for (unsigned c = 0; c < reduced()[0]; ++c) {
            for (unsigned r = 0; r < shape_.filter_rows; ++r) {
                for (unsigned s = 0; s < shape_.filter_columns; ++s, ++tap) {
                    const int y = static_cast<int>(p * shape_.stride + r) - shape_.pad;
                    const int x = static_cast<int>(q * shape_.stride + s) - shape_.pad;
                    const bool inside = y >= 0 && y < shape_.in_rows && x >= 0 && x < shape_.in_columns;
                    if (!inside && vector_op()) continue;
                    const float value =
                        inside ? number(inputs_[0][input(n, shape_.channelwise() ? k : c, static_cast<unsigned>(y),
                                                         static_cast<unsigned>(x))])
                               : 0.0f;
                    max = std::max(max, value);
                    sum += vector_op() ? value : value * number(weights_[tap]);
                }
            }
        }
        if (which_ == Case::pool_maximum) return max;
        return which_ == Case::pool_mean ? sum / static_cast<float>(taps()) : sum;
    }
    std::uint16_t expected(unsigned n, unsigned k, unsigned p, unsigned q) const {
        float value = reduce(n, k, p, q) + number(bias_[k]);
        value += number(second_[output(n, k, p, q)]);
        return bits_of(static_cast<Half>(value > 0 ? value : 0.0f));
    }

    Case which_;
    std::mt19937& random_;
    OperatorShape shape_;
    Kernel kernel_;
    unsigned made_for_ = 1, dyn_dim_ = 1;
    std::vector<std::vector<std::uint16_t>> inputs_;
    std::vector<unsigned> chosen_;  ///< of each sample: its source, if there is but one
    std::vector<std::uint16_t> weights_, second_, bias_;
};

}  // namespace switchyard::testing
