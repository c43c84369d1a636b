// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/numerics/vector_kernels.h"

#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "switchyard/hw/numerics/fp16.h"
#include "switchyard/testbenches/catch.h"

namespace numerics = switchyard::numerics;
using numerics::kTileColumns;
using numerics::kTileRows;

namespace {

/// Any bits, or such as give sums near zero, near the largest value and between subnormal numbers.
std::uint16_t operand(std::mt19937& random, int kind) {
    const auto bits = static_cast<std::uint16_t>(random());
    if (kind == 0) return bits;
    const std::uint16_t low = kind == 1 ? 0x3800 : kind == 2 ? 0x0000 : 0x5A00;  // about 1, subnormal, about 200
    return static_cast<std::uint16_t>((bits & 0x8000u) | (low + (bits & 0x07FFu)));
}

}  // namespace

TEST_CASE("all vector units widen and narrow as the plain functions do: all binary16, many binary32", "[vectors]") {
    std::vector<std::uint16_t> halves(0x10000);
    for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::uint16_t>(i);
    std::vector<float> singles;
    for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += 4093)
        singles.push_back(numerics::to_float(static_cast<std::uint32_t>(bits)));
    for (const numerics::VectorUnit unit : numerics::vector_units()) {
        const numerics::VectorKernels& kernels = numerics::vector_kernels(unit);
        std::vector<float> wide(halves.size());
        kernels.widen(wide.data(), halves.data(), halves.size() - 3);  // a length that is no multiple
        std::size_t different = 0;
        for (std::size_t i = 0; i + 3 < halves.size(); ++i)
            different += numerics::to_bits(wide[i]) != numerics::to_bits(numerics::widen(halves[i]));
        std::vector<std::uint16_t> narrow(singles.size());
        kernels.narrow(narrow.data(), singles.data(), singles.size());
        for (std::size_t i = 0; i < singles.size(); ++i) different += narrow[i] != numerics::narrow(singles[i]);
        INFO("unit " << static_cast<int>(unit));
        CHECK(different == 0);
    }
}

TEST_CASE("all vector units give the sums of mac32 and fma16, bit for bit", "[vectors]") {
    std::mt19937 random(1);
    for (int round = 0; round < 60; ++round) {
        const int kind = round % 4;
        const std::size_t steps = 1 + random() % 40;
        const unsigned columns = 1 + random() % kTileColumns;
        std::vector<std::uint16_t> a(kTileRows * steps), b(steps * kTileColumns);
        for (std::uint16_t& one : a) one = operand(random, kind);
        for (std::uint16_t& one : b) one = operand(random, kind);
        std::vector<float> wide_a(a.size()), wide_b(b.size());
        for (std::size_t i = 0; i < a.size(); ++i) wide_a[i] = numerics::widen(a[i]);
        for (std::size_t i = 0; i < b.size(); ++i) wide_b[i] = numerics::widen(b[i]);
        std::array<const float*, kTileRows> rows;
        std::vector<std::int32_t> offsets(steps);
        for (unsigned r = 0; r < kTileRows; ++r) rows[r] = &wide_a[r * steps];
        for (std::size_t s = 0; s < steps; ++s) offsets[s] = static_cast<std::int32_t>(s);
        for (const numerics::VectorUnit unit : numerics::vector_units()) {
            const numerics::VectorKernels& kernels = numerics::vector_kernels(unit);
            std::array<float, std::size_t{kTileRows} * kTileColumns> sums32, sums16;
            kernels.mac32_tile(sums32.data(), rows.data(), offsets.data(), wide_b.data(), steps, columns);
            kernels.mac16_tile(sums16.data(), rows.data(), offsets.data(), wide_b.data(), steps, columns);
            std::size_t different = 0;
            for (unsigned r = 0; r < kTileRows; ++r)
                for (unsigned c = 0; c < columns; ++c) {
                    float sum32 = 0;
                    std::uint16_t sum16 = 0;
                    for (std::size_t s = 0; s < steps; ++s) {
                        const std::uint16_t factor_a = a[r * steps + s], factor_b = b[s * kTileColumns + c];
                        sum32 = numerics::mac32(factor_a, factor_b, sum32);
                        sum16 = numerics::fma16(factor_a, factor_b, sum16);
                    }
                    const std::size_t at = r * kTileColumns + c;
                    different += numerics::to_bits(numerics::canonical(sums32[at])) != numerics::to_bits(sum32);
                    different += numerics::narrow(sums16[at]) != sum16;
                }
            INFO("unit " << static_cast<int>(unit) << ", round " << round);
            CHECK(different == 0);
        }
    }
}
