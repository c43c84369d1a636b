// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/apps/huge_pages.h"

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <new>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#endif

namespace switchyard::platform {

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)

void prefer_huge_pages() {
    for (const auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
        rlimit limit{};
        if (getrlimit(resource, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY) return;
    }
    constexpr int kMiB = 1 << 20;
    constexpr std::size_t kHugePage = 2 * kMiB;
    // malloc has no call for it: it grows its heap by `top pad` at a time, and the advice holds for addresses that
    // exist. So the heap gets its addresses now; memory comes with the first use of a page.
    mallopt(M_TOP_PAD, 1024 * kMiB);
    mallopt(M_TRIM_THRESHOLD, -1);         // addresses are kept
    mallopt(M_MMAP_THRESHOLD, 32 * kMiB);  // where glibc's own adaption, which ends with these calls, may end
    void* begin = sbrk(0);
    std::unique_ptr<char[]> block(new (std::nothrow) char[16 * kMiB]);  // more than is free in the heap so far
    block.reset();
    auto bytes = static_cast<std::size_t>(static_cast<char*>(sbrk(0)) - static_cast<char*>(begin));
    mallopt(M_TOP_PAD, 16 * kMiB);
    if (std::align(kHugePage, kHugePage, begin, bytes) != nullptr) madvise(begin, bytes, MADV_HUGEPAGE);
}

#else

void prefer_huge_pages() {}

#endif

}  // namespace switchyard::platform
