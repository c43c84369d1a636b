// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/gpu/l2_cache.h"

#include <algorithm>

namespace switchyard::hw {

L2Cache::L2Cache(std::uint64_t capacity_bytes, std::uint64_t block_bytes)
    : block_bytes_(block_bytes), capacity_blocks_(static_cast<std::size_t>(capacity_bytes / block_bytes)) {}

L2Cache::Traffic L2Cache::touch(const sched::MemorySegment& segment, bool write) {
    Traffic traffic;
    if (segment.size == 0) return traffic;
    const std::uint64_t blocks_in_all = sched::kAddressSpace / block_bytes_;
    const std::uint64_t first = segment.start / block_bytes_;
    const std::uint64_t last = (segment.start + segment.size - 1) / block_bytes_;
    for (std::uint64_t number = first; number <= last; ++number) {
        const std::uint64_t begin = std::max(segment.start, number * block_bytes_);
        const std::uint64_t end = std::min(segment.start + segment.size, (number + 1) * block_bytes_);
        const std::uint64_t key = number % blocks_in_all;
        const auto found = index_.find(key);
        if (found != index_.end()) {
            blocks_.splice(blocks_.begin(), blocks_, found->second);
            found->second->dirty |= write;
            continue;
        }
        if (!write) traffic.missed_bytes += end - begin;
        if (capacity_blocks_ == 0) {
            if (write) traffic.written_back_bytes += end - begin;
            continue;
        }
        if (blocks_.size() == capacity_blocks_) {
            if (blocks_.back().dirty) traffic.written_back_bytes += block_bytes_;
            index_.erase(blocks_.back().number);
            blocks_.pop_back();
        }
        blocks_.push_front({key, write});
        index_.emplace(key, blocks_.begin());
    }
    return traffic;
}

}  // namespace switchyard::hw
