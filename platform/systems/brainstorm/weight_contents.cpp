// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/brainstorm/weight_contents.h"

namespace switchyard::platform::brainstorm {

void WeightContents::launched(std::uint64_t tag, std::uint64_t batch,
                              const std::vector<sched::brainstorm::LoadedWeights>& weights) {
    if (!weights.empty()) kernels_[tag] = {batch, weights};
}

void WeightContents::look(std::uint64_t tag, const ReadMemory& read) {
    const auto found = kernels_.find(tag);
    if (found == kernels_.end()) return;
    Kernel& kernel = found->second;
    ++kernel.looks;
    for (const sched::brainstorm::LoadedWeights& weights : kernel.weights) {
        if (weights.bytes < 8) continue;
        const std::uint64_t wanted = word_at(source(kernel.batch, weights.load)), last = weights.bytes / 8 - 1;
        for (const std::uint64_t word : {std::uint64_t{0}, last / 2, last})
            kernel.in_place &= read(weights.address + 8 * word) == wanted;
    }
}

void WeightContents::abandon(std::uint64_t begin, std::uint64_t end) {
    for (auto one = kernels_.lower_bound(begin); one != kernels_.end() && one->first < end; ++one)
        one->second.in_vain = true;
}

WeightContents::Result WeightContents::result() const {
    Result result;
    for (const auto& [tag, kernel] : kernels_) {
        if (kernel.in_vain) {
            ++result.in_vain;
            continue;
        }
        ++result.kernels;
        result.in_place += kernel.in_place && kernel.looks == 2;
    }
    return result;
}

}  // namespace switchyard::platform::brainstorm
