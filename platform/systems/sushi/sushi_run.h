// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "switchyard/hw/layer_controller/layer_controller.h"
#include "switchyard/hw/memory/dram_target.h"
#include "switchyard/platform/systems/sushi/supernet_memory.h"
#include "switchyard/platform/systems/sushi/sushi_config.h"
#include "switchyard/platform/systems/sushi/sushi_host.h"
#include "switchyard/sw_scheduler/sushi/latency_table.h"

namespace switchyard::platform::sushi {

/// What a design is: the accelerator with or without a persistent buffer, or a server of known times.
struct SushiDesign {
    const char* name;
    const char* server;  ///< accelerator, dpu, cpu
    const char* policy;  ///< of the cache; empty: no persistent buffer
    bool state_aware;

    bool caches() const { return policy[0] != '\0'; }
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

/// What a service has come to.
struct SushiRun {
    std::vector<ServedQuery> served;
    double begin_us = 0, end_us = 0;  ///< the first SubGraph is there; the last query is served
    std::uint64_t fills = 0;          ///< of the persistent buffer, after the first
    std::uint64_t failures = 0;       ///< commands
    bool finished = false;            ///< the host has served all queries

    bool on_accelerator = false;  ///< what follows is known
    hw::LayerController::Stats controller;
    hw::DramTarget::Stats dram;
    std::uint64_t array_macs = 0, max_persistent_bytes = 0;
    std::uint64_t bytes_before = 0;   ///< offchip_bytes() when the first query began
    std::uint64_t equal_results = 0;  ///< functional: queries whose results are the golden ones

    std::uint64_t offchip_bytes() const;
};

/// Elaborates and runs the service. Throws std::runtime_error for an error of the models.
SushiRun run_sushi(const SushiWork& work, const SushiConfig& config, const SushiDesign& design,
                   const SupernetMemory& memory);

}  // namespace switchyard::platform::sushi
