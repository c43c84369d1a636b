// SPDX-License-Identifier: Apache-2.0
// What works on the tokens of a sample or an input - attention, steps across channels, positions, factors, pools over
// samples - on dispatcher, PE array and scratchpad, against the formulas in binary64.

#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "switchyard/testbenches/cosim/seed.h"
#include "switchyard/testbenches/half.h"
#include "switchyard/testbenches/sim_test.h"
#include "switchyard/testbenches/unit/compute/compute_bench.h"

using namespace switchyard;
using namespace switchyard::testing;

namespace {

constexpr double kHalf = 0x1p-11;    ///< rounding to binary16, relative
constexpr double kSingle = 0x1p-24;  ///< the same of binary32
constexpr double kTiny = 0x1p-24;    ///< absolute: of subnormal binary16
constexpr unsigned kRows = 6, kColumns = 4;

using Fused = KernelAddresses::Fused;
using Across = KernelAddresses::Across;

double number(std::uint16_t bits) {
    Half half;
    std::memcpy(&half, &bits, sizeof half);
    return static_cast<double>(static_cast<float>(half));
}

std::vector<std::uint16_t> random_halves(std::mt19937& random, std::size_t count) {
    std::vector<std::uint16_t> values(count);
    for (std::uint16_t& bits : values) {
        const auto half = static_cast<Half>(static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 512.0f);
        std::memcpy(&bits, &half, sizeof bits);
    }
    return values;
}

struct Factors {
    unsigned n = 1, k = 1, p = 1;
};

/// One operator on one tensor of binary16, all ranks of it one after another.
struct Case {
    OperatorShape shape;
    unsigned samples = 8, reduction = 1;
    Factors factors;
    bool vector_op = false;
    KernelAddresses::Reduce reduce = KernelAddresses::Reduce::sum;
    std::vector<std::uint16_t> input, weights;
    std::vector<std::uint32_t> first_tokens;

    std::size_t in_at(std::size_t n, std::size_t c, std::size_t row) const {
        return (n * shape.in_channels + c) * shape.in_rows + row;
    }
    double in(std::size_t n, std::size_t c, std::size_t row) const { return number(input[in_at(n, c, row)]); }

