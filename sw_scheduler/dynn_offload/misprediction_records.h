// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "switchyard/sw_scheduler/dynn_offload/execution_blocks.h"

namespace switchyard::dynn_offload {

/// Mispredictions of one network (DyNN-Offload IV-E): if the pilot's output is the same as in a recorded case, the path
/// that the case really took is used. A later case with the same output replaces the earlier one.
class MispredictionRecords {
public:
    std::optional<std::uint32_t> find(const std::vector<BlockVector>& output) const {
        const auto found = paths_.find(output);
        return found == paths_.end() ? std::nullopt : std::optional<std::uint32_t>(found->second);
    }
    void record(const std::vector<BlockVector>& output, std::uint32_t path) { paths_[output] = path; }
    std::size_t size() const { return paths_.size(); }

private:
    std::map<std::vector<BlockVector>, std::uint32_t> paths_;
};

}  // namespace switchyard::dynn_offload
