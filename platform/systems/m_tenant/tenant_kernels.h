// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "switchyard/sw_scheduler/adyna/compiler/kernel_search.h"
#include "switchyard/sw_scheduler/adyna/compiler/stage.h"
#include "switchyard/sw_scheduler/adyna/compiler/workload.h"
#include "switchyard/sw_scheduler/workload/graph.h"

namespace switchyard::platform {

/// True of operators that need no tiles when tensors lie in HBM and the host's index lists say which samples are meant:
/// an exclusive merge without fused steps, and identities of the front-end.
bool is_index_only(const sched::Operator& op);

/// How an operator's result is asked for, also behind operators that are index lists only; maybe both ways.
struct TensorUses {
    bool whole = false;   ///< by the host or by an operator
    bool pooled = false;  ///< its mean over rows and columns, which its tiles reduce to partial sums on the way out
};
/// Index = operator id.
std::vector<TensorUses> tensor_uses(const sched::DynGraph& graph);

/// Bytes of a kernel, over all of its tiles.
struct TenantBytes {
    double hbm_read = 0, hbm_written = 0;
    double scratchpad_read = 0, scratchpad_written = 0;  ///< by PE arrays and network interfaces
    double link = 0;                                     ///< times links crossed

    void add(const TenantBytes& bytes, double share = 1);
};

/// What stays in a tile's scratchpad from round to round.
enum class Stays {
    weights,        ///< all of its slice; inputs pass once
    weight_rounds,  ///< a part of its slice, for as long as all inputs pass; they pass once a part
    inputs,         ///< of some samples and rows, for as long as all of its slice passes; it passes once for each
    results         ///< of some samples, rows and channels, while what they need passes, bit by bit
};

/// An operator on a group of tiles, operands and results in HBM. k, n and p factors as in partition.h, side by side on
/// the tiles; a tile computes its part in rounds, one after another (Planaria's layer tiles): of output channels,
/// samples, output rows and input channels. What passes has two slots, so that one round's bytes move while another is
/// computed.
struct TenantKernel {
    unsigned k_factor = 1, n_factor = 1, p_factor = 1;
    std::uint32_t k_rounds = 1, n_rounds = 1, p_rounds = 1, c_rounds = 1;
    Stays stays = Stays::weights;
    /// Samples of a round for which the blocking was made, of which a round of fewer leaves out whole blocks; 0: the
    /// blocking is made for the round.
    std::uint32_t made_for_samples = 0;

    double block_cycles = 0;                   ///< of a round on the fullest tile, by the scheduler's cost model
    double in_cycles = 0, out_cycles = 0;      ///< of a round on its link
    double first_cycles = 0, last_cycles = 0;  ///< of the first round's operands, the last one's results on its link
    double first_bytes = 0, last_bytes = 0;    ///< the same, of all tiles in HBM
    double access_cycles = 0;  ///< from a request to its first byte, from a last byte until it is written
    TenantBytes bytes;

    unsigned tiles() const { return k_factor * n_factor * p_factor; }
    double rounds() const { return double{1} * k_rounds * n_rounds * p_rounds * c_rounds; }
    double hbm_bytes() const { return bytes.hbm_read + bytes.hbm_written; }
    /// Of the whole operator with so much of the HBM bandwidth, as docs/scheduler.md has it for stages: the first
    /// round's operands, its block, all other rounds at their initiation interval, the last round's results.
    /// (Planaria's public code, src/optimizer/optimizer.py, sums up the same parts.)
    double cycles_at(double bytes_per_cycle) const;
};

/// The best kernel of an operator for any number of samples and tiles: the paper's assumption that kernels for each
/// amount of resources are compiled in advance (Adyna, section VIII). Cycles come from the cost model that the
/// scheduler uses for the pipelined designs (docs/scheduler.md): StageSearch::estimated_cycles() while factors and
/// rounds are searched, KernelSearch for those that were chosen. Partial sums between rounds of input channels stay in
/// the scratchpad in binary32; their accesses count as bytes, not as cycles.
class TenantKernels {
public:
    /// `graph` must outlive it. `exact`: kernel() has kernels for any number of samples, otherwise for the batch alone.
    TenantKernels(const sched::DynGraph& graph, const sched::HardwareDescription& hardware, bool exact = true);

