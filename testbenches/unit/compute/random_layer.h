// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "switchyard/testbenches/unit/compute/array_bench.h"

namespace switchyard::testing {

/// A layer with random sizes, values and fused steps, as blocks for a PE array with addresses made by hand, and its
/// result by a plain loop over the tensors. The loop is independent of the models: the host's float and double in the
/// same order of accumulation, rounded to binary16 by the C library. Some layers add up or hand on partial sums in
/// binary32, some keep a logit in binary32 on the way out.
class RandomLayer {
public:
    enum class Kind { convolution, depthwise, pool_maximum, pool_mean, merge };
    struct Limits {
        unsigned rows = 4, columns = 4;  ///< of the array
        bool acc_fp16 = false;
        bool specials = false;  ///< infinities, NaNs, subnormals
        bool large = false;
        bool apart = false;  ///< there may be a gap between the planes of a convolution's input
    };

    RandomLayer(Kind kind, const Limits& limits, std::mt19937& random, std::uint32_t base)
        : kind_(kind), limits_(limits), random_(random), next_address_(base) {
        const auto upto = [&](unsigned max) { return 1 + static_cast<unsigned>(random_() % max); };
        const bool windowed = kind != Kind::merge && random_() % 4 != 0;
        samples_ = upto(limits.large ? 8 : 3);
        outs_ = upto(limits.large ? 40 : 2 * limits.columns + 1);
        ins_ = kind == Kind::convolution ? upto(limits.large ? 24 : 5) : outs_;
        rows_ = windowed ? 2 + upto(5) : 1;  // without a window: a matmul
        columns_ = windowed ? 2 + upto(5) : 1;
        filter_ = windowed ? upto(3) : 1;
        stride_ = windowed ? upto(2) : 1;
        pad_ = windowed ? static_cast<unsigned>(random_() % filter_) : 0;
        sources_ = kind == Kind::merge ? upto(4) : 1;
        if (!vector_op()) pick_registers();
        kernel_.wide_inputs = kind == Kind::merge && random_() % 2 == 0;
        kernel_.wide_output = random_() % 3 == 0;
        plane_ = rows_ * columns_;
        if (limits.apart && kind == Kind::convolution) plane_ += static_cast<unsigned>(random_() % 3);
        for (unsigned s = 0; s < sources_; ++s)
            inputs_.push_back(tensor(samples_ * ins_ * plane_, kernel_.wide_inputs));
        if (!vector_op()) weights_ = tensor(outs_ * reduced_channels() * filter_ * filter_);
        second_ = tensor(results(), random_() % 2 == 0);
        bias_ = tensor(outs_);
        scale_ = tensor(outs_);
        logits_ = next_address_;
        kernel_.output = next_address_ + static_cast<std::uint32_t>(4 * results());
        pick_epilogue();
        make_steps();
        for (unsigned i = 0; i < samples_ * sources_; ++i) absent_.push_back(sources_ > 1 && random_() % 3 == 0);
    }

    enum class Operand { inputs, weights };
    /// Other values of an operand, or of one element of it, where the old ones lay.
    void renew(Operand operand, bool one_element) {
        std::vector<std::uint16_t>& values = operand == Operand::weights ? weights_.values : inputs_.front().values;
        const std::size_t only = random_() % values.size();
        for (std::size_t i = 0; i < values.size(); ++i)
            if (!one_element || i == only) values[i] = random_value();
    }

    /// Runs all blocks, result after result into the scratchpad; cycles of the array.
    std::uint64_t run(ArrayBench& bench) const {
        std::uint64_t cycles = 0;
        REQUIRE(!run_until_refused(bench, &cycles));
        return cycles;
    }

