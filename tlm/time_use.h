// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace switchyard {

/// What an operator does on a tile at a time, or waits for. A wait is charged to what came last, and of that to the
/// part of its way on which it still was: data that a tile waits for may not have been sent yet, or be on the network.
enum class TimeUse : std::uint8_t {
    compute,   ///< a kernel runs
    operands,  ///< another operator on the chip has not sent its output yet
    network,   ///< data are on their way to the tile, or from it to another one
    output,    ///< no output slot is free: consumers have no slot for the last output, or gates have not decided on it
    weights,   ///< memory has not sent the operator's weights yet
    memory,    ///< memory has not sent a tensor, index lists or recorded masks yet, or not acknowledged what is written
    host       ///< a scheduler on the host has not answered (chip.online_scheduling_us)
};
inline constexpr std::size_t kTimeUses = 7;
inline constexpr const char* kTimeUseNames[kTimeUses] = {"compute", "operands", "network", "output",
                                                         "weights", "memory",   "host"};

/// The time of an operator on one or several tiles, in a unit of the owner's: a tile that does something for a cycle
/// counts one cycle.
template <class Time>
struct OperatorTime {
    std::array<Time, kTimeUses> used{};
    std::map<std::uint16_t, Time> operands_from, output_to;  ///< of operands and output, by the other operator

    Time& operator[](TimeUse use) { return used[static_cast<std::size_t>(use)]; }

    /// `scale`: this unit in the other one's.
    template <class Other>
    void add(const OperatorTime<Other>& other, double scale = 1) {
        const auto scaled = [scale](Other time) { return static_cast<Time>(static_cast<double>(time) * scale); };
        for (std::size_t use = 0; use < kTimeUses; ++use) used[use] += scaled(other.used[use]);
        for (const auto& [peer, time] : other.operands_from) operands_from[peer] += scaled(time);
        for (const auto& [peer, time] : other.output_to) output_to[peer] += scaled(time);
    }
    /// A wait from `begin` to `end` for data that were sent at `sent`, before which it is a wait for `before`.
    void wait(TimeUse before, Time begin, Time sent, Time end, std::uint16_t peer, Time tiles = 1) {
        if (sent < begin) sent = begin;
        if (sent > end) sent = end;
        if (sent > begin) {
            (*this)[before] += (sent - begin) * tiles;
            if (before == TimeUse::operands) operands_from[peer] += (sent - begin) * tiles;
            if (before == TimeUse::output) output_to[peer] += (sent - begin) * tiles;
        }
        (*this)[TimeUse::network] += (end - sent) * tiles;
    }
};

/// In tile-cycles, by operator id.
using OperatorTimes = std::map<std::uint16_t, OperatorTime<double>>;

/// A segment of an image, over all batches.
struct SegmentTime {
    std::uint64_t image = 0;  ///< 1: the first that was loaded
    std::uint16_t segment = 0;
    std::uint64_t cycles = 0;  ///< from its start until its last tile has ended it
};

/// Where the chip's time has gone: who counts it adds a function that says it.
struct TimeUses {
    std::vector<std::function<void(OperatorTimes&)>> operators;  ///< adds to what is there
    std::function<std::vector<SegmentTime>()> segments;
};

}  // namespace switchyard
