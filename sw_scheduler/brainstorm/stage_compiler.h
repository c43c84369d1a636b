// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "switchyard/sw_scheduler/brainstorm/host_program.h"
#include "switchyard/sw_scheduler/brainstorm/routed_network.h"
#include "switchyard/sw_scheduler/workload/gpu_schedule.h"

namespace switchyard::sched::brainstorm {

/// How branches become kernels.
enum class BranchDesign {
    serial,      ///< one after another; gather, each operator and each element-wise one, scatter a launch (PyTorch)
    vertical,    ///< one after another, with gather, element-wise operators and scatter in the kernels beside them
    horizontal,  ///< vertical, and the operators of a wave of all branches in one launch behind an address kernel
    batched,     ///< all branches in one matrix multiplication each, padded to the largest load (Tutel)
    einsum,      ///< batched, padded to the capacity, cells moved by multiplications with 0 and 1 (DeepSpeed-MoE)
};
const std::vector<std::pair<std::string, BranchDesign>>& branch_designs();

/// The kernel of a library (cuBLAS, cuDNN, PyTorch) for an operator; only shape and work, without segments.
using LibraryKernel = std::function<GpuKernel(const GpuOperator&)>;

struct RoutedSteps {
    HostSteps steps;
    bool host_needs_loads = false;  ///< before the first of the steps
    std::uint64_t routed_cells = 0, padded_cells = 0;
};

/// Makes the kernels of stages for numbers of cells; each shape is scheduled once. Kernels of branches come from the
/// automatic scheduler for vertical and horizontal, from the library otherwise, as do all that belong to no router.
///
/// Addresses: weights of each operator have their own; activations take two buffers in turn, each branch of a fused
/// kernel two of its own. No component looks for dependences: a queue runs kernels in order.
class StageCompiler {
public:
    /// `tuned`: loads that kernels are tuned for, of each routed stage in turn (vertical, horizontal).
    StageCompiler(const RoutedNetwork& network, BranchDesign design, const GpuDescription& gpu, LibraryKernel library,
                  std::vector<std::vector<std::uint64_t>> tuned);

    HostSteps fixed(std::size_t stage, std::uint64_t cells);
    HostSteps gate(std::size_t stage, std::uint64_t cells, unsigned queue = kMainQueue);
    HostSteps common(std::size_t stage, std::uint64_t cells);
    /// `loads`: cells of each branch of the stage that this device has; `cells`: that the device routes. `capacity`: of
    /// einsum. `here`: branches of this device, all by default. Throws InputError for a load above the capacity, or if
    /// batched and einsum have branches that differ.
    RoutedSteps branches(std::size_t stage, const std::vector<std::uint64_t>& loads, std::uint64_t cells,
                         std::uint64_t capacity, const std::vector<bool>& here = {});
    /// Counts what a router decided: atomic additions and bytes of a profile.
    HostStep profile(std::uint64_t updates);

private:
    struct Buffers {
        std::uint64_t address;
        unsigned turn = 0;
    };
    GpuKernel scheduled(const GpuOperator& op, bool tuned);
    GpuKernel kernel_of(const CellOperator& op, std::uint64_t cells, bool tuned, std::uint64_t weights,
                        Buffers& buffers);
    GpuKernel elementwise(const std::string& name, std::uint64_t elements, Buffers& buffers);
    void add(HostSteps& steps, GpuKernel kernel, unsigned queue = kMainQueue);
    void add_waves(HostSteps& steps, const std::vector<Wave>& waves, std::uint64_t cells, bool tuned, bool fold,
                   std::uint64_t weights, unsigned queue = kMainQueue);
    void serial(RoutedSteps& result, std::size_t stage, const std::vector<std::uint64_t>& loads, std::uint64_t cells);
    void fused(RoutedSteps& result, std::size_t stage, const std::vector<std::uint64_t>& loads, std::uint64_t cells);
    void batched(RoutedSteps& result, std::size_t stage, const std::vector<std::uint64_t>& loads, std::uint64_t cells,
                 std::uint64_t capacity, const std::vector<bool>& here);
    std::uint64_t branch_weights(std::size_t stage, std::size_t branch) const;
    bool tunes() const { return design_ == BranchDesign::vertical || design_ == BranchDesign::horizontal; }

    const RoutedNetwork& network_;
    BranchDesign design_;
    GpuDescription gpu_;
    LibraryKernel library_;
    std::map<std::size_t, std::vector<std::uint64_t>> tuned_;  ///< by stage
    std::vector<std::uint64_t> weights_;                       ///< address of each stage's fixed weights
    std::vector<std::vector<std::uint64_t>> branch_weights_;   ///< and of its branches'
    using Key = std::tuple<bool, int, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                           std::uint64_t, std::uint64_t, std::uint64_t>;
    std::map<Key, GpuKernel> cache_;
};

}  // namespace switchyard::sched::brainstorm
