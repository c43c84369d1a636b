// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "switchyard/hw/messages/tile_protocol.h"
#include "switchyard/sw_scheduler/adyna/image/program.h"

namespace switchyard::hw {

/// Counts how often each kernel was selected (Adyna section VI-B: "the profiler tracks the invocation frequencies of
/// all the kernels, and periodically sends the distribution to the scheduler").
class Profiler {
public:
    void reset(const TileProgram& program) {
        counts_.clear();
        for (const TileOperator& op : program.operators) {
            counts_.emplace_back(op.kernel_count + std::size_t{1}, 0);
        }
    }

    /// `kernel`: position among the operator's kernels; -1: no sample reached the operator.
    void count(std::size_t operator_index, int kernel, std::uint32_t times = 1) {
        counts_.at(operator_index).at(kernel < 0 ? 0 : static_cast<std::size_t>(kernel) + 1) += times;
    }

    void clear() {
        for (auto& counts : counts_) counts.assign(counts.size(), 0);
    }

    /// One record for each count that is not zero, in order of operator and kernel.
    std::vector<ProfileRecord> records(const TileProgram& program) const {
        std::vector<ProfileRecord> out;
        for (std::size_t i = 0; i < counts_.size(); ++i) {
            const TileOperator& op = program.operators[i];
            for (std::size_t k = 0; k < counts_[i].size(); ++k) {
                if (counts_[i][k] == 0) continue;
                const std::uint16_t dyn_dim = k == 0 ? 0 : program.kernels[op.kernel_first + k - 1].dyn_dim();
                out.push_back(ProfileRecord{op.op_id, dyn_dim, counts_[i][k]});
            }
        }
        return out;
    }

private:
    std::vector<std::vector<std::uint32_t>> counts_;
};

}  // namespace switchyard::hw
