// SPDX-License-Identifier: Apache-2.0
// The kernels of each operator, and how operators that share tiles choose between theirs.

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/adyna/compiler/schedule.h"
#include "switchyard/sw_scheduler/adyna/compiler/splits.h"
#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::sched {

namespace {

/// Kernels of one operator in each allocation of an operator on shared tiles: 200 on a tile, for two operators with
/// three allocations each (Adyna, section VII).
constexpr unsigned kMaxSharedKernels = 32;

constexpr std::uint32_t kLargestDynDim = 0xFFFF;  ///< of the kernel format

/// One allocation of an operator: its kernels, and their partitions.
struct KernelList {
    std::vector<Partition> partitions;
    std::vector<Kernel> kernels;
    bool for_empty_units = false;  ///< too few tiles for any sample: a kernel that none uses
};
using KernelLists = std::vector<KernelList>;

/// Tiles of an operator in each of its allocations.
std::vector<unsigned> allocations_of(const SegmentPlan& segment, std::size_t i) {
    if (segment.shared.empty() || segment.shared[i].empty()) return {segment.tiles[i]};
    const std::vector<unsigned>& tiles = segment.shared[i];
    const bool change = std::any_of(tiles.begin(), tiles.end(), [&](unsigned count) { return count != tiles.front(); });
    return change ? tiles : std::vector<unsigned>{tiles.front()};
}

const SegmentPlan& segment_of(const Schedule& schedule, const PlacedOperator& placed) {
    return schedule.segments[placed.segment];
}

std::size_t index_of(const Schedule& schedule, const PlacedOperator& placed) {
    return static_cast<std::size_t>(placed.op - segment_of(schedule, placed).first);
}

/// Kernels that each dynamic operator may have in each of its allocations: what the static ones, of one kernel each,
/// leave of its fullest tile's store, shared evenly. Zero if there is no room even for one each.
std::vector<unsigned> kernel_budgets(const Schedule& schedule, const DynGraph& graph,
                                     const HardwareDescription& hardware) {
    std::vector<unsigned> fixed(hardware.tiles(), 0), dynamic(hardware.tiles(), 0);
    const auto lists = [&](const PlacedOperator& one) {
        return static_cast<unsigned>(allocations_of(segment_of(schedule, one), index_of(schedule, one)).size());
    };
    for (const PlacedOperator& one : schedule.operators) {
        for (const std::uint16_t tile : one.placement.tiles)
            (graph.operators[one.op].dynamic() ? dynamic : fixed)[tile] += lists(one);
    }
    const unsigned store = hardware.kernel_store_size();
    std::vector<unsigned> budgets;
    for (const PlacedOperator& one : schedule.operators) {
        unsigned budget = lists(one) > 1 ? kMaxSharedKernels : store;
        for (const std::uint16_t tile : one.placement.tiles) {
            const unsigned left = store - std::min(store, fixed[tile]);
            budget = std::min(budget, dynamic[tile] > 0 ? left / dynamic[tile] : (fixed[tile] <= store ? 1 : 0));
        }
        budgets.push_back(budget);
    }
    return budgets;
}

class KernelWriter {
public:
    KernelWriter(Schedule& schedule, const Segmenter& segmenter, StageSearch& stages)
        : schedule_(schedule), segmenter_(segmenter), stages_(stages), search_(stages.hardware()) {}

    /// Kernels for those of `dyn_dims` whose boxes fit the operator's slots, in each of its allocations.
    void add(const PlacedOperator& placed, const DynDims& dyn_dims) {
        const Operator& one = stages_.workload().graph.operators[placed.op];
        const std::size_t i = index_of(schedule_, placed);
        const Stage& stage = segment_of(schedule_, placed).stages[i];
        KernelLists lists;
        for (const unsigned tiles : allocations_of(segment_of(schedule_, placed), i)) {
            KernelList list;
            for (const std::uint16_t dyn_dim : dyn_dims) {
                const auto unit =
                    static_cast<std::uint16_t>(std::min<std::uint32_t>(dyn_dim, placed.placement.unit_samples));
                const bool planned = lists.empty() && unit == placed.placement.unit_samples;
                const Partition partition =
                    planned ? stage.largest
                            : stages_.best_partition(placed.op, stage.k_factor, tiles / stage.k_factor, unit,
                                                     placed.footprint, stage.largest.p);
                if (partition.n == 0 && !lists.empty()) break;
                list.partitions.push_back({dyn_dim, partition.n, partition.p});
                list.kernels.push_back(make_kernel(search_, one.shape, stages_.workload().items[placed.op].operands,
                                                   partition, stage.k_factor, placed.placement.op_id, dyn_dim / unit));
            }
            if (list.kernels.empty()) {
                list.partitions.push_back(lists.front().partitions.front());
                list.kernels.push_back(lists.front().kernels.front());
                list.for_empty_units = true;
            }
            lists.push_back(std::move(list));
        }
        lists_.push_back(std::move(lists));
    }