    /// The same; true if the array refused a command, and the rest was not run.
    bool run_until_refused(ArrayBench& bench, std::uint64_t* cycles = nullptr) const {
        std::vector<const Tensor*> tensors{&weights_, &second_, &bias_, &scale_};
        for (const Tensor& input : inputs_) tensors.push_back(&input);
        for (const Tensor* tensor : tensors)
            if (!tensor->values.empty()) bench.poke(tensor->address, tensor->values);
        const std::vector<Block> blocks = make_blocks();
        for (std::size_t i = 0; i < blocks.size();) {
            std::size_t end = i + 1;
            while (end < blocks.size() && blocks[end].same_size(blocks[i])) ++end;
            std::vector<BlockAddresses> addresses;
            for (std::size_t n = i; n < end; ++n) addresses.push_back(blocks[n].addresses);
            PeWorkExtension work;
            work.vector_op = vector_op();
            work.channelwise = kind_ == Kind::depthwise;
            work.operand_bytes = kernel_.wide_inputs ? 4 : 2;
            work.result_bytes = kernel_.wide_output ? 4 : 2;
            work.rows = blocks[i].rows;
            work.columns = blocks[i].columns;
            work.row_outputs = row_outputs_;
            work.column_outputs = column_outputs_;
            work.reduction = static_cast<std::uint32_t>(kernel_.steps.size());
            work.repeats = end - i;
            work.first = i == 0;
            work.last = end == blocks.size();
            work.addresses = addresses.data();
            if (bench.run(work) != ::tlm::TLM_OK_RESPONSE) return true;
            if (cycles != nullptr) *cycles += work.cycles;
            i = end;
        }
        return false;
    }

    /// Results, of binary32 the lower half first, and behind them the logits that were kept.
    std::vector<std::uint16_t> results_of(ArrayBench& bench) const {
        std::vector<std::uint16_t> all = bench.peek(kernel_.output, results() * (kernel_.wide_output ? 2 : 1));
        if (!keeps_logits()) return all;
        const std::vector<std::uint16_t> logits = bench.peek(logits_, 2 * results());
        all.insert(all.end(), logits.begin(), logits.end());
        return all;
    }

    std::vector<std::uint16_t> expected() const {
        std::vector<std::uint16_t> all, logits;
        for (unsigned n = 0; n < samples_; ++n) {
            for (unsigned k = 0; k < outs_; ++k) {
                for (unsigned p = 0; p < out_rows(); ++p) {
                    for (unsigned q = 0; q < out_columns(); ++q) {
                        float logit = 0;
                        const float value = expected(n, k, p, q, logit);
                        if (kernel_.wide_output)
                            append(all, value);
                        else
                            all.push_back(rounded(double{value}));
                        if (keeps_logits()) append(logits, logit);
                    }
                }
            }
        }
        all.insert(all.end(), logits.begin(), logits.end());
        return all;
    }

private:
    struct Tensor {
        std::uint32_t address = 0;
        std::vector<std::uint16_t> values;
        bool wide = false;  ///< binary32, the lower half first
    };
    struct Block {
        std::uint32_t rows = 1, columns = 1;
        BlockAddresses addresses;
        bool same_size(const Block& o) const { return rows == o.rows && columns == o.columns; }
    };

    bool vector_op() const { return kind_ != Kind::convolution && kind_ != Kind::depthwise; }
    bool channelwise() const { return kind_ != Kind::convolution; }
    unsigned reduced_channels() const { return channelwise() ? 1 : ins_; }
    unsigned out_rows() const { return (rows_ + 2 * pad_ - filter_) / stride_ + 1; }
    unsigned out_columns() const { return (columns_ + 2 * pad_ - filter_) / stride_ + 1; }
    std::size_t results() const { return std::size_t{samples_} * outs_ * out_rows() * out_columns(); }

    /// Within 64 bytes of registers.
    void pick_registers() {
        const unsigned bytes = limits_.acc_fp16 ? 2 : 4;
        do {
            row_outputs_ = 1 + static_cast<unsigned>(random_() % 4);
            column_outputs_ = 1 + static_cast<unsigned>(random_() % 4);
        } while (2 * bytes * row_outputs_ * column_outputs_ + 2 * (row_outputs_ + column_outputs_) > 64);
    }