    Kernel kernel() const {
        const auto u16 = [](unsigned value) { return static_cast<std::uint16_t>(value); };
        Kernel made;
        made.total = {u16(samples), shape.out_channels, u16(reduction), shape.out_rows, 1, 1, 1};
        made.vector_op = vector_op ? 1 : 0;
        made.loop(Level::spm, Dim::c).block = u16(reduction);
        const auto cut = [&](Dim dim, unsigned tiles, unsigned pes) {
            const unsigned part = (made.size(dim) + tiles - 1) / tiles;
            made.loop(Level::tile, dim).block = u16(tiles);
            made.loop(Level::pe, dim).block = u16(std::min(part, pes));
            made.loop(Level::spm, dim).block = u16((part + std::min(part, pes) - 1) / std::min(part, pes));
        };
        cut(Dim::n, factors.n, 3);
        cut(Dim::p, factors.p, 2);
        cut(Dim::k, factors.k, kColumns);
        return made;
    }
};

/// What a case adds to the scratchpad for its epilogue: returns the next free place.
using Setup =
    std::function<std::uint32_t(ComputeBench& bench, std::uint32_t at, const Box& box, OperatorValues& values)>;

std::uint32_t poke(ComputeBench& bench, std::uint32_t at, std::vector<std::uint16_t> values) {
    const auto bytes = static_cast<unsigned>(2 * values.size());
    if (bytes > 0)
        REQUIRE(bench.access(bench.network, ::tlm::TLM_WRITE_COMMAND, at, values.data(), bytes).status ==
                ::tlm::TLM_OK_RESPONSE);
    return at + (bytes + 63) / 64 * 64;
}

/// Results of a rank, in the order of its output slot.
std::vector<std::uint16_t> results_of(ComputeBench& bench, const Case& one, unsigned rank, const Box& box,
                                      const Setup& setup) {
    OperatorValues values;
    values.shape = one.shape;
    values.reduce = one.reduce;
    values.first_tokens = one.first_tokens;
    const Box in = input_box(one.shape, box);
    std::vector<std::uint16_t> slot;
    for (unsigned n = in.n0; n < in.n1; ++n)
        for (unsigned c = in.k0; c < in.k1; ++c)
            for (unsigned row = in.p0; row < in.p1; ++row) slot.push_back(one.input[one.in_at(n, c, row)]);
    constexpr std::uint32_t kInput = 0x8000;
    values.sources.push_back({kInput, {}});
    DispatchExtension request;
    request.kernel_count = 1;
    request.rank = static_cast<std::uint16_t>(rank);
    request.dyn_dim = one.samples;
    request.values = &values;
    request.input_offset = kInput;
    request.weight_offset = poke(bench, kInput, slot);
    const auto taps = static_cast<std::ptrdiff_t>(one.weights.size() / one.shape.out_channels);
    std::uint32_t at =
        poke(bench, request.weight_offset, {one.weights.begin() + box.k0 * taps, one.weights.begin() + box.k1 * taps});
    at = setup(bench, at, box, values);
    request.output_offset = at;
    std::vector<std::uint16_t> results(std::size_t{box.n1 - box.n0} * (box.k1 - box.k0) * (box.p1 - box.p0));
    values.across.kept = static_cast<std::uint32_t>(at + (2 * results.size() + 63) / 64 * 64);
    REQUIRE(bench.dispatch(request).status == ::tlm::TLM_OK_RESPONSE);
    if (!results.empty())
        REQUIRE(bench
                    .access(bench.network, ::tlm::TLM_READ_COMMAND, at, results.data(),
                            static_cast<unsigned>(2 * results.size()))
                    .status == ::tlm::TLM_OK_RESPONSE);
    return results;
}

struct Expected {
    double value = 0, bound = 0;
};
using Formula = std::function<Expected(unsigned n, unsigned k, unsigned p)>;

/// On models of both kinds, which must agree bit by bit.
void check(const Case& one, const Setup& setup, const Formula& formula, const std::string& acc = "fp32") {
    in_child([&] {
        ComputeConfig fast;
        fast.pe_array.rows = kRows;
        fast.pe_array.columns = kColumns;
        fast.pe_array.acc = acc;
        ComputeConfig stepped = fast;
        stepped.pe_array.impl = "cycle";
        stepped.dispatcher.impl = "walk";
        ComputeBench first("first", fast), second("second", stepped);
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
        for (ComputeBench* bench : {&first, &second})
            REQUIRE(bench->load({one.kernel()}).status == ::tlm::TLM_OK_RESPONSE);
        Partition partition;
        partition.dyn_dim = static_cast<std::uint16_t>(one.samples);
        partition.n = static_cast<std::uint16_t>(one.factors.n);
        partition.p = static_cast<std::uint16_t>(one.factors.p);
        REQUIRE(keeps_groups(one.shape, partition));
        for (unsigned rank = 0; rank < one.factors.n * one.factors.k * one.factors.p; ++rank) {
            const Box box = output_box(one.shape, partition, one.factors.k, rank, one.samples);
            CAPTURE(rank);
            const std::vector<std::uint16_t> results = results_of(first, one, rank, box, setup);
            sc_core::sc_start(1, sc_core::SC_MS);
            CHECK(results_of(second, one, rank, box, setup) == results);
            sc_core::sc_start(1, sc_core::SC_MS);
            std::size_t i = 0;
            for (unsigned n = box.n0; n < box.n1; ++n)
                for (unsigned k = box.k0; k < box.k1; ++k)
                    for (unsigned p = box.p0; p < box.p1; ++p, ++i) {
                        const Expected expected = formula(n, k, p);
                        CAPTURE(n, k, p, expected.value, expected.bound, number(results[i]));
                        CHECK(std::abs(number(results[i]) - expected.value) <= expected.bound);
                    }
        }
    });
}

std::uint32_t no_setup(ComputeBench&, std::uint32_t at, const Box&, OperatorValues&) {
    return at;
}

OperatorShape tokens_shape(OpKind kind, unsigned in_channels, unsigned out_channels, unsigned rows) {
    OperatorShape shape;
    shape.kind = kind;
    shape.in_channels = static_cast<std::uint16_t>(in_channels);
    shape.out_channels = static_cast<std::uint16_t>(out_channels);
    shape.in_rows = shape.out_rows = static_cast<std::uint16_t>(rows);
    return shape;
}

/// softmax(q . k[j] / sqrt(d)) v[j] of one output; element(c, j): of token j in the sample or input.
Expected attended(unsigned heads, unsigned channels, unsigned tokens, unsigned query, unsigned k,
                  const std::function<double(unsigned c, unsigned j)>& element, double accumulation) {
    const unsigned d = channels / heads, first = k / d * 3 * d;
    std::vector<double> scores;
    double largest = -INFINITY, score_error = 0, sum = 0;
    for (unsigned j = 0; j < tokens; ++j) {
        double score = 0, magnitude = 0;
        for (unsigned c = 0; c < d; ++c) {
            const double product = element(first + c, query) * element(first + d + c, j);
            score += product;
            magnitude += std::abs(product);
        }
        scores.push_back(score / std::sqrt(d));
        score_error = std::max(score_error, (d * accumulation + 3 * kSingle) * magnitude / std::sqrt(d));
        largest = std::max(largest, scores.back());
    }
    for (double& score : scores) sum += score = std::exp(score - largest);
    double value = 0, magnitude = 0;
    for (unsigned j = 0; j < tokens; ++j) {
        const double product = scores[j] / sum * element(first + 2 * d + k % d, j);
        value += product;
        magnitude += std::abs(product);
    }
    // Errors of two scores change a probability by their sum; a probability, each addition and the result are rounded.
    const double relative = 2.1 * score_error + kHalf + (tokens + 8) * accumulation;
    return {value, relative * magnitude + kHalf * std::abs(value) + tokens * kTiny};
}

}  // namespace

