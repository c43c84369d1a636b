// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "switchyard/sw_scheduler/adyna/compiler/schedule.h"

namespace switchyard::sched {

/// Where an operator's data lies in the scratchpads of its tiles; the same offsets on each of them.
struct ScratchpadRegions {
    std::uint32_t weights = 0, output = 0;
    std::vector<std::uint32_t> slots;  ///< by source
    bool resident = false;             ///< nothing else uses the weights' region, on any tile, in any segment
};

/// Lays out the data area; index = operator id; operators that share tiles lie one behind the other, those that never
/// meet on a tile (PlacedOperator::layer) at the same place. If the weights of
/// all segments fit beside the largest buffers, they pile up from the bottom and stay, with the buffers at the top.
/// Otherwise even segments begin at the bottom with their weights and go up, odd ones begin at the top and go down: the
/// weights of the next segment are as far from this one's regions as can be, so that they can be loaded while this
/// segment runs.
std::vector<ScratchpadRegions> scratchpad_map(const std::vector<PlacedOperator>& operators,
                                              const HardwareDescription& hardware);

/// True if the weights of all segments have regions of their own there, so that they are loaded once.
bool weights_stay(const std::vector<PlacedOperator>& operators, const HardwareDescription& hardware);

/// HBM traffic of one piece: bytes a batch in each segment that reads or writes it.
struct PieceTraffic {
    std::uint16_t tile = 0;  ///< that uses it most
    std::vector<std::pair<std::uint16_t, double>> bytes;
    double sum() const;
};

/// A memory interface for each piece. Heavy pieces come first; each goes to the interface whose load, in the busiest of
/// the piece's segments, is smallest with it, of several to the one with the fewest hops to its tile, then to the one
/// with the lowest index.
std::vector<unsigned> balanced_interfaces(const HardwareDescription& hardware, const std::vector<PieceTraffic>& pieces);

/// Hands out HBM, 64-byte aligned, in the region of one memory interface or another.
class HbmAllocator {
public:
    /// From byte `begin` of each region on.
    HbmAllocator(const HardwareDescription& hardware, std::uint64_t begin);

    /// Address in the region of interface `interface`, or of the next one with room.
    /// Throws InputError if the chip's memory is full.
    std::uint64_t allocate(unsigned interface, std::uint64_t bytes);

private:
    HardwareDescription hardware_;
    std::vector<std::uint64_t> used_;  ///< bytes, by interface
};

}  // namespace switchyard::sched