    void pick_epilogue() {
        using Fused = KernelAddresses::Fused;
        if (random_() % 4 == 0) kernel_.epilogue.push_back({Fused::Kind::scale, scale_.address});
        if (random_() % 2 == 0) kernel_.epilogue.push_back({Fused::Kind::bias, bias_.address});
        if (random_() % 4 == 0) kernel_.epilogue.push_back({Fused::Kind::add, second_.address, second_.wide});
        if (random_() % 4 == 0) kernel_.epilogue.push_back({Fused::Kind::keep, logits_});
        const unsigned activation = random_() % 4;
        if (activation == 0) kernel_.epilogue.push_back({Fused::Kind::sigmoid, 0});
        if (activation >= 2) kernel_.epilogue.push_back({Fused::Kind::relu, 0});
    }

    std::uint16_t random_value() {
        if (limits_.specials && random_() % 16 == 0) return static_cast<std::uint16_t>(random_());
        // Of either sign, from 2^-7 up to 2: sums neither vanish nor overflow.
        const unsigned exponent = 8 + random_() % 8;
        return static_cast<std::uint16_t>((random_() & 0x8000u) | exponent << 10 | (random_() & 0x3FFu));
    }

    Tensor tensor(std::size_t elements, bool wide = false) {
        Tensor result{next_address_, {}, wide};
        for (std::size_t i = 0; i < elements; ++i) {
            const std::uint16_t value = random_value();
            if (!wide) {
                result.values.push_back(value);
                continue;
            }
            std::uint32_t bits = bits_of(number(value));
            if ((bits & 0x7F800000) != 0x7F800000) bits |= random_() & 0x1FFFu;  // what binary16 does not have
            append(result.values, bits);
        }
        next_address_ += static_cast<std::uint32_t>(2 * result.values.size());
        return result;
    }

    bool keeps_logits() const {
        return std::any_of(kernel_.epilogue.begin(), kernel_.epilogue.end(), [](const KernelAddresses::Fused& fused) {
            return fused.kind == KernelAddresses::Fused::Kind::keep;
        });
    }

    void make_steps() {
        kernel_.rows = static_cast<int>(rows_);
        kernel_.columns = static_cast<int>(columns_);
        if (kind_ == Kind::pool_maximum) kernel_.reduce = KernelAddresses::Reduce::maximum;
        if (kind_ == Kind::pool_mean) kernel_.reduce = KernelAddresses::Reduce::mean;
        if (kind_ == Kind::merge) kernel_.steps.resize(sources_);
        for (unsigned c = 0; kind_ != Kind::merge && c < reduced_channels(); ++c) {
            for (unsigned r = 0; r < filter_; ++r) {
                for (unsigned s = 0; s < filter_; ++s) {
                    KernelAddresses::Step step;
                    step.input = static_cast<int>(2 * (c * plane_ + r * columns_ + s));
                    step.weights = static_cast<int>(2 * ((c * filter_ + r) * filter_ + s));
                    step.y = static_cast<int>(r);
                    step.x = static_cast<int>(s);
                    kernel_.steps.push_back(step);
                }
            }
        }
    }

    std::vector<Block> make_blocks() const {
        const unsigned all_rows = samples_ * out_rows() * out_columns();
        const unsigned block_rows = limits_.rows * row_outputs_, block_columns = limits_.columns * column_outputs_;
        const auto ceil = [](unsigned a, unsigned b) { return (a + b - 1) / b; };
        std::vector<Block> blocks;
        for (unsigned row = 0; row < all_rows; row += block_rows) {
            for (unsigned column = 0; column < outs_; column += block_columns) {
                Block block;
                block.rows = ceil(std::min(all_rows - row, block_rows), row_outputs_);
                block.columns = ceil(std::min(outs_ - column, block_columns), column_outputs_);
                block.addresses.kernel = &kernel_;
                for (unsigned i = row; i < row + block.rows * row_outputs_; ++i) {
                    block.addresses.rows.push_back(row_address(i, all_rows));
                    for (unsigned s = 0; kind_ == Kind::merge && s < sources_; ++s)
                        block.addresses.inputs.push_back(source_address(i, s, all_rows));
                }
                for (unsigned j = column; j < column + block.columns * column_outputs_; ++j)
                    block.addresses.columns.push_back(column_address(j));
                blocks.push_back(std::move(block));
            }
        }
        return blocks;
    }

