// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "switchyard/hw/link/message_engine.h"
#include "switchyard/sw_scheduler/brainstorm/expert_exchange.h"

namespace switchyard::platform::expert_parallel {

/// What the chips take for a batch, microseconds; each was measured on a chip's own model.
struct ChipTimes {
    /// In front of each layer of experts, and behind the last one; the same on all chips: nothing in it depends on
    /// routes.
    std::vector<double> between_us;
    /// By layer and chip, with the routes of this batch; 0: it has no experts.
    std::vector<std::vector<double>> experts_us;
};

/// The messages of a batch for a layer of experts.
struct Exchange {
    sched::CellCounts counts;  ///< [from][to]
    std::uint64_t cell_bytes = 0, result_bytes = 0;
    bool padded = false;
    std::uint64_t padded_cells = 0;  ///< of a pair of chips, if padded
    sched::CollectiveCosts costs;
};

/// Its messages: of cells to the experts, or of results on their way back.
sched::CollectiveProgram all_to_all(const sched::LinkTopology& topology, const Exchange& exchange, bool back);

/// A batch on several chips.
struct BatchTimes {
    double latency_us = 0;         ///< until the last chip has finished
    double chips_us = 0;           ///< slowest experts of each layer and what is between: the latency without links
    double dispatch_us = 0;        ///< from the last chip that sends cells to the last cell that comes, of all layers
    double return_us = 0;          ///< from the end of the slowest experts to the last result, of all layers
    std::uint64_t link_bytes = 0;  ///< that left a chip for another one, padding and sizes included
    std::uint64_t expected_channel_bytes = 0;     ///< the same on each channel of its way, by transfers and routes
    std::vector<std::uint64_t> bytes_of_channel;  ///< by channel
};

/// Adds the bytes of a program to `times`, by its transfers and their routes.
void count_bytes(const sched::LinkTopology& topology, const sched::CollectiveProgram& program, BatchTimes& times);

/// A chip sends its cells when the part in front of a layer of experts ends, starts its experts when all cells for it
/// have come, sends results when its experts end, and goes on when all of its results are back. Messages share the
/// links of `topology`.
///
/// One chip, with a null `topology`: its parts follow one another.
///
/// Modelled: links with arbitration (MessageEngine). Not modelled: memory bandwidth of the chips that messages take,
/// overlap of a batch's exchange with the next batch (JointRun).
BatchTimes time_batch(const std::shared_ptr<const sched::LinkTopology>& topology,
                      const hw::MessageEngine::Config& messages, const ChipTimes& chips,
                      const std::vector<Exchange>& exchanges);

}  // namespace switchyard::platform::expert_parallel
