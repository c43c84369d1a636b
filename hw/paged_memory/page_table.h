// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace switchyard::hw {

/// Residency of managed memory (CUDA unified memory) on a device, as NVIDIA's driver keeps it
/// (open-gpu-kernel-modules, uvm_va_block.c, uvm_perf_prefetch.c, uvm_gpu_replayable_faults.c).
///
/// Modelled: faults of pages that are not resident, in batches; migration of basic blocks; the tree prefetcher, which
/// brings the largest part of a tree of which more than a threshold is there or asked for; memory that was never
/// written needs no migration; eviction of whole trees, the one whose last fault is the longest ago; only what was
/// written goes back. Not modelled: faults of several processes; thrashing detection; hints; access counters; duplicate
/// faults of one page in a batch.
class PageTable {
public:
    struct Config {
        std::uint64_t device_bytes = 0;
        unsigned page_bytes = 4096, block_bytes = 65536, tree_bytes = 2 << 20;
        unsigned faults_per_batch = 256;
        double prefetch_threshold = 0.51;
    };
    struct Migration {
        std::uint64_t faults = 0, batches = 0;
        std::uint64_t to_device_bytes = 0, to_device_transfers = 0;
        std::uint64_t to_host_bytes = 0, to_host_transfers = 0;
        std::uint64_t evicted_trees = 0;
        Migration& operator+=(const Migration& other);
    };

    /// `bytes`: of all managed memory. Throws std::invalid_argument for sizes that make no sense.
    PageTable(const Config& config, std::uint64_t bytes);

    /// A kernel reads or writes a range in ascending order.
    Migration access(std::uint64_t address, std::uint64_t bytes, bool write);
    /// The host has written a range: it is there, on the host, and nowhere on the device.
    void host_writes(std::uint64_t address, std::uint64_t bytes);

    bool resident(std::uint64_t address) const;
    std::uint64_t resident_bytes() const { return resident_blocks_ * config_.block_bytes; }
    std::uint64_t max_resident_bytes() const { return max_resident_blocks_ * config_.block_bytes; }

private:
    struct Tree {
        std::uint32_t resident = 0, populated = 0, dirty = 0;  ///< a bit for each basic block
        std::uint32_t before = 0, behind = 0;                  ///< in the order of the last fault; index + 1
        bool listed = false;
    };
    struct Wanted {
        std::uint32_t tree = 0, blocks = 0;
    };
    void serve(std::vector<Wanted>& wanted, bool write, Migration& sum);
    void evict(Migration& sum);
    void unlist(std::uint32_t tree);
    void list_last(std::uint32_t tree);

    Config config_;
    unsigned blocks_in_tree_;
    std::uint64_t capacity_blocks_, resident_blocks_ = 0, max_resident_blocks_ = 0;
    std::vector<Tree> trees_;
    std::uint32_t oldest_ = 0, newest_ = 0;
};

template <class V>
void describe(V& v, PageTable::Config& c) {
    v.field("page_bytes", c.page_bytes, 4096, 65536, "of a fault");
    v.field("block_bytes", c.block_bytes, 4096, 2 << 20, "basic block: what a fault brings at least");
    v.field("tree_bytes", c.tree_bytes, 65536, 2 << 20, "of a prefetch tree, and of an eviction; 32 blocks at most");
    v.field("faults_per_batch", c.faults_per_batch, 1, 65536, "that the driver serves together");
    v.field("prefetch_threshold", c.prefetch_threshold, 0.01, 1, "share of a tree's part beyond which all of it comes");
}

}  // namespace switchyard::hw
