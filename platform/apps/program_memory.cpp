// SPDX-License-Identifier: Apache-2.0
// The operator new of the programs: blocks of up to 1 KiB from lists of free blocks, one list a size and thread,
// without a header a block. What is freed is given out again first, while it is in the cache. Larger blocks are
// malloc's.
#include "switchyard/platform/apps/program_memory.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#if defined(__linux__) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
#define SWITCHYARD_PROGRAM_MEMORY 1
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#else
#define SWITCHYARD_PROGRAM_MEMORY 0
#endif

#if SWITCHYARD_PROGRAM_MEMORY
namespace {

constexpr std::size_t kGranule = 16, kLargest = 1024, kSizes = kLargest / kGranule + 1;
constexpr std::size_t kPage = 64 << 10, kPages = 64 << 10, kArena = kPage * kPages;
constexpr std::uintptr_t kHugePage = 2 << 20;

bool address_space_is_unlimited() {
    for (const auto what : {RLIMIT_AS, RLIMIT_DATA}) {
        rlimit limit{};
        if (getrlimit(what, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY) return false;
    }
    return true;
}

/// Address space of which pages are taken one by one, each for blocks of one size.
class Arena {
public:
    /// `size`: of the blocks, in granules. Null if there is no page left.
    char* take(std::size_t size) {
        const std::size_t page = taken_.fetch_add(1, std::memory_order_relaxed);
        if (page >= kPages || begin() == nullptr) return nullptr;
        sizes_[page] = static_cast<std::uint8_t>(size);
        return begin() + page * kPage;
    }
    bool has(const void* block) const {
        const auto at = reinterpret_cast<std::uintptr_t>(block), first = begin_.load(std::memory_order_relaxed);
        return at - first < kArena && first != 0;
    }
    std::size_t size_of(const void* block) const {
        return sizes_[(reinterpret_cast<std::uintptr_t>(block) - begin_.load(std::memory_order_relaxed)) / kPage];
    }

private:
    char* begin() {
        const std::uintptr_t known = begin_.load(std::memory_order_acquire);
        if (known != 0) return reinterpret_cast<char*>(known);
        if (refused_.load(std::memory_order_relaxed) || !address_space_is_unlimited()) return refuse();
        void* const space = mmap(nullptr, kArena + kHugePage, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (space == MAP_FAILED) return refuse();
        std::uintptr_t aligned = (reinterpret_cast<std::uintptr_t>(space) + kHugePage - 1) / kHugePage * kHugePage;
        madvise(reinterpret_cast<void*>(aligned), kArena, MADV_HUGEPAGE);
        std::uintptr_t none = 0;
        if (!begin_.compare_exchange_strong(none, aligned)) {  // another thread was quicker
            munmap(space, kArena + kHugePage);
            aligned = none;
        }
        return reinterpret_cast<char*>(aligned);
    }
    char* refuse() {
        refused_.store(true, std::memory_order_relaxed);
        return nullptr;
    }

    std::atomic<std::uintptr_t> begin_{0};
    std::atomic<bool> refused_{false};
    std::atomic<std::size_t> taken_{0};
    std::array<std::uint8_t, kPages> sizes_{};
};

struct Free {
    Free* next;
};

/// Of one size and thread. Constant initialisation: operator new is called before any constructor.
struct Blocks {
    Free* free = nullptr;
    char* unused = nullptr;  ///< of the latest page
    char* end = nullptr;
};

Arena arena;
thread_local std::array<Blocks, kSizes> blocks_of_thread;

void* from_malloc(std::size_t bytes) {
    for (;;) {
        if (void* const block = std::malloc(bytes)) return block;
        const std::new_handler handler = std::get_new_handler();
        if (handler == nullptr) throw std::bad_alloc();
        handler();
    }
}

void* from_page(Blocks& blocks, std::size_t size) {
    const std::size_t bytes = size * kGranule;
    if (static_cast<std::size_t>(blocks.end - blocks.unused) < bytes) {
        char* const page = arena.take(size);
        if (page == nullptr) return from_malloc(bytes);
        blocks.unused = page;
        blocks.end = page + kPage;
    }
    void* const block = blocks.unused;
    blocks.unused += bytes;
    return block;
}

inline void* take_block(std::size_t bytes) {
    if (bytes > kLargest) return from_malloc(bytes);
    const std::size_t size = bytes == 0 ? 1 : (bytes + kGranule - 1) / kGranule;
    Blocks& blocks = blocks_of_thread[size];
    if (blocks.free == nullptr) return from_page(blocks, size);
    Free* const block = blocks.free;
    blocks.free = block->next;
    return block;
}

inline void give_back(void* block) noexcept {
    if (!arena.has(block)) return std::free(block);
    Blocks& blocks = blocks_of_thread[arena.size_of(block)];
    blocks.free = ::new (block) Free{blocks.free};
}

}  // namespace

// NOLINTBEGIN(misc-new-delete-overloads): those with an alignment stay the library's.
void* operator new(std::size_t bytes) {
    return take_block(bytes);
}
void* operator new[](std::size_t bytes) {
    return take_block(bytes);
}
void operator delete(void* block) noexcept {
    give_back(block);
}
void operator delete[](void* block) noexcept {
    give_back(block);
}
void operator delete(void* block, std::size_t) noexcept {
    give_back(block);
}
void operator delete[](void* block, std::size_t) noexcept {
    give_back(block);
}
// NOLINTEND(misc-new-delete-overloads)
#endif

namespace switchyard::platform {

void use_huge_pages() {
#if SWITCHYARD_PROGRAM_MEMORY
    constexpr int kHeapBytes = 512 << 20, kLargestInHeap = 32 << 20;
    if (!address_space_is_unlimited()) return;
    // One step of the heap's end, which takes address space only. It stays where it is when memory is freed.
    mallopt(M_TOP_PAD, kHeapBytes);
    mallopt(M_TRIM_THRESHOLD, 2 * kHeapBytes - 1);
    mallopt(M_MMAP_THRESHOLD, kLargestInHeap);
    const auto begin = reinterpret_cast<std::uintptr_t>(sbrk(0));
    std::free(std::malloc(kLargestInHeap / 2));
    mallopt(M_TOP_PAD, 128 << 10);
    const auto end = reinterpret_cast<std::uintptr_t>(sbrk(0));
    const std::uintptr_t first = (begin + kHugePage - 1) / kHugePage * kHugePage;
    if (first < end) madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
#endif
}

}  // namespace switchyard::platform
