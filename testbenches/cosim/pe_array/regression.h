// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "switchyard/hw/pe_array/array_core.h"

namespace switchyard::testing {

struct ArraySize {
    unsigned rows, columns;
    bool acc_fp16;
    /// Of a set, with 64 bytes of registers a PE.
    unsigned accumulators() const { return acc_fp16 ? 12 : 6; }
};

/// Functional coverage of the array's edges: every point there is, with its hits.
class ArrayCoverage {
public:
    ArrayCoverage();
    /// Throws std::out_of_range for a point that is not declared.
    void hit(const std::string& point, bool condition = true) { points_.at(point) += condition; }
    std::vector<std::pair<std::string, std::uint64_t>> points() const { return {points_.begin(), points_.end()}; }
    std::vector<std::string> missed() const;

private:
    std::map<std::string, std::uint64_t> points_;
};

/// Drives `dut` and a CycleCore with the same random blocks, gaps and back-pressure and compares all outputs in every
/// cycle: "" or the first difference. The RTL multiplies what it is given, so every wave has values.
std::string array_regression(hw::ArrayCore& dut, const ArraySize& size, std::uint64_t seed, unsigned phases,
                             ArrayCoverage& coverage);

}  // namespace switchyard::testing
