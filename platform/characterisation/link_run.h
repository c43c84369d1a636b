// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "switchyard/hw/link/message_engine.h"
#include "switchyard/sw_scheduler/collectives/link_topology.h"

namespace switchyard::platform {

/// Collectives over sizes on one topology that carries nothing else.
struct LinkRun {
    std::shared_ptr<const sched::LinkTopology> topology;
    hw::MessageEngine::Config engine;
    std::vector<std::string> collectives;  ///< of link_collectives()
    std::vector<std::uint64_t> bytes;      ///< see link_report()
    unsigned from = 0, to = 1;             ///< point_to_point
    std::uint64_t cell_bytes = 1024;       ///< all-to-all
    double skew = 0;                       ///< all-to-all: sched::skewed_cells()
    std::string ranks = "shared";          ///< or own: each source has its own
    std::uint64_t seed = 1;
    std::string nccl = "none";  ///< all-gather, all-reduce: costs of NCCL on pascal or volta
    /// sched::contents_of() the file of which `topology` is the first devices; 0: made otherwise, or scaled.
    std::uint32_t file_contents = 0;
};

/// point_to_point, all_to_all_padded, all_to_all_sparse, all_gather, all_reduce
const std::vector<std::string>& link_collectives();

/// A row for each collective and size: docs/cli.md describes it. `bytes` are those of the message, of the cells that a
/// device has for all devices (itself included), of what a device has after an all-gather (its own part
/// rounded up to bytes), of what is reduced.
/// Throws std::invalid_argument for what the topology or the collective does not take.
nlohmann::ordered_json link_report(const LinkRun& run);

}  // namespace switchyard::platform
