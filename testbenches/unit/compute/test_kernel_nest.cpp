// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>
#include <tuple>

#include "switchyard/hw/dispatcher/kernel_nest.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/unit/compute/random_kernel.h"

using namespace switchyard;
using namespace switchyard::testing;
using hw::BlockShape;
using hw::KernelNest;

namespace {

auto fields(const BlockShape& s) {
    return std::make_tuple(s.rows, s.columns, s.row_outputs, s.column_outputs, s.outputs);
}
using ShapeCounts = std::map<decltype(fields(BlockShape{})), std::uint64_t>;

ShapeCounts counts(const CountedNest& nest) {
    ShapeCounts result;
    for (const auto& [index, block] : nest.blocks) {
        BlockShape shape;
        shape.rows = static_cast<std::uint32_t>(block.rows.size());
        shape.columns = static_cast<std::uint32_t>(block.columns.size());
        // Only the product can be seen from outside.
        shape.row_outputs = block.deepest();
        shape.outputs = block.outputs;
        ++result[fields(shape)];
    }
    return result;
}

auto folded(BlockShape shape) {
    shape.row_outputs *= shape.column_outputs;
    shape.column_outputs = 1;
    return fields(shape);
}

}  // namespace

TEST_CASE("kernel nest: closed form and state machine find the blocks that the outputs lie in", "[dispatcher]") {
    std::mt19937 random(7);
    unsigned clipped = 0, empty = 0;
    for (unsigned trial = 0; trial < 150; ++trial) {
        const unsigned made_for = 1 + random() % 24, dyn_dim = random() % (made_for + 1);
        const Kernel kernel = random_kernel(random, 16, 8, made_for);
        const unsigned rank = random() % ranks_of(kernel);
        CAPTURE(trial, made_for, dyn_dim, rank);
        const KernelNest nest(kernel, rank, dyn_dim);
        const CountedNest truth = count_nest(kernel, rank, dyn_dim);

        ShapeCounts closed, walked;
        for (const auto& run : nest.runs()) closed[folded(run.shape)] += run.repeats;
        unsigned firsts = 0, lasts = 0;
        std::vector<BlockShape> order;
        const std::uint64_t skipped = nest.walk([&](const KernelNest::Visit& visit) {
            CHECK(visit.first == order.empty());
            firsts += visit.first;
            lasts += visit.last;
            order.push_back(visit.shape);
            ++walked[folded(visit.shape)];
        });
        CHECK(closed == counts(truth));
        CHECK(walked == counts(truth));
        CHECK(nest.issued() == truth.blocks.size());
        CHECK(nest.skipped() == truth.all_blocks - truth.blocks.size());
        CHECK(skipped == nest.skipped());
        CHECK(nest.reduction() == truth.reduction);
        CHECK(nest.runs().size() <= 16);
        if (order.empty()) {
            ++empty;
            CHECK(firsts + lasts == 0);
        } else {
            CHECK((firsts == 1 && lasts == 1));
            CHECK(fields(nest.runs().front().shape) == fields(order.front()));
            CHECK(fields(nest.runs().back().shape) == fields(order.back()));
        }
        clipped += nest.runs().size() > 1;
    }
    CHECK(clipped > 20);  // the generator reaches what matters
    CHECK(empty > 5);
}

TEST_CASE("kernel nest: blocks come in the kernel's order", "[dispatcher]") {
    Kernel kernel;
    kernel.total = {4, 6, 1, 1, 1, 1, 1};
    kernel.loop(Level::pe, Dim::n).block = kernel.loop(Level::pe, Dim::k).block = 3;
    kernel.loop(Level::spm, Dim::n).block = kernel.loop(Level::spm, Dim::k).block = 2;
    const auto rows = [&] {
        std::vector<unsigned> sequence;
        KernelNest(kernel, 0, 4).walk([&](const KernelNest::Visit& visit) { sequence.push_back(visit.shape.rows); });
        return sequence;
    };
    kernel.loop(Level::spm, Dim::n).order = 1;  // n outside, k inside
    CHECK(rows() == std::vector<unsigned>{3, 3, 1, 1});
    kernel.loop(Level::spm, Dim::n).order = 0;
    kernel.loop(Level::spm, Dim::k).order = 1;
    CHECK(rows() == std::vector<unsigned>{3, 1, 3, 1});
}

TEST_CASE("kernel nest refuses kernels that break the template's rules", "[dispatcher]") {
    Kernel good;
    good.total = {4, 6, 8, 3, 3, 3, 3};
    for (unsigned d = 0; d < kDims; ++d) good.loops[static_cast<unsigned>(Level::spm)][d].block = good.total[d];
    CHECK_NOTHROW(KernelNest(good, 0, 4));
    const auto with = [&](Level level, Dim dim, std::uint16_t block) {
        Kernel bad = good;
        bad.loop(level, dim).block = block;
        return bad;
    };
    for (Dim dim : {Dim::n, Dim::k, Dim::c, Dim::p, Dim::q, Dim::r, Dim::s})
        CHECK_THROWS_AS(KernelNest(with(Level::spm, dim, 2), 0, 4), std::domain_error);
    for (Dim dim : {Dim::q, Dim::c, Dim::r, Dim::s})
        CHECK_THROWS_AS(KernelNest(with(Level::tile, dim, 2), 0, 4), std::domain_error);
    for (Dim dim : {Dim::c, Dim::r, Dim::s})
        CHECK_THROWS_AS(KernelNest(with(Level::pe, dim, 2), 0, 4), std::domain_error);
    for (Dim dim : {Dim::k, Dim::c, Dim::p, Dim::q, Dim::r, Dim::s})
        CHECK_THROWS_AS(KernelNest(with(Level::unit, dim, 2), 0, 4), std::domain_error);
    CHECK_THROWS_AS(KernelNest(with(Level::unit, Dim::n, 3), 0, 1), std::domain_error);  // 4 samples
}

TEST_CASE("a kernel of several units has the nest of a kernel for one of them", "[dispatcher]") {
    Kernel unit;
    unit.total = {6, 5, 4, 3, 3, 1, 1};
    unit.loop(Level::pe, Dim::n).block = 2;
    unit.loop(Level::pe, Dim::k).block = 5;
    unit.loop(Level::spm, Dim::n).block = 2;
    unit.loop(Level::spm, Dim::p).block = unit.loop(Level::spm, Dim::q).block = 3;
    unit.loop(Level::spm, Dim::c).block = 4;
    unit.loop(Level::tile, Dim::n).block = 2;
    Kernel batch = unit;
    batch.loop(Level::unit, Dim::n).block = 4;
    batch.total[static_cast<unsigned>(Dim::n)] = 24;
    CHECK(batch.unit_samples() == 6);
    for (const unsigned rank : {0u, 1u}) {
        for (std::uint32_t samples = 1; samples <= 6; ++samples) {
            const KernelNest one(unit, rank, samples), many(batch, rank, samples);
            CAPTURE(rank, samples);
            CHECK(many.box() == one.box());
            CHECK(many.issued() == one.issued());
            CHECK(many.skipped() == one.skipped());
            CHECK(many.loops() == one.loops());
        }
    }
}