TEST_CASE("attention over the tokens of a sample", "[values][attention]") {
    INFO("SWITCHYARD_SEED=" << random_seed());
    std::mt19937 random(static_cast<unsigned>(random_seed()));
    for (const std::string acc : {"fp32", "fp16"}) {
        for (const unsigned heads : {1u, 4u}) {
            for (const Factors factors : {Factors{1, 1, 1}, Factors{2, 1, 3}, Factors{1, 4, 2}, Factors{3, 3, 1}}) {
                CAPTURE(acc, heads, factors.n, factors.k, factors.p);
                Case one;
                one.shape = tokens_shape(OpKind::attention, 48, 16, 7);
                one.shape.heads = static_cast<std::uint16_t>(heads);
                one.samples = 5;
                one.reduction = 14;
                one.factors = factors;
                one.input = random_halves(random, 5 * 48 * 7);
                check(
                    one, no_setup,
                    [&](unsigned n, unsigned k, unsigned p) {
                        const auto element = [&](unsigned c, unsigned j) { return one.in(n, c, j); };
                        return attended(heads, 16, 7, p, k, element, acc == "fp16" ? kHalf : kSingle);
                    },
                    acc);
            }
        }
    }
}

TEST_CASE("attention over the samples of an input", "[values][attention]") {
    INFO("SWITCHYARD_SEED=" << random_seed());
    std::mt19937 random(static_cast<unsigned>(random_seed()));
    for (const unsigned heads : {1u, 2u}) {
        for (const Factors factors : {Factors{1, 1, 1}, Factors{3, 1, 1}, Factors{1, 2, 1}}) {
            CAPTURE(heads, factors.n, factors.k);
            Case one;
            one.shape = tokens_shape(OpKind::attention, 24, 8, 1);
            one.shape.heads = static_cast<std::uint16_t>(heads);
            one.shape.joined = 4;
            one.samples = 12;
            one.reduction = 8;
            one.factors = factors;
            one.input = random_halves(random, 12 * 24);
            check(one, no_setup, [&](unsigned n, unsigned k, unsigned) {
                const auto element = [&](unsigned c, unsigned j) { return one.in(n / 4 * 4 + j, c, 0); };
                return attended(heads, 8, 4, n % 4, k, element, kSingle);
            });
        }
    }
}

