// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "switchyard/platform/systems/brainstorm/brainstorm_config.h"
#include "switchyard/platform/systems/brainstorm/device_host.h"
#include "switchyard/platform/systems/brainstorm/peer_exchange.h"
#include "switchyard/platform/systems/brainstorm/weight_contents.h"
#include "switchyard/sw_scheduler/brainstorm/host_program.h"

namespace switchyard::platform::brainstorm {

/// What the devices did, batch by batch.
struct ClusterOutcome {
    std::vector<double> us;                      ///< of each batch: until the last device is done
    std::vector<std::vector<double>> device_us;  ///< [batch][device]
    std::uint64_t kernels = 0, ctas = 0;
    double busy_ns = 0, warp_ns = 0;  ///< of multiprocessors, all devices
    DeviceHost::Stats host;           ///< all devices
    PeerExchange::Stats exchange;
    CellContents::Result contents;             ///< functional runs of several devices
    WeightContents::Result weights;            ///< functional runs of one device
    std::vector<std::uint64_t> channel_bytes;  ///< of the topology's channels
    double run_ns = 0;
};

/// Elaborates GPUs, their hosts and the links, and runs the batches one after another; all devices begin a batch
/// together. Once a process (SystemC). Throws ModelError for what a GPU refuses, std::runtime_error if nothing goes on
/// any more.
/// `cells_of_device`: that a batch begins with; their contents move if the programs say which (BatchProgram::moves).
ClusterOutcome run_cluster(const BrainstormConfig& config, const std::vector<sched::brainstorm::BatchProgram>& batches,
                           std::uint64_t cells_of_device);

}  // namespace switchyard::platform::brainstorm
