// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "switchyard/sw_scheduler/adyna/image/kernel.h"

namespace switchyard::hw {

/// What a dispatcher's model knows of the kernel store: the kernels as they were when it was configured.
class KernelDirectory {
public:
    struct Entry {
        KernelBytes bytes{};
        Kernel kernel;
    };

    /// Adds a kernel behind the last one. Throws InputError as decode_kernel() does.
    void append(const KernelBytes& bytes);
    void clear();

    std::size_t size() const { return entries_.size(); }
    const Entry& operator[](std::size_t index) const { return entries_[index]; }

    /// Do the dyn_dims of the `count` kernels from `first` on grow strictly? The range must be in the directory.
    bool sorted(std::size_t first, std::size_t count) const;
    /// Position of the first kernel of a sorted range whose dyn_dim is no less than `dyn_dim`, first + count if none
    /// is.
    std::size_t best_fit(std::size_t first, std::size_t count, std::uint32_t dyn_dim) const;
    /// Largest dyn_dim of a sorted range; 0 if it is empty.
    std::uint16_t largest(std::size_t first, std::size_t count) const;

private:
    std::vector<Entry> entries_;           ///< in the order of the kernel store
    std::vector<std::uint16_t> dyn_dims_;  ///< what the search looks at
    /// Where the strictly growing run of dyn_dims begins that ends at each kernel: says whether a range is sorted.
    std::vector<std::uint32_t> run_begins_;
};

/// Steps of a binary search: ceil(log2 n) comparisons and one to tell whether the last one fits.
unsigned search_steps(std::size_t kernels);

}  // namespace switchyard::hw
