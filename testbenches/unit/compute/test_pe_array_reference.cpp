// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "switchyard/testbenches/sim_test.h"
#include "switchyard/testbenches/unit/compute/array_bench.h"

using namespace switchyard;
using namespace switchyard::testing;

namespace {

struct BlockSize {
    unsigned rows, columns;
};

/// An output-stationary array, register by register and with values: operands move one PE a cycle, each PE has two sets
/// of accumulators, and a finished column moves down its drain chain, one result leaving a cycle.
class ReferenceArray {
public:
    ReferenceArray(unsigned rows, unsigned columns, unsigned reduction, std::vector<BlockSize> blocks, unsigned seed)
        : rows_(rows), columns_(columns), reduction_(reduction), blocks_(std::move(blocks)), random_(seed) {
        for (const BlockSize& block : blocks_) {
            starts_.push_back(end_of_feed_);
            end_of_feed_ += std::max(reduction_, block.rows);
            a_.push_back(matrix(block.rows, reduction_));
            b_.push_back(matrix(reduction_, block.columns));
            out_.emplace_back(block.rows * block.columns, -1);
        }
        pes_.resize(rows * columns);
        chains_.resize(columns);
    }

    /// Cycles until the last result has left.
    std::uint64_t run() {
        std::size_t missing = 0;
        for (const BlockSize& block : blocks_) missing += block.rows * block.columns;
        std::uint64_t cycle = 0;
        for (; missing > 0; ++cycle) {
            shift_operands(cycle);
            missing -= drain();
            multiply();
        }
        return cycle;
    }

    bool values_are_right() const {
        for (std::size_t n = 0; n < blocks_.size(); ++n) {
            const BlockSize& block = blocks_[n];
            for (unsigned i = 0; i < block.rows; ++i) {
                for (unsigned j = 0; j < block.columns; ++j) {
                    long sum = 0;
                    for (unsigned k = 0; k < reduction_; ++k)
                        sum += a_[n][i * reduction_ + k] * b_[n][k * block.columns + j];
                    if (out_[n][i * block.columns + j] != sum) return false;
                }
            }
        }
        return true;
    }
    bool chains_collided() const { return collided_; }

private:
    struct Operand {
        bool valid = false;
        std::size_t block = 0;
        unsigned step = 0;
        long value = 0;
    };
    struct Pe {
        Operand a, b;
        std::array<long, 2> sum{};
    };
    struct Result {
        std::size_t block;
        unsigned row;
        long value;
    };

    std::vector<long> matrix(unsigned rows, unsigned columns) {
        std::vector<long> values(rows * columns);
        for (long& value : values) value = static_cast<long>(random_() % 100);
        return values;
    }
    Pe& pe(unsigned i, unsigned j) { return pes_[i * columns_ + j]; }

    /// What enters row (or column) `lane` at `cycle`: skewed by one cycle a lane.
    Operand feed(std::uint64_t cycle, unsigned lane, bool row) const {
        if (cycle < lane) return {};
        const auto next = std::upper_bound(starts_.begin(), starts_.end(), cycle - lane);
        const auto block = static_cast<std::size_t>(next - starts_.begin()) - 1;
        const std::uint64_t step = cycle - lane - starts_[block];
        const BlockSize& size = blocks_[block];
        if (step >= reduction_ || lane >= (row ? size.rows : size.columns)) return {};
        const auto k = static_cast<unsigned>(step);
        return {true, block, k, row ? a_[block][lane * reduction_ + k] : b_[block][k * size.columns + lane]};
    }

    void shift_operands(std::uint64_t cycle) {
        for (unsigned i = rows_; i-- > 0;) {
            for (unsigned j = columns_; j-- > 0;) {
                pe(i, j).a = j > 0 ? pe(i, j - 1).a : feed(cycle, i, true);
                pe(i, j).b = i > 0 ? pe(i - 1, j).b : feed(cycle, j, false);
            }
        }
    }

    void multiply() {
        for (unsigned j = 0; j < columns_; ++j) {
            for (unsigned i = 0; i < rows_; ++i) {
                Pe& here = pe(i, j);
                if (!here.a.valid || !here.b.valid) continue;
                REQUIRE(here.a.step == here.b.step);
                long& sum = here.sum[here.a.block % 2];
                sum = (here.a.step == 0 ? 0 : sum) + here.a.value * here.b.value;
                const bool column_done = here.a.step + 1 == reduction_ && i + 1 == blocks_[here.a.block].rows;
                if (column_done) load_chain(j, here.a.block);
            }
        }
    }