TEST_CASE("a pool over the samples of an input", "[values]") {
    INFO("SWITCHYARD_SEED=" << random_seed());
    std::mt19937 random(static_cast<unsigned>(random_seed()));
    for (const bool mean : {true, false}) {
        for (const Factors factors : {Factors{1, 1, 1}, Factors{3, 2, 2}}) {
            CAPTURE(mean, factors.n);
            Case one;
            one.shape = tokens_shape(OpKind::pool, 5, 5, 3);
            one.shape.joined = 4;
            one.samples = 12;
            one.reduction = 4;
            one.factors = factors;
            one.vector_op = true;
            one.reduce = mean ? KernelAddresses::Reduce::mean : KernelAddresses::Reduce::maximum;
            one.input = random_halves(random, 12 * 5 * 3);
            check(one, no_setup, [&](unsigned n, unsigned k, unsigned p) {
                double sum = 0, largest = -INFINITY;
                for (unsigned j = 0; j < 4; ++j) {
                    sum += one.in(n / 4 * 4 + j, k, p);
                    largest = std::max(largest, one.in(n / 4 * 4 + j, k, p));
                }
                return mean ? Expected{sum / 4, kHalf * std::abs(sum / 4) + kTiny} : Expected{largest, 0};
            });
        }
    }
}

namespace {

/// A matmul of 6 channels to `channels` on 3 tokens.
Case matmul_of(std::mt19937& random, unsigned channels, const Factors& factors) {
    Case one;
    one.shape = tokens_shape(OpKind::matmul, 6, channels, 3);
    one.samples = 7;
    one.reduction = 6;
    one.factors = factors;
    one.input = random_halves(random, 7 * 6 * 3);
    one.weights = random_halves(random, std::size_t{channels} * 6);
    return one;
}

double product_of(const Case& one, unsigned n, unsigned k, unsigned p) {
    double sum = 0;
    for (unsigned c = 0; c < 6; ++c) sum += one.in(n, c, p) * number(one.weights[k * 6 + c]);
    return sum;
}

}  // namespace

TEST_CASE("a layer norm behind a matmul, its bias and an addition", "[values][across]") {
    INFO("SWITCHYARD_SEED=" << random_seed());
    std::mt19937 random(static_cast<unsigned>(random_seed()));
    constexpr unsigned kChannels = 11;  // several blocks of columns, the last one short
    for (const Factors factors : {Factors{1, 1, 1}, Factors{2, 1, 3}}) {
        const Case one = matmul_of(random, kChannels, factors);
        const auto bias = random_halves(random, kChannels), gain = random_halves(random, kChannels),
                   offset = random_halves(random, kChannels), second = random_halves(random, 7 * kChannels * 3);
        const auto setup = [&](ComputeBench& bench, std::uint32_t at, const Box& box, OperatorValues& values) {
            values.epilogue.push_back({Fused::Kind::bias, at});
            at = poke(bench, at, bias);
            values.epilogue.push_back({Fused::Kind::add, at});
            std::vector<std::uint16_t> slot;
            for (unsigned n = box.n0; n < box.n1; ++n)
                for (unsigned k = 0; k < kChannels; ++k)
                    for (unsigned p = box.p0; p < box.p1; ++p) slot.push_back(second[(n * kChannels + k) * 3 + p]);
            at = poke(bench, at, slot);
            values.across.kind = Across::Kind::layer_norm;
            values.across.epilogue.push_back({Fused::Kind::scale, at});
            at = poke(bench, at, gain);
            values.across.epilogue.push_back({Fused::Kind::bias, at});
            at = poke(bench, at, offset);
            values.across.epilogue.push_back({Fused::Kind::relu, 0});
            return at;
        };
        check(one, setup, [&](unsigned n, unsigned k, unsigned p) {
            const auto value = [&](unsigned channel) {
                return product_of(one, n, channel, p) + number(bias[channel]) +
                       number(second[(n * kChannels + channel) * 3 + p]);
            };
            double mean = 0, variance = 0, largest = 0;
            for (unsigned channel = 0; channel < kChannels; ++channel) {
                mean += value(channel) / kChannels;
                largest = std::max(largest, std::abs(value(channel)));
            }
            for (unsigned channel = 0; channel < kChannels; ++channel)
                variance += (value(channel) - mean) * (value(channel) - mean) / kChannels;
            const double deviation = std::sqrt(variance + 1e-5), normalised = (value(k) - mean) / deviation;
            const double scaled = normalised * number(gain[k]), result = std::max(scaled + number(offset[k]), 0.0);
            // Sums of less than 32 numbers as large as 32 at most, in binary32.
            const double error = 64 * kSingle * (std::max(largest, 32.0) / deviation + std::abs(normalised));
            return Expected{result, error * (std::abs(number(gain[k])) + 1) + kHalf * std::abs(result) + kTiny};
        });
    }
}