    BlockAddresses::Row row_address(unsigned row, unsigned all_rows) const {
        BlockAddresses::Row address;
        if (row >= all_rows) {
            address.output = BlockAddresses::kUnwanted;
            return address;
        }
        const unsigned n = row / (out_rows() * out_columns()), p = row / out_columns() % out_rows(),
                       q = row % out_columns();
        address.y = static_cast<int>(p * stride_) - static_cast<int>(pad_);
        address.x = static_cast<int>(q * stride_) - static_cast<int>(pad_);
        address.input = static_cast<int>(inputs_[0].address + 2 * n * ins_ * plane_) +
                        2 * (address.y * static_cast<int>(columns_) + address.x);
        address.output = address.second = 2 * ((n * outs_ * out_rows() + p) * out_columns() + q);
        return address;
    }

    BlockAddresses::Column column_address(unsigned k) const {
        BlockAddresses::Column address;
        if (k >= outs_) {
            address.output = BlockAddresses::kUnwanted;
            return address;
        }
        address.channel = k;
        address.output = 2 * k * out_rows() * out_columns();
        address.weights = static_cast<int>(weights_.address + 2 * k * reduced_channels() * filter_ * filter_);
        if (channelwise()) address.input = static_cast<int>(2 * k * plane_);
        return address;
    }

    std::int32_t source_address(unsigned row, unsigned source, unsigned all_rows) const {
        const unsigned of_a_channel = plane_, n = row / of_a_channel;
        if (row >= all_rows || absent_[n * sources_ + source]) return BlockAddresses::kAbsent;
        return static_cast<int>(inputs_[source].address +
                                (kernel_.wide_inputs ? 4 : 2) * (n * ins_ * of_a_channel + row % of_a_channel));
    }

    // ---- The plain loop ----

