// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/paged_memory/page_table.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/rounding.h"

namespace switchyard::hw {

namespace {

unsigned ones(std::uint32_t mask) {
    return static_cast<unsigned>(__builtin_popcount(mask));
}

/// Runs of neighbouring ones: each is one transfer.
unsigned runs(std::uint32_t mask) {
    return ones(mask & ~(mask << 1));
}

std::uint32_t low_ones(unsigned count) {
    return count >= 32 ? 0xffffffffU : (1U << count) - 1;
}

}  // namespace

PageTable::Migration& PageTable::Migration::operator+=(const Migration& other) {
    faults += other.faults;
    batches += other.batches;
    to_device_bytes += other.to_device_bytes;
    to_device_transfers += other.to_device_transfers;
    to_host_bytes += other.to_host_bytes;
    to_host_transfers += other.to_host_transfers;
    evicted_trees += other.evicted_trees;
    return *this;
}

PageTable::PageTable(const Config& config, std::uint64_t bytes)
    : config_(config),
      blocks_in_tree_(config.block_bytes == 0 ? 0 : config.tree_bytes / config.block_bytes),
      capacity_blocks_(config.block_bytes == 0 ? 0 : config.device_bytes / config.block_bytes) {
    if (blocks_in_tree_ < 1 || blocks_in_tree_ > 32 || (blocks_in_tree_ & (blocks_in_tree_ - 1)) != 0 ||
        config.block_bytes % config.page_bytes != 0)
        throw std::invalid_argument(fmt::format(
            "expected a tree of 1, 2, 4, 8, 16 or 32 basic blocks of whole pages, found {} bytes in blocks of {} "
            "and pages of {}",
            config.tree_bytes, config.block_bytes, config.page_bytes));
    if (capacity_blocks_ < 2 * std::uint64_t{blocks_in_tree_})
        throw std::invalid_argument(
            fmt::format("expected device memory of at least two trees of {} bytes, found {} bytes", config.tree_bytes,
                        config.device_bytes));
    trees_.resize(static_cast<std::size_t>(ceil_div(bytes, std::uint64_t{config.tree_bytes})));
}

void PageTable::unlist(std::uint32_t tree) {
    Tree& at = trees_[tree];
    if (!at.listed) return;
    (at.before != 0 ? trees_[at.before - 1].behind : oldest_) = at.behind;
    (at.behind != 0 ? trees_[at.behind - 1].before : newest_) = at.before;
    at.listed = false;
}

void PageTable::list_last(std::uint32_t tree) {
    unlist(tree);
    Tree& at = trees_[tree];
    at.before = newest_;
    at.behind = 0;
    (newest_ != 0 ? trees_[newest_ - 1].behind : oldest_) = tree + 1;
    newest_ = tree + 1;
    at.listed = true;
}

void PageTable::evict(Migration& sum) {
    const std::uint32_t tree = oldest_ - 1;
    Tree& at = trees_[tree];
    const std::uint32_t back = at.resident & at.dirty;
    sum.to_host_bytes += std::uint64_t{ones(back)} * config_.block_bytes;
    sum.to_host_transfers += runs(back);
    ++sum.evicted_trees;
    resident_blocks_ -= ones(at.resident);
    at.resident = at.dirty = 0;
    unlist(tree);
}

void PageTable::serve(std::vector<Wanted>& wanted, bool write, Migration& sum) {
    if (wanted.empty()) return;
    ++sum.batches;
    for (const Wanted& one : wanted) list_last(one.tree);
    for (const Wanted& one : wanted) {
        Tree& tree = trees_[one.tree];
        std::uint32_t there = tree.resident | one.blocks;
        // From pairs of blocks to the whole tree: what is dense enough comes whole.
        for (unsigned size = 2; size <= blocks_in_tree_; size *= 2)
            for (unsigned first = 0; first < blocks_in_tree_; first += size) {
                const std::uint32_t part = low_ones(size) << first;
                if ((part & one.blocks) != 0 && ones(there & part) > config_.prefetch_threshold * size) there |= part;
            }
        const std::uint32_t coming = there & ~tree.resident;
        while (resident_blocks_ + ones(coming) > capacity_blocks_) evict(sum);
        // The tree itself may have gone if nothing else was there; what it had comes with the next fault.
        list_last(one.tree);
        const std::uint32_t moved = coming & tree.populated;
        sum.to_device_bytes += std::uint64_t{ones(moved)} * config_.block_bytes;
        sum.to_device_transfers += runs(moved);
        resident_blocks_ += ones(coming);
        max_resident_blocks_ = std::max(max_resident_blocks_, resident_blocks_);
        tree.resident |= coming;
        if (write) {
            tree.dirty |= one.blocks;
            tree.populated |= one.blocks;
        }
    }
    wanted.clear();
}

PageTable::Migration PageTable::access(std::uint64_t address, std::uint64_t bytes, bool write) {
    Migration sum;
    if (bytes == 0) return sum;
    std::vector<Wanted> wanted;
    unsigned faults = 0;
    const std::uint64_t end = address + bytes;
    for (std::uint64_t at = address; at < end;) {
        const std::uint64_t block = at / config_.block_bytes, block_end = (block + 1) * config_.block_bytes;
        const auto tree = static_cast<std::uint32_t>(block / blocks_in_tree_);
        const std::uint32_t bit = 1U << (block % blocks_in_tree_);
        const std::uint64_t stop = std::min(end, block_end);
        const auto pages =
            static_cast<unsigned>(ceil_div(stop, std::uint64_t{config_.page_bytes}) - at / config_.page_bytes);
        if ((trees_[tree].resident & bit) == 0) {
            if (faults > 0 && faults + pages > config_.faults_per_batch) {
                serve(wanted, write, sum);
                faults = 0;
            }
            // Prefetched by the batch just served.
            if ((trees_[tree].resident & bit) == 0) {
                if (wanted.empty() || wanted.back().tree != tree) wanted.push_back({tree, 0});
                wanted.back().blocks |= bit;
                faults += pages;
                sum.faults += pages;
            }
        }
        if (write && (trees_[tree].resident & bit) != 0) {
            trees_[tree].dirty |= bit;
            trees_[tree].populated |= bit;
        }
        at = stop;
    }
    serve(wanted, write, sum);
    return sum;
}

void PageTable::host_writes(std::uint64_t address, std::uint64_t bytes) {
    for (std::uint64_t block = address / config_.block_bytes; block * config_.block_bytes < address + bytes; ++block) {
        Tree& tree = trees_[block / blocks_in_tree_];
        const std::uint32_t bit = 1U << (block % blocks_in_tree_);
        if ((tree.resident & bit) != 0) --resident_blocks_;
        tree.resident &= ~bit;
        tree.dirty &= ~bit;
        tree.populated |= bit;
    }
}

bool PageTable::resident(std::uint64_t address) const {
    const std::uint64_t block = address / config_.block_bytes;
    return (trees_[block / blocks_in_tree_].resident >> (block % blocks_in_tree_) & 1) != 0;
}

}  // namespace switchyard::hw