    /// Writes down what has been added, for all operators in order.
    void finish() {
        for (const SegmentPlan& segment : schedule_.segments) {
            for (const BranchPair& pair : segment.pairs) write_costs(segment, pair);
        }
        for (PlacedOperator& placed : schedule_.operators) {
            OperatorPlacement& placement = placed.placement;
            KernelLists& lists = lists_[placed.op];
            if (lists.size() == 1) placement.allocations.clear();
            for (std::size_t k = 0; k < lists.size(); ++k) {
                if (lists.size() > 1)
                    placement.allocations[k].first_partition = static_cast<std::uint16_t>(placement.partitions.size());
                const KernelList& list = lists[k];
                placement.partitions.insert(placement.partitions.end(), list.partitions.begin(), list.partitions.end());
                placed.kernels.insert(placed.kernels.end(), list.kernels.begin(), list.kernels.end());
            }
        }
    }

private:
    KernelLists& lists_of(const SegmentPlan& segment, std::size_t i) {
        return lists_[static_cast<std::size_t>(segment.first) + i];
    }
    const KernelList& list_of(const SegmentPlan& segment, std::size_t i, std::size_t allocation) {
        const KernelLists& lists = lists_of(segment, i);
        return lists.size() > 1 ? lists[allocation] : lists.front();
    }

    /// What a unit takes on the slowest operator of a branch, for all sizes that each of them has a kernel for. Sizes
    /// are those of an invocation: of the batch, whose samples are taken to be evenly spread over its units, or of the
    /// unit.
    std::vector<UnitCycles> cycles_of(const SegmentPlan& segment, const TileGroup& branch, std::size_t allocation) {
        std::vector<UnitCycles> costs;
        const std::uint32_t units = stages_.by_batch() ? segment.units_of_batch : 1;
        for (std::uint32_t samples = 1; samples <= segment.unit_samples * units; ++samples) {
            double slowest = 0;
            for (const std::size_t i : branch) {
                const KernelList& list = list_of(segment, i, allocation);
                const int fit = best_fit(list.partitions, samples);
                if (fit < 0 || list.for_empty_units) return costs;
                const auto at = static_cast<std::size_t>(fit);
                Partition partition = list.partitions[at];
                partition.dyn_dim = list.kernels[at].unit_samples();
                slowest = std::max(
                    slowest, initiation_interval(segment, i, partition, list.kernels[at], ceil_div(samples, units)));
            }
            const auto cycles = static_cast<std::uint32_t>(
                std::min<double>(std::ceil(slowest), std::numeric_limits<std::uint32_t>::max()));
            if (costs.empty() || costs.back().cycles != cycles) costs.push_back({0, cycles});
            costs.back().dyn_dim = static_cast<std::uint16_t>(samples);
        }
        return costs;
    }

    double initiation_interval(const SegmentPlan& segment, std::size_t i, const Partition& partition,
                               const Kernel& kernel, std::uint32_t samples) {
        const int op = segment.first + static_cast<int>(i);
        const unsigned k_factor = segment.stages[i].k_factor;
        Stage stage = stages_.fitted(op, k_factor, partition, static_cast<std::uint16_t>(samples));
        const std::uint32_t block = std::min(samples, ceil_div(partition.dyn_dim, partition.n));
        const TileWork work =
            tile_work(stages_.workload().graph.operators[op].shape, stages_.workload().items[op].operands,
                      {static_cast<std::uint16_t>(block), 1, partition.p}, k_factor);
        stage.compute_cycles = static_cast<double>(nest_cost(stages_.hardware(), work, blocking_of(kernel)).cycles);
        return segmenter_.initiation_interval(segment, i, stage);
    }

