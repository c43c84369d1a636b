// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/sushi/subgraph.h"

namespace switchyard::sched::sushi {

/// SushiAbs (section 3.2): the latency of each SubNet with each SubGraph in the persistent buffer. Who fills it knows
/// the accelerator; who reads it does not.
struct LatencyTable {
    std::string platform;  ///< configuration that it was filled for, any text
    std::vector<std::string> subnets;
    std::vector<double> accuracy;    ///< of the SubNets, in per cent
    std::vector<double> without_us;  ///< of the SubNets, nothing cached
    std::vector<SubGraph> subgraphs;
    std::vector<double> fill_us;                  ///< of the SubGraphs
    std::vector<std::vector<double>> latency_us;  ///< [SubNet][SubGraph]
};

/// JSON (docs/sushi.md). Deterministic.
std::string table_text(const LatencyTable& table);
/// Throws InputError: no table, one of another supernet, or one that was filled for another platform than `platform`.
LatencyTable read_table(const std::string& path, const Supernet& supernet, const std::string& platform);

}  // namespace switchyard::sched::sushi
