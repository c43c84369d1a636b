// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "switchyard/sw_scheduler/brainstorm/host_program.h"

namespace switchyard::platform::brainstorm {

/// Whether kernels find the weights that they read, for functional runs of one device: loads bring bytes that name
/// them, and device memory is looked at when a kernel begins and when it ends.
class WeightContents {
public:
    struct Result {
        std::uint64_t kernels = 0;   ///< complete, with weights of loads, not in vain
        std::uint64_t in_place = 0;  ///< of these: that found their weights
        std::uint64_t in_vain = 0;   ///< behind a wrong prediction
    };
    using ReadMemory = std::function<std::uint64_t(std::uint64_t address)>;

    /// Of the host's memory: a load copies from here on. Bytes of a load are far below 2^36.
    static std::uint64_t source(std::uint64_t batch, std::uint32_t load) { return (batch << 20 | load) << 36; }
    /// What host memory has at this address.
    static std::uint64_t word_at(std::uint64_t address) { return address >> 36; }

    void launched(std::uint64_t tag, std::uint64_t batch, const std::vector<sched::brainstorm::LoadedWeights>& weights);
    /// The kernel begins or ends.
    void look(std::uint64_t tag, const ReadMemory& read);
    /// Kernels from `begin` on, before `end`: launched in vain.
    void abandon(std::uint64_t begin, std::uint64_t end);
    /// All kernels are complete.
    Result result() const;

private:
    struct Kernel {
        std::uint64_t batch = 0;
        std::vector<sched::brainstorm::LoadedWeights> weights;
        unsigned looks = 0;
        bool in_place = true, in_vain = false;
    };
    std::map<std::uint64_t, Kernel> kernels_;  ///< by tag
};

}  // namespace switchyard::platform::brainstorm