    void write_costs(const SegmentPlan& segment, const BranchPair& pair) {
        for (std::size_t k = 0; k < pair.allocations; ++k) {
            std::array<std::vector<UnitCycles>, 2> costs;
            for (std::size_t side = 0; side < 2; ++side) costs[side] = cycles_of(segment, pair.operators[side], k);
            for (std::size_t side = 0; side < 2; ++side) {
                for (const std::size_t i : pair.operators[side]) {
                    OperatorPlacement& placement =
                        schedule_.operators[static_cast<std::size_t>(segment.first) + i].placement;
                    placement.allocations.push_back({0, costs[side], costs[1 - side]});
                }
            }
        }
    }

    Schedule& schedule_;
    const Segmenter& segmenter_;
    StageSearch& stages_;
    KernelSearch search_;
    std::vector<KernelLists> lists_;  ///< by operator
};

}  // namespace

namespace {

/// A kernel that walks several units is for whole ones: for other sizes it would be the same loops.
DynDims in_whole_units(DynDims dyn_dims, std::uint32_t unit_samples) {
    for (std::uint16_t& dyn_dim : dyn_dims)
        if (dyn_dim > unit_samples)
            dyn_dim = static_cast<std::uint16_t>(ceil_div<std::uint32_t>(dyn_dim, unit_samples) * unit_samples);
    dyn_dims.erase(std::unique(dyn_dims.begin(), dyn_dims.end()), dyn_dims.end());
    return dyn_dims;
}

}  // namespace

void generate_kernels(Schedule& schedule, const Segmenter& segmenter, StageSearch& stages, const Design& design,
                      const KernelChoice& choice) {
    const HardwareDescription& hardware = stages.hardware();
    const std::vector<unsigned> budgets = kernel_budgets(schedule, stages.workload().graph, hardware);
    KernelWriter writer(schedule, segmenter, stages);
    for (const PlacedOperator& placed : schedule.operators) {
        const Operator& one = stages.workload().graph.operators[placed.op];
        const unsigned budget = budgets[placed.op];
        if (budget == 0 && !design.has(Mechanism::every_kernel)) {
            throw Infeasible(
                stages.workload().graph.file, one.line, one.name,
                fmt::format(
                    "expected room for a kernel, found none: a tile's {} bytes hold {}, its operators need "
                    "more; raise scratchpad.kernel_share or scratchpad.capacity_bytes, or take a batch with smaller "
                    "factors (sy-sim gemm: --m)",
                    hardware.kernel_region_bytes(), hardware.kernel_store_size()));
        }
        const bool by_batch = design.has(Mechanism::batch_invocation);
        const std::uint32_t samples =
            by_batch ? stages.workload().graph.batch_samples() : placed.placement.unit_samples;
        if (samples > kLargestDynDim)
            throw Infeasible(
                stages.workload().graph.file, 0, "batch",
                fmt::format(
                    "expected invocations of at most {} samples, as a kernel has, found {}; take smaller batches",
                    kLargestDynDim, samples));
        const auto largest = static_cast<std::uint16_t>(samples);
        unsigned count = design.has(Mechanism::multi_kernel) && one.dynamic() ? budget : 1;
        if (design.has(Mechanism::every_kernel) && one.dynamic()) count = largest;
        const bool compacted = !by_batch && one.dynamic() && placed.slots.decided_switches == one.path.size();
        const DynDims dyn_dims = choice.profile == nullptr || design.has(Mechanism::every_kernel)
                                     ? uniform_dyn_dims(largest, count)
                                     : sample_dyn_dims(choice.sampling, largest, count,
                                                       choice.profile->operators[static_cast<std::size_t>(placed.op)],
                                                       compacted ? stages.workload().graph.batch_samples() : 0);
        writer.add(placed, in_whole_units(dyn_dims, placed.placement.unit_samples));
    }
    writer.finish();
}

}  // namespace switchyard::sched
