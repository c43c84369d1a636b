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
    std::uint64_t misses = 0;
    for (std::uint64_t number = first; number <= last; ++number) {
        if (misses >= capacity_blocks_ && last - number >= std::max<std::size_t>(capacity_blocks_, 1))
            number = pass_through(segment, number, last, write, traffic);
        const std::uint64_t begin = std::max(segment.start, number * block_bytes_);
        const std::uint64_t end = std::min(segment.start + segment.size, (number + 1) * block_bytes_);
        const std::uint64_t key = number % blocks_in_all;
        const auto found = index_.find(key);
        if (found != index_.end()) {
            blocks_.splice(blocks_.begin(), blocks_, found->second);
            found->second->dirty |= write;
            continue;
        }
        ++misses;
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

std::uint64_t L2Cache::pass_through(const sched::MemorySegment& segment, std::uint64_t number, std::uint64_t last,
                                    bool write, Traffic& traffic) {
    for (const Block& block : blocks_)
        if (block.dirty) traffic.written_back_bytes += block_bytes_;
    blocks_.clear();
    index_.clear();
    const std::uint64_t stays = last + 1 - std::max<std::size_t>(capacity_blocks_, 1);
    const std::uint64_t bytes = stays * block_bytes_ - std::max(segment.start, number * block_bytes_);
    (write ? traffic.written_back_bytes : traffic.missed_bytes) += bytes;
    return stays;
}

}  // namespace switchyard::hw
