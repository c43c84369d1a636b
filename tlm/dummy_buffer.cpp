// SPDX-License-Identifier: Apache-2.0
#include "switchyard/tlm/dummy_buffer.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "switchyard/tlm/demand_paged_memory.h"

namespace switchyard {

unsigned char* dummy_buffer(std::size_t bytes) {
    constexpr std::size_t kLargest = std::size_t{4} << 30, kFirst = std::size_t{16} << 20;
    // Address space is taken as it is needed: `ulimit -v` counts it. Blocks that were too small stay for their
    // payloads.
    static std::vector<std::unique_ptr<const DemandPagedMemory>> blocks;
    if (bytes > kLargest)
        throw std::length_error("dummy_buffer: expected at most " + std::to_string(kLargest) + " bytes, found " +
                                std::to_string(bytes));
    if (blocks.empty() || blocks.back()->size() < bytes) {
        std::size_t size = blocks.empty() ? kFirst : blocks.back()->size();
        while (size < bytes) size *= 2;
        blocks.push_back(std::make_unique<const DemandPagedMemory>(size));
    }
    return blocks.back()->data();
}

}  // namespace switchyard