    static std::uint32_t bits_of(float value) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, &value, sizeof bits);
        return std::isnan(value) ? 0x7FC00000 : bits;
    }
    static void append(std::vector<std::uint16_t>& halves, std::uint32_t bits) {
        halves.push_back(static_cast<std::uint16_t>(bits));
        halves.push_back(static_cast<std::uint16_t>(bits >> 16));
    }
    static void append(std::vector<std::uint16_t>& halves, float value) { append(halves, bits_of(value)); }
    static float element(const Tensor& tensor, std::size_t index) {
        if (!tensor.wide) return number(tensor.values[index]);
        const std::uint32_t bits = tensor.values[2 * index] | std::uint32_t{tensor.values[2 * index + 1]} << 16;
        float value = 0;
        std::memcpy(&value, &bits, sizeof value);
        return value;
    }

    static float number(std::uint16_t bits) {
        const int exponent = bits >> 10 & 0x1F, fraction = bits & 0x3FF;
        double magnitude = std::ldexp(exponent == 0 ? fraction : 1024 + fraction, std::max(exponent, 1) - 25);
        if (exponent == 31) magnitude = fraction == 0 ? HUGE_VAL : std::nan("");
        return static_cast<float>((bits & 0x8000) != 0 ? -magnitude : magnitude);
    }
    /// To the nearest multiple of the last place that its binade has, ties to even.
    static std::uint16_t rounded(double value) {
        if (std::isnan(value)) return 0x7E00;
        const unsigned sign = std::signbit(value) ? 0x8000 : 0;
        if (std::abs(value) >= 65520) return static_cast<std::uint16_t>(sign | 0x7C00);
        const int binade = value == 0 ? -14 : std::max(std::ilogb(value), -14);
        const auto places = static_cast<unsigned>(std::nearbyint(std::ldexp(std::abs(value), 10 - binade)));
        return static_cast<std::uint16_t>(sign | (static_cast<unsigned>(binade + 14) * 1024 + places));
    }
    bool inside(int y, int x) const {
        return y >= 0 && x >= 0 && y < static_cast<int>(rows_) && x < static_cast<int>(columns_);
    }
    float input(unsigned source, unsigned n, unsigned c, int y, int x) const {
        if (!inside(y, x)) return 0;
        const std::size_t plane = n * ins_ + c;
        return element(inputs_[source],
                       plane * plane_ + static_cast<unsigned>(y) * columns_ + static_cast<unsigned>(x));
    }

    float expected(unsigned n, unsigned k, unsigned p, unsigned q, float& logit) const {
        using Fused = KernelAddresses::Fused;
        const int top = static_cast<int>(p * stride_) - static_cast<int>(pad_);
        const int left = static_cast<int>(q * stride_) - static_cast<int>(pad_);
        float value = vector_op() ? reduced(n, k, top, left) : multiplied(n, k, top, left);
        const unsigned at = ((n * outs_ + k) * out_rows() + p) * out_columns() + q;
        for (const Fused& fused : kernel_.epilogue) {
            if (fused.kind == Fused::Kind::bias) value = value + number(bias_.values[k]);
            if (fused.kind == Fused::Kind::scale) value = value * number(scale_.values[k]);
            if (fused.kind == Fused::Kind::add) value = value + element(second_, at);
            if (fused.kind == Fused::Kind::keep) logit = value;
            if (fused.kind == Fused::Kind::relu) value = value > 0 || std::isnan(value) ? value : 0;
            if (fused.kind == Fused::Kind::sigmoid)
                value = static_cast<float>(1.0 / (1.0 + std::exp(-static_cast<double>(value))));
        }
        return value;
    }

    float multiplied(unsigned n, unsigned k, int top, int left) const {
        float sum = 0;
        for (unsigned c = 0; c < reduced_channels(); ++c) {
            for (unsigned r = 0; r < filter_; ++r) {
                for (unsigned s = 0; s < filter_; ++s) {
                    const float a =
                        input(0, n, channelwise() ? k : c, top + static_cast<int>(r), left + static_cast<int>(s));
                    const float b = number(weights_.values[((k * reduced_channels() + c) * filter_ + r) * filter_ + s]);
                    sum = limits_.acc_fp16 ? number(rounded(double{a} * double{b} + double{sum})) : sum + a * b;
                }
            }
        }
        return sum;
    }

    float reduced(unsigned n, unsigned k, int top, int left) const {
        std::vector<float> elements;
        for (unsigned source = 0; source < sources_; ++source) {
            if (absent_[n * sources_ + source]) continue;
            for (int y = top; y < top + static_cast<int>(filter_); ++y)
                for (int x = left; x < left + static_cast<int>(filter_); ++x)
                    if (inside(y, x)) elements.push_back(input(source, n, k, y, x));
        }
        if (elements.empty()) return 0;
        float result = elements[0];
        for (std::size_t i = 1; i < elements.size(); ++i) {
            const float next = elements[i];
            if (kind_ != Kind::pool_maximum)
                result = limits_.acc_fp16 && !kernel_.wide_inputs ? number(rounded(double{result} + double{next}))
                                                                  : result + next;
            else if (std::isnan(result) || std::isnan(next))
                result = std::numeric_limits<float>::quiet_NaN();
            else
                result = std::max(result, next);
        }
        return kind_ == Kind::pool_mean ? result / static_cast<float>(filter_ * filter_) : result;
    }

    Kind kind_;
    Limits limits_;
    std::mt19937& random_;
    std::uint32_t next_address_;
    unsigned samples_ = 1, outs_ = 1, ins_ = 1, rows_ = 1, columns_ = 1, filter_ = 1, stride_ = 1, pad_ = 0;
    unsigned plane_ = 1;  ///< elements from one channel to the next
    unsigned sources_ = 1, row_outputs_ = 1, column_outputs_ = 1;
    std::uint32_t logits_ = 0;  ///< where they are kept
    std::vector<Tensor> inputs_;
    Tensor weights_, second_, bias_, scale_;
    std::vector<bool> absent_;  ///< [sample][source]
    KernelAddresses kernel_;
};

}  // namespace switchyard::testing
