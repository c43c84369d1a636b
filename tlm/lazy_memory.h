#pragma once

#include <cstddef>

namespace switchyard {

/// A zero-filled block of host memory whose pages cost nothing until they are touched.
class LazyMemory {
public:
    /// Throws std::bad_alloc if the address space cannot be had.
    explicit LazyMemory(std::size_t bytes);
    ~LazyMemory();
    LazyMemory(const LazyMemory&) = delete;
    LazyMemory& operator=(const LazyMemory&) = delete;

    unsigned char* data() const { return data_; }
    std::size_t size() const { return size_; }

private:
    unsigned char* data_;
    std::size_t size_;
};

}  // namespace switchyard
