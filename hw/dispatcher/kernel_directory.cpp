// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/dispatcher/kernel_directory.h"

#include <algorithm>

namespace switchyard::hw {

void KernelDirectory::append(const KernelBytes& bytes) {
    Entry entry{bytes, decode_kernel(bytes.data())};
    const std::uint16_t dyn_dim = entry.kernel.dyn_dim();
    const bool grows = !dyn_dims_.empty() && dyn_dims_.back() < dyn_dim;
    run_begins_.push_back(grows ? run_begins_.back() : static_cast<std::uint32_t>(entries_.size()));
    dyn_dims_.push_back(dyn_dim);
    entries_.push_back(entry);
}

void KernelDirectory::clear() {
    entries_.clear();
    dyn_dims_.clear();
    run_begins_.clear();
}

bool KernelDirectory::sorted(std::size_t first, std::size_t count) const {
    return count == 0 || run_begins_[first + count - 1] <= first;
}

std::size_t KernelDirectory::best_fit(std::size_t first, std::size_t count, std::uint32_t dyn_dim) const {
    const auto begin = dyn_dims_.begin() + static_cast<std::ptrdiff_t>(first);
    const auto fit = std::lower_bound(begin, begin + static_cast<std::ptrdiff_t>(count), dyn_dim);
    return static_cast<std::size_t>(fit - dyn_dims_.begin());
}

std::uint16_t KernelDirectory::largest(std::size_t first, std::size_t count) const {
    return count == 0 ? std::uint16_t{0} : dyn_dims_[first + count - 1];
}

unsigned search_steps(std::size_t kernels) {
    unsigned steps = 1;
    while (std::size_t{1} << (steps - 1) < kernels) ++steps;
    return steps;
}

}  // namespace switchyard::hw
