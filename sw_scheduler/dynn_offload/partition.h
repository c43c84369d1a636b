// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/dynn_offload/execution_blocks.h"
#include "switchyard/sw_scheduler/training_streams/training_network.h"

namespace switchyard::dynn_offload {

/// How a stream is cut into blocks.
enum class PartitionRule : std::uint8_t {
    sentinel,   ///< so that the estimated time with migration is the least (Sentinel, HPCA 2020)
    operators,  ///< the same number of operators each
    time,       ///< the same time each
    bytes       ///< the same bytes of tensors each
};
const std::vector<std::string>& partition_rules();
/// Throws InputError that names `key`.
PartitionRule parse_partition_rule(const std::string& name, const std::string& file, const std::string& key);

struct PartitionConfig {
    std::uint64_t buffer_bytes = std::uint64_t{40} << 30;  ///< one of the two buffers
    double host_gb_per_s = 12;                             ///< of the link, each direction
    PartitionRule rule = PartitionRule::sentinel;
    unsigned blocks = 0;  ///< heuristics: number of blocks (0: as many as `sentinel` makes); sentinel: the fewest
    double share = 0;     ///< sentinel: of the buffer that blocks fill, before boundaries move; 0: the best of twelve
    unsigned max_blocks = 4096;  ///< sentinel: more only if the buffer needs them
    bool repeated = false;       ///< estimates are of one of many equal steps: the first block follows the last one
};

/// Partition of a stream. What of a block's storages is alive at once fits the buffer; where one of the heuristics
/// gives a larger block, it is cut in halves until they do.
///
/// The estimate (Sentinel: migration of block i + 1 behind the computation of block i): before the first block its
/// storages come; during block i those of block i - 1 that block i + 1 lacks and that have been written go back to the
/// host and then those that it needs and block i has not come; the next block begins when both are done. Sentinel's
/// blocks: filled up to a share of the buffer, the best of twelve shares; then each boundary is moved as long as the
/// estimate falls.
///
/// Throws Infeasible for an operator whose storages do not fit a buffer, with the operator, its bytes and the buffer.
ExecutionBlocks partition(const sched::TrainingStream& stream, const PartitionConfig& config);

/// The blocks with these first operators (ascending, beginning with 0); fills everything, with the estimate.
ExecutionBlocks make_blocks(const sched::TrainingStream& stream, const std::vector<std::uint32_t>& begins,
                            const PartitionConfig& config);

/// Partitions of a network's paths, each made once.
class BlockPlanner {
public:
    BlockPlanner(const sched::TrainingNetwork& network, const PartitionConfig& config)
        : network_(network), config_(config) {}
    const ExecutionBlocks& blocks(std::uint32_t path);
    const PartitionConfig& config() const { return config_; }

private:
    const sched::TrainingNetwork& network_;
    PartitionConfig config_;
    std::map<std::uint32_t, ExecutionBlocks> known_;
};

}  // namespace switchyard::dynn_offload