TEST_CASE("a softmax over the channels of a token", "[values][across]") {
    INFO("SWITCHYARD_SEED=" << random_seed());
    std::mt19937 random(static_cast<unsigned>(random_seed()));
    constexpr unsigned kChannels = 9;
    const Case one = matmul_of(random, kChannels, {2, 1, 1});
    const auto setup = [](ComputeBench&, std::uint32_t at, const Box&, OperatorValues& values) {
        values.across.kind = Across::Kind::softmax;
        return at;
    };
    check(one, setup, [&](unsigned n, unsigned k, unsigned p) {
        double sum = 0, largest = 0;
        for (unsigned channel = 0; channel < kChannels; ++channel) {
            const double difference = product_of(one, n, channel, p) - product_of(one, n, k, p);
            sum += std::exp(difference);
            largest = std::max(largest, std::abs(difference));
        }
        return Expected{1 / sum, (kHalf + 64 * kSingle * (largest + 32)) / sum + kTiny};
    });
}

TEST_CASE("a position is that of the sample's token", "[values]") {
    INFO("SWITCHYARD_SEED=" << random_seed());
    std::mt19937 random(static_cast<unsigned>(random_seed()));
    constexpr unsigned kChannels = 5, kTokens = 12;  // four samples of three tokens an input
    for (const Factors factors : {Factors{1, 1, 1}, Factors{2, 2, 3}}) {
        Case one = matmul_of(random, kChannels, factors);
        one.first_tokens = {3, 6, 9, 0, 3, 9, 0};
        const auto position = random_halves(random, kChannels * kTokens);  // [channel][token]
        const auto setup = [&](ComputeBench& bench, std::uint32_t at, const Box& box, OperatorValues& values) {
            values.epilogue.push_back({Fused::Kind::position, at, false, kTokens});
            return poke(bench, at, {position.begin() + box.k0 * kTokens, position.begin() + box.k1 * kTokens});
        };
        check(one, setup, [&](unsigned n, unsigned k, unsigned p) {
            const double value = product_of(one, n, k, p) + number(position[k * kTokens + one.first_tokens[n] + p]);
            return Expected{value, kHalf * std::abs(value) + 512 * kSingle};
        });
    }
}

TEST_CASE("a factor is the largest channel of its sample", "[values]") {
    INFO("SWITCHYARD_SEED=" << random_seed());
    std::mt19937 random(static_cast<unsigned>(random_seed()));
    constexpr unsigned kChannels = 5;
    for (const unsigned factors : {1u, 8u}) {
        const Case one = matmul_of(random, kChannels, {2, 2, 2});
        const auto factor = random_halves(random, 7 * factors);
        const auto setup = [&](ComputeBench& bench, std::uint32_t at, const Box& box, OperatorValues& values) {
            values.epilogue.push_back({Fused::Kind::factor, at, false, factors});
            return poke(bench, at, {factor.begin() + box.n0 * factors, factor.begin() + box.n1 * factors});
        };
        check(one, setup, [&](unsigned n, unsigned k, unsigned p) {
            double largest = -INFINITY;
            for (unsigned i = 0; i < factors; ++i) largest = std::max(largest, number(factor[n * factors + i]));
            const double value = product_of(one, n, k, p) * largest;
            return Expected{value, kHalf * std::abs(value) + 512 * kSingle};
        });
    }
}
