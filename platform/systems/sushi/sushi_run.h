// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "switchyard/platform/systems/sushi/sushi_config.h"
#include "switchyard/sw_scheduler/sushi/latency_table.h"

namespace switchyard::platform::sushi {

/// What a design is: the accelerator with or without a persistent buffer, or a server of known times.
struct SushiDesign {
    const char* name;
    const char* server;  ///< accelerator, dpu, cpu
    const char* policy;  ///< of the cache; empty: no persistent buffer
    bool state_aware;
};
const std::vector<SushiDesign>& sushi_designs();
/// Throws std::out_of_range.
const SushiDesign& sushi_design(const std::string& name);

/// A supernet on a platform, with what a service has to know before the first query.
struct SushiWork {
    sched::sushi::Supernet supernet;
    BufferConfig buffers;              ///< as the design has them
    sched::sushi::LatencyTable table;  ///< of the design
    std::vector<double> reference_us;  ///< of the SubNets without a persistent buffer: ranges of queries
    std::vector<sched::Query> queries;
    std::vector<std::int8_t> images;                ///< functional: inputs of the queries, in turn
    std::vector<std::vector<std::int32_t>> logits;  ///< functional: [SubNet], of all images
};

/// Reads the supernet, draws the queries, fills the table (or reads it). Throws InputError, Infeasible for a layer that
/// the buffers cannot serve. `count` 0 and no seed: as the platform says.
SushiWork prepare_work(const std::string& supernet, const SushiConfig& config, const SushiDesign& design,
                       std::uint64_t count, const std::uint64_t* seed);

/// The table of a SubNet and SubGraph each by the closed form.
sched::sushi::LatencyTable closed_form_table(const sched::sushi::Supernet& supernet, const SushiConfig& config,
                                             const BufferConfig& buffers,
                                             std::vector<sched::sushi::SubGraph> subgraphs);
/// The same by `accelerator.impl`: a process for each SubGraph, `jobs` at a time.
sched::sushi::LatencyTable simulated_table(const sched::sushi::Supernet& supernet, const SushiConfig& config,
                                           const BufferConfig& buffers, std::vector<sched::sushi::SubGraph> subgraphs,
                                           unsigned jobs);
std::vector<sched::sushi::SubGraph> subgraphs_of(const sched::sushi::Supernet& supernet, const SushiConfig& config,
                                                 const BufferConfig& buffers);

/// Elaborates and runs the service, returns the report.
nlohmann::ordered_json run_sushi(const SushiWork& work, const SushiConfig& config, const SushiDesign& design);

}  // namespace switchyard::platform::sushi
