// SPDX-License-Identifier: Apache-2.0
#pragma once

// Only for the tests that include Verilated classes.
#include <array>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "switchyard/hw/noc/traffic.h"
#include "switchyard/rtl/common/clocked_model.h"

namespace switchyard::testing {

/// rtl/dispatcher/profiler_counters.sv at its pins, with KERNELS = 4.
template <class Top>
class CounterBench : private rtl::ClockedModel<Top> {
    using rtl::ClockedModel<Top>::top_;

public:
    static constexpr unsigned kKernels = 4;

    /// "" or the first difference from four numbers that are cleared and counted: at random, then one counter beyond
    /// 2^17, through every carry of its lower half and the first ones of its upper half, while the others keep theirs.
    std::string difference(std::uint64_t seed) {
        hw::SplitMix64 random(seed);
        for (unsigned index = 0; index < kKernels; ++index)
            if (std::string found = step(index, true, true); !found.empty()) return found;
        for (unsigned cycle = 0; cycle < 4000; ++cycle)
            if (std::string found = step(random.below(kKernels), random.below(64) == 0, random.below(2) == 0);
                !found.empty())
                return found;
        const unsigned counted = random.below(kKernels);
        for (unsigned cycle = 0; cycle < (1U << 17) + 100; ++cycle)
            if (std::string found = step(counted, false, true); !found.empty()) return found;
        for (unsigned index = 0; index < kKernels; ++index)
            if (std::string found = step(index, false, false); !found.empty()) return found;
        return "";
    }

private:
    std::string step(unsigned index, bool clear, bool count) {
        top_.index_i = static_cast<std::uint8_t>(index);
        top_.clear_i = clear;
        top_.count_i = count;
        this->settle();
        // Counters have no reset: the first clear makes them known.
        if (known_[index] && top_.count_o != counts_[index])
            return fmt::format("counter {} is {} and should be {}", index, top_.count_o, counts_[index]);
        if (clear) {
            counts_[index] = 0;
            known_[index] = true;
        } else if (count) {
            ++counts_[index];
        }
        this->clock();
        return "";
    }

    std::array<std::uint32_t, kKernels> counts_{};
    std::array<bool, kKernels> known_{};
};

}  // namespace switchyard::testing
