// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "switchyard/hw/link/message_engine.h"
#include "switchyard/sw_scheduler/collectives/program.h"

namespace switchyard::hw {

struct CollectiveResult {
    double ns = 0;                             ///< from the call to the last arrival
    std::vector<double> arrival_ns;            ///< of each transfer
    std::vector<std::uint64_t> channel_bytes;  ///< by channel of the topology
    std::vector<double> channel_busy;          ///< share of the time

    std::uint64_t busiest_bytes() const;
};

/// Buffers of the devices: real bytes.
using DeviceBuffers = std::vector<std::vector<std::uint8_t>>;

/// Executes a collective on a topology that carries nothing else. Plain C++: no SystemC. With `buffers`, whose sizes
/// are at least the program's buffer_bytes, bytes move as well: read when a transfer starts, written when it arrives.
/// Copies within a device take no time: they are the device's own.
/// Throws std::invalid_argument with validation_error(); std::runtime_error that says who waits for what when nothing
/// moves before all has arrived.
CollectiveResult run_collective(const std::shared_ptr<const sched::LinkTopology>& topology,
                                const MessageEngine::Config& config, const sched::CollectiveProgram& program,
                                DeviceBuffers* buffers = nullptr);

/// Adds `count` bytes of binary32 numbers to others.
void add_binary32(const std::uint8_t* from, std::uint8_t* to, std::uint64_t count);

}  // namespace switchyard::hw
