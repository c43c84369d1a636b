// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "switchyard/sw_scheduler/workload/cell_router.h"
#include "switchyard/sw_scheduler/workload/gpu_schedule.h"

namespace switchyard::sched::brainstorm {

/// Cells that kernels are tuned for, rising: the loads at `percentiles` (0 to 1) of a router's profile, each once
/// (section 4.1). Throws InputError if the profile has no cells.
std::vector<std::uint64_t> tuned_loads(const CellProfile& profile, std::size_t router,
                                       const std::vector<double>& percentiles);
/// Sizes of the kernels that compute `load` cells: the least tuned load that takes them; beyond the largest, several.
std::vector<std::uint64_t> padded_loads(const std::vector<std::uint64_t>& tuned, std::uint64_t load);

/// One launch that computes what the kernels compute side by side: the sum of their CTAs and work. A kernel's CTAs are
/// alike in the GPU's model, so those of the result are the mean of all, with the most threads, registers and shared
/// memory of any. Throws InputError without kernels.
GpuKernel fused_kernel(const std::string& name, const std::vector<GpuKernel>& kernels);

/// A mixture of experts: feed-forward networks of two layers, `hidden` -> `inner` -> `hidden`, behind a router.
struct MoeLayer {
    std::uint64_t cells = 0;  ///< of a batch
    std::size_t branches = 1;
    std::uint64_t hidden = 1, inner = 1;
};

/// How a mixture of experts becomes kernels.
enum class MoeDesign {
    serial,      ///< branches one after another; gather, linear, activation, linear, scatter a launch each (PyTorch)
    vertical,    ///< as serial, with gather and activation in the first linear layer, scatter in the second
    horizontal,  ///< vertical, and all branches with cells in one launch; an address kernel finds their cells
    batched,     ///< all branches in one matrix multiplication each, padded to the largest load (Tutel)
    einsum,      ///< batched, padded to `capacity`, cells moved by matrix multiplications with 0 and 1 (DeepSpeed-MoE)
};
const std::vector<std::pair<std::string, MoeDesign>>& moe_designs();

struct MoeKernels {
    std::vector<GpuKernel> kernels;  ///< one after another
    /// Kernels before which the host must have read the routing decisions back.
    bool host_needs_loads = false;
    std::size_t before_loads = 0;    ///< kernels up to and with the router's
    std::uint64_t padded_cells = 0;  ///< computed, padding included
    std::uint64_t routed_cells = 0;
};

/// Makes the kernels of batches; each shape is scheduled once.
class MoeCompiler {
public:
    /// `tuned`: of vertical and horizontal fusion. `capacity`: of einsum.
    MoeCompiler(const MoeLayer& layer, const GpuDescription& gpu, std::vector<std::uint64_t> tuned,
                std::uint64_t capacity);
    /// `loads`: cells of each branch. Throws InputError for loads that are not one a branch, or above the capacity.
    MoeKernels compile(MoeDesign design, const std::vector<std::uint64_t>& loads);

private:
    GpuKernel linear(std::uint64_t rows, std::uint64_t k, std::uint64_t n);
    GpuKernel each_element(const std::string& name, std::uint64_t elements);
    GpuKernel scheduled(const GpuOperator& op);
    std::vector<GpuKernel> router();

    MoeLayer layer_;
    GpuDescription gpu_;
    std::vector<std::uint64_t> tuned_;
    std::uint64_t capacity_;
    std::map<std::tuple<GpuOperator::Kind, std::uint64_t, std::uint64_t, std::uint64_t>, GpuKernel> cache_;
};

}  // namespace switchyard::sched::brainstorm
