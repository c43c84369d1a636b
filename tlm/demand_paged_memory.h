// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace switchyard {

/// A zero-filled block of host memory whose pages cost nothing until they are touched.
class DemandPagedMemory {
public:
    /// Throws std::bad_alloc if the address space cannot be had.
    explicit DemandPagedMemory(std::size_t bytes);
    ~DemandPagedMemory();
    DemandPagedMemory(const DemandPagedMemory&) = delete;
    DemandPagedMemory& operator=(const DemandPagedMemory&) = delete;

    unsigned char* data() const { return data_; }
    std::size_t size() const { return size_; }

private:
    unsigned char* data_;
    std::size_t size_;
};

}  // namespace switchyard
