// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "switchyard/hw/messages/adyna_message.h"
#include "switchyard/sw_scheduler/adyna/image/partition.h"

namespace switchyard::hw {

/// A box of a tensor that lies somewhere: sample, channel, row and column follow one another, columns closest.
struct ValueRegion {
    std::uint64_t base = 0;
    std::uint32_t first_channel = 0, channels = 0;
    std::uint32_t first_row = 0, rows = 0;
    std::uint32_t columns = 1;
    std::uint32_t element_bytes = kElementBytes;

    std::uint64_t sample_bytes() const { return std::uint64_t{element_bytes} * channels * rows * columns; }
    std::uint64_t address(std::uint32_t position, std::uint32_t channel, std::uint32_t row) const {
        return base + position * sample_bytes() +
               element_bytes * ((std::uint64_t{channel} - first_channel) * rows + (row - first_row)) * columns;
    }
};

/// Calls visit(address, bytes) for bytes [first, last) of a part in its order, as they lie in a region that holds it:
/// once for all that lie together. position(id): of a sample in the region.
template <class Position, class Visit>
void for_each_run(const TensorPart& part, const ValueRegion& region, std::uint64_t first, std::uint64_t last,
                  Position&& position, Visit&& visit) {
    const std::uint64_t channel_bytes = std::uint64_t{part.element_bytes} * part.rows * part.columns;
    // The rows of one channel lie together; if they are all of the region's, so do the channels.
    const std::uint64_t channels_of_run =
        part.rows == region.rows && part.columns == region.columns ? part.channels : 1;
    const std::uint64_t run = channel_bytes * channels_of_run, sample = channel_bytes * part.channels;
    std::uint64_t begin = 0, size = 0;
    for (std::uint64_t at = first; at < last;) {
        const std::uint64_t inside = at % run, bytes = std::min(run - inside, last - at);
        const std::uint32_t id = part.samples[at / sample];
        const auto channel = static_cast<std::uint32_t>(part.first_channel + at % sample / run * channels_of_run);
        const std::uint64_t address = region.address(position(id), channel, part.first_row) + inside;
        if (size > 0 && address != begin + size) {
            visit(begin, size);
            size = 0;
        }
        if (size == 0) begin = address;
        size += bytes;
        at += bytes;
    }
    if (size > 0) visit(begin, size);
}

/// Bytes of the whole part.
inline std::uint64_t bytes_of(const TensorPart& part) {
    return part.element_bytes * part.samples.size() * part.channels * part.rows * part.columns;
}

}  // namespace switchyard::hw
