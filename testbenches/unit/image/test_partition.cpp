// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <random>
#include <set>
#include <stdexcept>
#include <vector>

#include "switchyard/sw_scheduler/adyna/image/partition.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;

namespace {

std::uint16_t draw(std::mt19937& random, unsigned low, unsigned high) {
    return static_cast<std::uint16_t>(low + random() % (high - low + 1));
}

/// The input rows that output rows [p0, p1) of a windowed operator touch, one multiplication at a time.
std::set<std::uint32_t> touched_rows(const OperatorShape& shape, std::uint32_t p0, std::uint32_t p1) {
    std::set<std::uint32_t> rows;
    for (int p = static_cast<int>(p0); p < static_cast<int>(p1); ++p) {
        for (int r = 0; r < shape.filter_rows; ++r) {
            const int row = p * shape.stride - shape.pad + r;
            if (row >= 0 && row < shape.in_rows) rows.insert(static_cast<std::uint32_t>(row));
        }
    }
    return rows;
}

}  // namespace

TEST_CASE("the best fit is the smallest kernel that is large enough", "[partition]") {
    const std::vector<Partition> partitions{{8, 1, 1}, {16, 1, 1}, {64, 1, 1}};
    CHECK(best_fit(partitions, 0) == 0);
    CHECK(best_fit(partitions, 8) == 0);
    CHECK(best_fit(partitions, 9) == 1);
    CHECK(best_fit(partitions, 16) == 1);
    CHECK(best_fit(partitions, 64) == 2);
    CHECK(best_fit(partitions, 65) == -1);
    CHECK(best_fit({}, 1) == -1);
}

TEST_CASE("the boxes of all ranks cover the output exactly once", "[partition]") {
    std::mt19937 random(7);
    for (int round = 0; round < 2000; ++round) {
        OperatorShape shape;
        shape.out_channels = draw(random, 1, 20);
        shape.out_rows = draw(random, 1, 12);
        const Partition part{draw(random, 1, 16), draw(random, 1, 5), draw(random, 1, 4)};
        const unsigned k_factor = draw(random, 1, 6);
        const std::uint32_t dyn_dim = draw(random, 0, part.dyn_dim);
        std::vector<int> count(dyn_dim * shape.out_channels * shape.out_rows, 0);
        const unsigned ranks = part.n * part.p * k_factor;
        for (unsigned rank = 0; rank < ranks; ++rank) {
            const Box box = output_box(shape, part, k_factor, rank, dyn_dim);
            REQUIRE((!box.empty() || box == Box{}));
            for (std::uint32_t n = box.n0; n < box.n1; ++n)
                for (std::uint32_t k = box.k0; k < box.k1; ++k)
                    for (std::uint32_t p = box.p0; p < box.p1; ++p)
                        ++count.at((n * shape.out_channels + k) * shape.out_rows + p);
        }
        REQUIRE(std::all_of(count.begin(), count.end(), [](int times) { return times == 1; }));
        REQUIRE(output_box(shape, part, k_factor, ranks, dyn_dim) == Box{});
    }
}

TEST_CASE("ranks run over samples, then rows, then channels", "[partition]") {
    OperatorShape shape;
    shape.out_channels = 10;
    shape.out_rows = 6;
    const Partition part{8, 2, 3};
    CHECK(output_box(shape, part, 4, 0, 8) == Box{0, 4, 0, 3, 0, 2});
    CHECK(output_box(shape, part, 4, 3, 8) == Box{0, 4, 9, 10, 0, 2});
    CHECK(output_box(shape, part, 4, 4, 8) == Box{0, 4, 0, 3, 2, 4});
    CHECK(output_box(shape, part, 4, 12, 8) == Box{4, 8, 0, 3, 0, 2});
    // Blocks come from the kernel's dyn_dim; the real one only clips.
    CHECK(output_box(shape, part, 4, 0, 5) == Box{0, 4, 0, 3, 0, 2});
    CHECK(output_box(shape, part, 4, 12, 5) == Box{4, 5, 0, 3, 0, 2});
    CHECK(output_box(shape, part, 4, 12, 4) == Box{});
    CHECK_THROWS_AS(output_box(shape, part, 4, 0, 9), std::invalid_argument);
}

