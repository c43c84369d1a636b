// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "switchyard/hw/layer_controller/layer_program.h"
#include "switchyard/sw_scheduler/sushi/subgraph.h"

namespace switchyard::platform::sushi {

/// Where a supernet is in DRAM: its tensors, the parameters of every SubNet's layers, the input, activations.
struct SupernetMemory {
    hw::AcceleratorProgram program;
    std::uint64_t input_address = 0, end = 0;

    std::uint64_t output_address(std::size_t subnet) const { return program.subnets[subnet].back().output_address; }
};

SupernetMemory lay_out(const sched::sushi::Supernet& supernet, const std::vector<sched::sushi::SubGraph>& subgraphs);

/// Bytes for DRAM by address: weights, and parameters with the share of the inputs' zero point in the biases. Throws
/// InputError: a file that is missing or has another shape.
std::vector<std::pair<std::uint64_t, std::vector<std::uint8_t>>> supernet_values(const sched::sushi::Supernet& supernet,
                                                                                 const SupernetMemory& memory);

}  // namespace switchyard::platform::sushi
