// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/workload/weight_tiles.h"

namespace switchyard::hw {

/// An elastic weight tensor of a supernet in DRAM: int8 [kernels][channels][side * side], from which layers take
/// slices.
struct TensorProgram {
    std::uint64_t address = 0;
    sched::WeightSlice whole;
    std::uint32_t side = 1;
};

/// A layer of a SubNet: its shape, and where in DRAM its operands are.
struct LayerProgram {
    std::string name;
    sched::Convolution layer;
    std::uint32_t tensor = 0;  ///< index in Program::tensors
    std::uint64_t parameter_address = 0, input_address = 0, output_address = 0, residual_address = 0;
    std::int32_t input_zero = -128, output_zero = -128;
};

/// What the controller can be told to do, by number.
struct AcceleratorProgram {
    std::vector<TensorProgram> tensors;
    std::vector<std::vector<LayerProgram>> subnets;
    std::vector<std::vector<sched::WeightSlice>> subgraphs;  ///< a slice of each tensor
};

/// `count` pieces of `bytes` in DRAM, `pitch` apart.
struct StridedPieces {
    std::uint64_t address = 0, bytes = 0, count = 1, pitch = 0;
    std::uint64_t total() const { return bytes * count; }
};

/// Where in DRAM the bytes of a transfer are. Neighbours are one piece.
std::vector<StridedPieces> input_pieces(const LayerProgram& program, const sched::InputBand& band);
/// Weights of a unit's tile that are not in the persistent buffer, then its parameters.
std::vector<StridedPieces> tile_pieces(const LayerProgram& program, const TensorProgram& tensor,
                                       const sched::WeightSlice& cached, const sched::WorkUnit& unit);
/// Of a result, or a residual at another address.
std::vector<StridedPieces> result_pieces(const LayerProgram& program, std::uint64_t address,
                                         const sched::WorkUnit& unit);
/// A SubGraph, tensor by tensor.
std::vector<StridedPieces> subgraph_pieces(const AcceleratorProgram& program,
                                           const std::vector<sched::WeightSlice>& slices);

std::uint64_t total_bytes(const std::vector<StridedPieces>& pieces);
/// Bursts of `burst_bytes` that they touch.
std::uint64_t bursts_of(const std::vector<StridedPieces>& pieces, std::uint64_t burst_bytes);
/// Requests of at most `request_bytes`; no request has more than one piece.
std::uint64_t requests_of(const std::vector<StridedPieces>& pieces, std::uint64_t request_bytes);

}  // namespace switchyard::hw