TEST_CASE("windowed operators need the rows under their windows", "[partition]") {
    std::mt19937 random(11);
    for (int round = 0; round < 5000; ++round) {
        OperatorShape shape;
        shape.kind = std::vector<OpKind>{OpKind::convolution, OpKind::depthwise, OpKind::pool}[round % 3];
        shape.filter_rows = draw(random, 1, 7);
        shape.stride = draw(random, 1, 4);
        shape.pad = draw(random, 0, shape.filter_rows - 1);
        shape.in_rows = draw(random, std::max(1, shape.filter_rows - 2 * shape.pad), 30);
        shape.out_rows =
            static_cast<std::uint16_t>((shape.in_rows + 2 * shape.pad - shape.filter_rows) / shape.stride + 1);
        shape.in_channels = shape.out_channels = 8;
        const std::uint32_t p0 = draw(random, 0, shape.out_rows - 1), p1 = draw(random, p0 + 1, shape.out_rows);
        const Box box = input_box(shape, {1, 3, 2, 5, p0, p1});
        const std::set<std::uint32_t> rows = touched_rows(shape, p0, p1);
        if (rows.empty()) {
            REQUIRE(box == Box{});  // the window lies in the padding
            continue;
        }
        if (shape.stride <= shape.filter_rows) {
            REQUIRE(box.p0 == *rows.begin());
        } else {
            REQUIRE(box.p0 <= *rows.begin());  // rows between two windows may come along
        }
        REQUIRE(box.p1 == *rows.rbegin() + 1);
        REQUIRE((box.n0 == 1 && box.n1 == 3));
        if (shape.kind == OpKind::convolution) {
            REQUIRE((box.k0 == 0 && box.k1 == 8));
        } else {
            REQUIRE((box.k0 == 2 && box.k1 == 5));
        }
    }
}

TEST_CASE("the other operators' inputs", "[partition]") {
    OperatorShape shape;
    shape.in_channels = 12;
    shape.out_channels = 4;
    shape.in_rows = shape.out_rows = 9;
    const Box output{0, 2, 1, 3, 4, 6};

    shape.kind = OpKind::matmul;
    CHECK(input_box(shape, output) == Box{0, 2, 0, 12, 4, 6});
    CHECK(input_box(shape, output, true) == output);
    CHECK(input_box(shape, {}) == Box{});
    shape.kind = OpKind::attention;
    CHECK(input_box(shape, output) == Box{0, 2, 0, 12, 0, 9});
    // Two heads of 2 channels, each made from 6: queries, keys and values. Channel 1 is of the first, 2 of the second.
    shape.heads = 2;
    CHECK(input_box(shape, output) == Box{0, 2, 0, 12, 0, 9});
    CHECK(input_box(shape, {0, 2, 0, 2, 4, 6}) == Box{0, 2, 0, 6, 0, 9});
    CHECK(input_box(shape, {0, 2, 3, 4, 4, 6}) == Box{0, 2, 6, 12, 0, 9});
    CHECK_FALSE(needs_whole_input(shape, 12, 9, false));
    shape.heads = 1;
    for (OpKind kind : {OpKind::elementwise, OpKind::norm, OpKind::merge}) {
        shape.kind = kind;
        CHECK(input_box(shape, output) == Box{0, 2, 0, 12, 4, 6});  // channel counts differ: needs them all
        shape.in_channels = 4;
        CHECK(input_box(shape, output) == output);
        shape.in_channels = 12;
    }
    shape.kind = OpKind::matmul;
    shape.out_rows = 1;
    CHECK(input_box(shape, {0, 2, 1, 3, 0, 1}) == Box{0, 2, 0, 12, 0, 9});
}

TEST_CASE("intersections", "[partition]") {
    CHECK(intersect({0, 4, 0, 4, 0, 4}, {2, 6, 1, 3, 3, 9}) == Box{2, 4, 1, 3, 3, 4});
    CHECK(intersect({0, 4, 0, 4, 0, 4}, {4, 6, 1, 3, 3, 9}) == Box{});
    CHECK(intersect({}, {0, 4, 0, 4, 0, 4}) == Box{});
}
