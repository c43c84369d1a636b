// SPDX-License-Identifier: Apache-2.0
#pragma once

// Only for the tests that include Verilated classes.
#include <cstdint>
#include <deque>
#include <string>

#include <fmt/format.h>

#include "switchyard/hw/noc/traffic.h"
#include "switchyard/rtl/common/clocked_model.h"

namespace switchyard::testing {

/// rtl/dispatcher/stream_queue.sv at its pins, with its default parameters: 2 words of 8 bits.
template <class Top>
class QueueBench : private rtl::ClockedModel<Top> {
    using rtl::ClockedModel<Top>::top_;

public:
    static constexpr std::size_t kDepth = 2;

    QueueBench() { this->reset(); }

    /// "" or the first difference from a queue that takes words until all of its slots are used, and gives a word that
    /// is pushed into it while it is empty in the same cycle: random pushes, pops and flushes, and each side always or
    /// never.
    std::string difference(std::uint64_t seed) {
        hw::SplitMix64 random(seed);
        for (unsigned phase = 0; phase < 60; ++phase) {
            const unsigned push = 4 * (phase % 5), pop = 4 * (phase / 5 % 5);
            for (unsigned cycle = 0; cycle < 40; ++cycle) {
                const bool flush = random.below(24) == 0;
                if (std::string found = step(random.below(16) < push, random.below(16) < pop, flush); !found.empty())
                    return fmt::format("phase {}, cycle {}: {}", phase, cycle, found);
            }
        }
        return "";
    }

private:
    std::string step(bool push, bool pop, bool flush) {
        top_.flush_i = flush;
        top_.push_valid_i = push;
        top_.push_data_i = next_;
        top_.pop_ready_i = pop;
        this->settle();
        if (top_.push_ready_o != (words_.size() < kDepth))
            return fmt::format("push_ready with {} words", words_.size());
        if (top_.empty_o != words_.empty()) return fmt::format("empty with {} words", words_.size());
        if (top_.pop_valid_o != (push || !words_.empty())) return fmt::format("pop_valid with {} words", words_.size());
        if (top_.pop_valid_o && top_.pop_data_o != (words_.empty() ? next_ : words_.front())) return "wrong word";
        if (push && words_.size() < kDepth)
            words_.push_back(next_++);
        else if (push)
            ++next_;
        if (pop && !words_.empty()) words_.pop_front();
        if (flush) words_.clear();
        this->clock();
        return "";
    }

    std::deque<std::uint8_t> words_;
    std::uint8_t next_ = 1;
};

}  // namespace switchyard::testing