    /// What a tenant runs: best() of these samples, or best() of all samples of a batch, of which the rounds and blocks
    /// that the real number does not need are left out (Adyna's Table II: kernels for each amount of resources, not for
    /// each size). Arguments and errors as of best().
    const TenantKernel& kernel(int op, std::uint32_t samples, unsigned tiles, double input_share = 1);

    /// The kernel with the fewest cycles_at() its tiles' share of the bandwidth, of those that fit; of kernels within a
    /// few percent the one that reads and writes less. Results are kept.
    /// 1 <= tiles <= the chip's, samples > 0. `input_share`: samples of the operands over those of as many whole ones;
    /// below 1 at merges whose sources have fewer samples than the result. Throws InputError that names the operator if
    /// not even one row and channel of one sample fit a scratchpad.
    const TenantKernel& best(int op, std::uint32_t samples, unsigned tiles, double input_share = 1);

    /// Cycles that the whole chip needs at least: all PEs busy (what the scheduler calls load), or all bytes once.
    double min_cycles(int op, std::uint32_t samples, double input_share = 1) const;
    /// Bytes that the operator's results take in HBM, a sample: whole, pooled or both, as they are asked for.
    double written_bytes_per_sample(int op) const;
    /// Bytes of all operands of one sample that it needs, each once.
    double read_bytes_per_sample(int op) const;
    /// The same without the rows that a stride larger than the filter passes over: what any kernel reads at least.
    double min_read_bytes_per_sample(int op) const;

    /// Elements that a sample's vector operations go through.
    double elements_per_sample(int op) const;
    /// Of a round on a tile: what it computes, but for the part of the reduction.
    sched::TileWork share_of(int op, const TenantKernel& kernel, std::uint32_t samples) const;
    static sched::TileWork block_of(const sched::TileWork& share, const TenantKernel& kernel);
    /// Bytes of a source that a tile reads for a block, and if all k slices read the same.
    double block_bytes(int op, const sched::Source& source, const sched::TileWork& block) const;
    bool shared_by_slices(int op, const sched::Source& source) const;
    /// Cycles of a block whose reduction is one round's.
    double round_cycles(const TenantKernel& kernel, const sched::TileWork& block);

    const sched::DynGraph& graph() const { return graph_; }
    const sched::HardwareDescription& hardware() const { return hardware_; }
    const sched::Workload& workload() const { return workload_; }
    /// TenantKernel::access_cycles of every kernel.
    double access_cycles() const;

private:
    /// Bytes of inputs that all k slices need are apart from those of which each reads its own channels.
    struct Inputs {
        double own = 0, shared = 0;
        double sum() const { return own + shared; }
    };

    TenantKernel search(int op, std::uint32_t samples, unsigned tiles, double input_share);
    /// The kernel for a whole batch with `samples` of its samples.
    TenantKernel fitted(int op, std::uint32_t samples, unsigned tiles, double input_share);
    /// Cycles and bytes of the kernel's rounds by the costs of its real blocks.
    void settle(int op, std::uint32_t samples, TenantKernel& kernel);
    /// Calls visit(kernel) for the rounds worth trying with these factors.
    template <class Visit>
    void for_each_rounds(int op, const TenantKernel& factors, const sched::TileWork& share, Visit&& visit) const;
    bool fits(int op, const sched::TileWork& share, const TenantKernel& kernel) const;
    /// Fills in `bytes`, `first_bytes`, `last_bytes`, all but the arrays' accesses.
    void count_bytes(int op, std::uint32_t samples, double input_share, const sched::TileWork& share,
                     TenantKernel& kernel) const;
    template <class Cycles>
    void count_cycles(int op, const sched::TileWork& share, TenantKernel& kernel, Cycles&& cycles_of) const;
    Inputs tile_inputs(int op, const sched::TileWork& block) const;
    sched::TileWork whole_sample(int op) const;

    const sched::Operator& at(int op) const { return graph_.operators[static_cast<std::size_t>(op)]; }

    const sched::DynGraph& graph_;
    sched::HardwareDescription hardware_;
    sched::Workload workload_;
    sched::StageSearch stages_;
    sched::KernelSearch kernels_;
    std::vector<TensorUses> uses_;
    double mean_hops_ = 0;  ///< between a tile and a memory interface
    bool exact_;
    std::map<std::tuple<int, double, std::uint32_t, unsigned, double>, TenantKernel> known_, fitted_;
};

}  // namespace switchyard::platform
