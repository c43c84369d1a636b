// SPDX-License-Identifier: Apache-2.0
#include "switchyard/tlm/demand_paged_memory.h"

#include <sys/mman.h>

#include <new>

namespace switchyard {

DemandPagedMemory::DemandPagedMemory(std::size_t bytes) : size_(bytes) {
    void* const block =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<unsigned char*>(block);
}

DemandPagedMemory::~DemandPagedMemory() {
    munmap(data_, size_);
}

}  // namespace switchyard
