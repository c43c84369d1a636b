// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace switchyard::memory_managers {

/// Addresses by best fit: the smallest gap that has room, and of equal ones the lowest; neighbouring gaps are one.
/// Sizes are rounded up to 512 bytes, as PyTorch's caching allocator does. An allocation fails if no gap has room; if
/// all gaps together would have had, that was fragmentation.
class BestFit {
public:
    explicit BestFit(std::uint64_t bytes) : free_bytes_(bytes), bytes_(bytes) {
        if (bytes > 0) insert(0, bytes);
    }

    std::optional<std::uint64_t> allocate(std::uint64_t bytes) {
        const std::uint64_t size = rounded(bytes);
        const auto found = by_size_.lower_bound({size, 0});
        if (found == by_size_.end()) {
            if (free_bytes_ >= size) ++fragmented_failures_;
            return std::nullopt;
        }
        const auto [gap, address] = *found;
        erase(address, gap);
        if (gap > size) insert(address + size, gap - size);
        taken_[address] = size;
        free_bytes_ -= size;
        return address;
    }

    void release(std::uint64_t address) {
        const auto found = taken_.find(address);
        std::uint64_t begin = address, size = found->second;
        free_bytes_ += size;
        taken_.erase(found);
        const auto behind = by_address_.lower_bound(address);
        if (behind != by_address_.begin()) {
            const auto before = std::prev(behind);
            if (before->first + before->second == address) {
                begin = before->first;
                size += before->second;
                erase(before->first, before->second);
            }
        }
        const auto next = by_address_.find(address + (size - (address - begin)));
        if (next != by_address_.end()) {
            const std::uint64_t more = next->second;
            erase(next->first, more);
            size += more;
        }
        insert(begin, size);
    }

    std::uint64_t used_bytes() const { return bytes_ - free_bytes_; }
    std::uint64_t largest_gap() const { return by_size_.empty() ? 0 : by_size_.rbegin()->first; }
    std::uint64_t fragmented_failures() const { return fragmented_failures_; }
    static std::uint64_t rounded(std::uint64_t bytes) { return bytes == 0 ? 512 : (bytes + 511) / 512 * 512; }

private:
    void insert(std::uint64_t address, std::uint64_t size) {
        by_address_[address] = size;
        by_size_.insert({size, address});
    }
    void erase(std::uint64_t address, std::uint64_t size) {
        by_address_.erase(address);
        by_size_.erase({size, address});
    }

    std::uint64_t free_bytes_, bytes_, fragmented_failures_ = 0;
    std::map<std::uint64_t, std::uint64_t> by_address_, taken_;
    std::set<std::pair<std::uint64_t, std::uint64_t>> by_size_;
};

}  // namespace switchyard::memory_managers