    void load_chain(unsigned column, std::size_t block) {
        collided_ |= !chains_[column].empty();
        for (unsigned i = 0; i < blocks_[block].rows; ++i)
            chains_[column].push_back({block, i, pe(i, column).sum[block % 2]});
    }

    /// One result of each chain that was loaded in an earlier cycle.
    std::size_t drain() {
        std::size_t left = 0;
        for (unsigned j = 0; j < columns_; ++j) {
            if (chains_[j].empty()) continue;
            const Result& result = chains_[j].back();
            out_[result.block][result.row * blocks_[result.block].columns + j] = result.value;
            chains_[j].pop_back();
            ++left;
        }
        return left;
    }

    unsigned rows_, columns_, reduction_;
    std::vector<BlockSize> blocks_;
    std::vector<std::uint64_t> starts_;
    std::uint64_t end_of_feed_ = 0;
    std::vector<std::vector<long>> a_, b_, out_;
    std::vector<Pe> pes_;
    std::vector<std::vector<Result>> chains_;
    bool collided_ = false;
    std::mt19937 random_;
};

hw::PeArray::Config implementation(const std::string& impl) {
    hw::PeArray::Config config;
    config.impl = impl;
    config.rows = config.columns = 9;
    return config;
}

std::uint64_t cycles_of_model(ArrayBench& bench, unsigned reduction, const std::vector<BlockSize>& blocks) {
    std::uint64_t cycles = 0;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        PeWorkExtension work;
        work.rows = blocks[i].rows;
        work.columns = blocks[i].columns;
        work.reduction = reduction;
        work.first = i == 0;
        work.last = i + 1 == blocks.size();
        REQUIRE(bench.run(work) == ::tlm::TLM_OK_RESPONSE);
        cycles += work.cycles;
    }
    return cycles;
}

hw::Scratchpad::Config ideal_scratchpad() {
    hw::Scratchpad::Config config;
    config.latency_cycles = 0;
    config.bytes_per_cycle = config.write_bytes_per_cycle = 4096;
    return config;
}

}  // namespace

SIM_TEST("PE array agrees with a register-by-register array", "[pe_array]") {
    ArrayBench bench("bench", implementation("analytic"), ideal_scratchpad());
    ArrayBench cycle("cycle", implementation("cycle"), ideal_scratchpad());
    std::mt19937 random(1);
    for (unsigned trial = 0; trial < 60; ++trial) {
        const unsigned rows = 1 + random() % 9, columns = 1 + random() % 9, reduction = 1 + random() % 24;
        const std::vector<BlockSize> blocks(1 + random() % 6, BlockSize{rows, columns});
        CAPTURE(rows, columns, reduction, blocks.size());
        ReferenceArray reference(rows, columns, reduction, blocks, trial);
        const std::uint64_t truth = reference.run();
        CHECK(cycles_of_model(bench, reduction, blocks) == truth);
        CHECK(cycles_of_model(cycle, reduction, blocks) == truth);
        CHECK(reference.values_are_right());
        CHECK_FALSE(reference.chains_collided());
    }
}

// Smaller blocks at the end, as kernel fitting makes them: results of the block before them may be the last to leave.
SIM_TEST("PE array with clipped blocks agrees with a register-by-register array", "[pe_array]") {
    ArrayBench bench("bench", implementation("analytic"), ideal_scratchpad());
    ArrayBench cycle("cycle", implementation("cycle"), ideal_scratchpad());
    std::mt19937 random(2);
    for (unsigned trial = 0; trial < 60; ++trial) {
        const unsigned rows = 2 + random() % 8, columns = 2 + random() % 8, reduction = rows + random() % 24;
        std::vector<BlockSize> blocks(1 + random() % 4, BlockSize{rows, columns});
        blocks.push_back({1 + static_cast<unsigned>(random() % rows), 1 + static_cast<unsigned>(random() % columns)});
        CAPTURE(rows, columns, reduction, blocks.size(), blocks.back().rows, blocks.back().columns);
        ReferenceArray reference(rows, columns, reduction, blocks, trial);
        const std::uint64_t truth = reference.run();
        CHECK(reference.values_are_right());
        CHECK(cycles_of_model(bench, reduction, blocks) == truth);
        CHECK(cycles_of_model(cycle, reduction, blocks) == truth);
    }
}
