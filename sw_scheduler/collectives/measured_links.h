// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/collectives/link_topology.h"

namespace switchyard::sched {

/// A figure that was measured on real links and with which the model was compared. The test link_measurements holds
/// this list equal to testbenches/calibration/link/measured.csv, which has the figures and their sources.
struct MeasuredLinks {
    std::string topology;        ///< a file of configs/topologies, without its extension
    std::uint32_t contents = 0;  ///< contents_of() that file
    unsigned devices = 0;        ///< the first ones of the file
    std::string what;            ///< copy, kernel (point to point), all_reduce, all_gather
    unsigned to = 0;             ///< copy, kernel: from device 0
    std::uint64_t bytes = 0;     ///< of the message; of an all-gather and an all-reduce in all
    double largest_error = 0;    ///< of the model, in per cent
};

const std::vector<MeasuredLinks>& measured_links();

/// CRC-32 of all that the model knows of a topology, its names left out.
std::uint32_t contents_of(const LinkTopology& topology);

}  // namespace switchyard::sched
