#include "switchyard/sw_scheduler/backend/segmentation.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/backend/allocation.h"
#include "switchyard/sw_scheduler/formats/error.h"

namespace switchyard::sched {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
/// Smaller units must promise at least this: each hand-over has costs that the formulas leave out.
constexpr double kWorthwhile = 0.97;
constexpr unsigned kPacketsOfHandOver = 3;  // probe, acknowledge, head of the data

double average_hops(const HardwareDescription& hardware) {
    return hardware.columns / 4.0 + hardware.rows / 4.0;  // of a torus
}

}  // namespace

Segmenter::Segmenter(StageSearch& search, unsigned tiles, std::uint32_t unit_samples) : search_(search), tiles_(tiles) {
    const std::uint32_t batch = search.workload().graph.batch_samples();
    constexpr std::uint32_t kLargestUnits = 0xFFFF;
    for (std::uint32_t size = std::min<std::uint32_t>(batch, 0xFFFF); size >= 1; --size) {
        if (batch % size == 0 && batch / size <= kLargestUnits && (unit_samples == 0 || size == unit_samples)) {
            unit_sizes_.push_back(size);
        }
    }
    if (unit_sizes_.empty()) {
        throw InputError(search.workload().graph.file, 0, "batch",
                         unit_samples > 0
                             ? fmt::format("{} samples cannot be cut into units of {}", batch, unit_samples)
                             : fmt::format("{} samples cannot be cut into equal hand-over units of at most "
                                           "65535 (16 bits of the kernel format)",
                                           batch));
    }
}

std::vector<Depths> Segmenter::depths_of(int first, int last, std::uint16_t units) const {
    const Workload& work = search_.workload();
    const auto inside = [first](int op) { return op >= first; };
    // Stages between the segment's entry and an operator. What passes a switch waits for the gate as well.
    std::vector<unsigned> depth(static_cast<std::size_t>(last - first), 0);
    const auto leaves_at = [&](const Source& source) {
        unsigned at = depth[source.producer - first];
        if (source.switch_id != kNoSwitch) {
            const int gate = work.graph.switches[source.switch_id].gate;
            if (inside(gate)) at = std::max(at, depth[gate - first]);
        }
        return at;
    };
    for (int op = first; op < last; ++op) {
        for (const Source& source : work.graph.operators[op].inputs) {
            if (inside(source.producer)) depth[op - first] = std::max(depth[op - first], leaves_at(source) + 1);
        }
    }
    std::vector<Depths> result(depth.size());
    const auto limited = [units](unsigned slots) {
        return static_cast<std::uint16_t>(std::min<unsigned>(slots, units));
    };
    for (int op = first; op < last; ++op) {
        Depths& depths = result[op - first];
        for (const Source& source : work.graph.operators[op].inputs) {
            const bool on_chip = inside(source.producer);
            depths.slots.push_back(limited(on_chip ? 2 + depth[op - first] - 1 - leaves_at(source) : 2));
        }
        unsigned waits = 0;  // an output with a switch stays until its gate has answered
        for (const int fed : work.items[op].feeds) {
            const int gate = work.graph.switches[fed].gate;
            if (inside(gate)) waits = std::max(waits, depth[gate - first] - depth[op - first]);
        }
        depths.out_slots = limited(2 + waits);
    }
    return result;
}

bool Segmenter::allocate(SegmentPlan& plan, unsigned weight_copies) {
    const Workload& work = search_.workload();
    std::vector<unsigned> least;
    std::vector<double> loads;
    unsigned sum = 0;
    for (int op = plan.first; op < plan.last; ++op) {
        least.push_back(search_.least_tiles(op, plan.unit_samples, plan.depths[op - plan.first], weight_copies));
        if (least.back() == 0 || (sum += least.back()) > tiles_) return false;
        loads.push_back(work.load(op));
    }
    const auto cycles = [&](std::size_t i, unsigned tiles) {
        const Stage& stage =
            search_.best(plan.first + static_cast<int>(i), tiles, plan.unit_samples, plan.depths[i], weight_copies);
        return stage.fits ? stage.cycles() : kNever;
    };
    plan.tiles = allocate_proportional(tiles_, loads, least);
    refine(plan.tiles, least, cycles);
    for (std::size_t i = 0; i < plan.tiles.size(); ++i) {
        plan.stages.push_back(search_.best(plan.first + static_cast<int>(i), plan.tiles[i], plan.unit_samples,
                                           plan.depths[i], weight_copies));
        if (!plan.stages.back().fits) return false;
    }
    return true;
}

void Segmenter::add_costs(SegmentPlan& plan) const {
    const Workload& work = search_.workload();
    const HardwareDescription& hardware = search_.hardware();
    const double batch = work.graph.batch_samples();
    const double hand_over = kPacketsOfHandOver * average_hops(hardware) * hardware.hop_cycles;

    const double bandwidth = hardware.memory_bytes_per_cycle();

    double slowest = 0, fill = 0, weights = 0, tensors = 0;
    std::vector<double> done(plan.stages.size(), 0);  // the first unit's
    for (int op = plan.first; op < plan.last; ++op) {
        const Operator& one = work.graph.operators[op];
        const std::size_t i = static_cast<std::size_t>(op - plan.first);
        const Stage& stage = plan.stages[i];
        double start = 0, loaded = 0;
        for (unsigned s = 0; s < one.inputs.size(); ++s) {
            const Source& source = one.inputs[s];
            if (source.producer >= plan.first) {
                const std::size_t from = static_cast<std::size_t>(source.producer - plan.first);
                double leaves = done[from] + hand_over;
                if (source.switch_id != kNoSwitch) {
                    const int gate = work.graph.switches[source.switch_id].gate;
                    if (gate >= plan.first) leaves = std::max(leaves, done[gate - plan.first] + 2 * hand_over);
                }
                start = std::max(start, leaves + std::max(plan.stages[from].out_cycles, stage.in_cycles));
            } else {
                const double elements = source.reduce == EdgeReduce::global_pool
                                            ? double{1} * source.shape.channels
                                            : static_cast<double>(source.shape.elements());
                loaded += kElementBytes * elements * batch * work.edge_share({op, s});
            }
        }
        if (loaded > 0) {
            start = std::max(
                start, hardware.memory_latency_cycles + std::max(loaded / plan.units / bandwidth, stage.in_cycles));
        }
        done[i] = start + stage.compute_cycles;
        slowest = std::max(slowest, stage.cycles());
        weights += static_cast<double>(one.weight_bytes);
        bool stored = work.items[op].is_output;
        for (const Workload::Use& use : work.items[op].uses) stored = stored || use.consumer >= plan.last;
        double end = done[i];
        if (stored) {
            const double bytes = static_cast<double>(one.output().bytes()) * batch * work.items[op].expected_share;
            end += hardware.memory_latency_cycles + std::max(bytes / plan.units / bandwidth, stage.out_cycles);
            tensors += bytes;
        }
        tensors += loaded;
        fill = std::max(fill, end);
    }
    const bool whole_network = plan.first == 0 && plan.last == static_cast<int>(work.items.size());
    const double weight_cycles = whole_network ? 0 : weights / bandwidth;  // one segment keeps its weights
    plan.pipeline_cycles = fill + (plan.units - 1.0) * slowest;
    plan.memory_cycles = tensors / bandwidth + (plan.prefetchable ? weight_cycles : 0);
    const double start_up = 4 * average_hops(hardware) * hardware.hop_cycles + hardware.memory_latency_cycles;
    plan.cycles =
        std::max(plan.pipeline_cycles, plan.memory_cycles) + (plan.prefetchable ? 0 : weight_cycles) + start_up;
}

std::optional<SegmentPlan> Segmenter::plan(int first, int last, std::uint32_t unit_samples, unsigned weight_copies) {
    SegmentPlan plan;
    plan.first = first;
    plan.last = last;
    plan.unit_samples = unit_samples;
    plan.units = static_cast<std::uint16_t>(search_.workload().graph.batch_samples() / unit_samples);
    plan.depths = depths_of(first, last, plan.units);
    plan.prefetchable = weight_copies > 1;
    if (!allocate(plan, weight_copies)) return std::nullopt;
    add_costs(plan);
    return plan;
}

std::optional<SegmentPlan> Segmenter::segment(int first, int last) {
    if (last - first > static_cast<int>(tiles_)) return std::nullopt;
    const bool whole_network = first == 0 && last == static_cast<int>(search_.workload().items.size());
    std::optional<SegmentPlan> best;
    for (const std::uint32_t size : unit_sizes_) {
        for (const unsigned copies : {2u, 1u}) {
            if (whole_network && copies == 2) continue;  // nothing follows
            std::optional<SegmentPlan> candidate = plan(first, last, size, copies);
            if (candidate && (!best || candidate->cycles < kWorthwhile * best->cycles)) best = std::move(candidate);
        }
    }
    return best;
}

std::vector<SegmentPlan> Segmenter::best() {
    const int count = static_cast<int>(search_.workload().items.size());
    struct Step {
        double cycles = kNever;
        SegmentPlan segment;  ///< the last one
    };
    std::vector<Step> steps(static_cast<std::size_t>(count) + 1);
    steps[0].cycles = 0;
    int stuck = 0;  // end of the longest prefix that can be scheduled
    for (int first = 0; first < count; ++first) {
        if (steps[first].cycles == kNever || !may_cut(first)) continue;
        stuck = first;
        bool fitted = false;
        for (int last = first + 1; last <= count; ++last) {
            if (!may_cut(last)) continue;
            std::optional<SegmentPlan> candidate = segment(first, last);
            if (!candidate) {
                if (fitted) break;  // more operators need more room
                continue;
            }
            fitted = true;
            const double cycles = steps[first].cycles + candidate->cycles;
            if (cycles < steps[last].cycles) steps[last] = {cycles, std::move(*candidate)};
        }
    }
    if (steps[count].cycles == kNever) {
        int last = stuck + 1;
        while (!may_cut(last)) ++last;
        fail(stuck, last);
    }
    std::vector<SegmentPlan> result;
    for (int at = count; at > 0; at = result.back().first) result.push_back(std::move(steps[at].segment));
    std::reverse(result.begin(), result.end());
    return result;
}

void Segmenter::fail(int first, int last) {
    const Workload& work = search_.workload();
    const HardwareDescription& hardware = search_.hardware();
    const std::uint32_t unit = unit_sizes_.back();
    const auto depths = depths_of(first, last, static_cast<std::uint16_t>(work.graph.batch_samples() / unit));
    unsigned sum = 0;
    std::string needs;
    for (int op = first; op < last; ++op) {
        const Operator& one = work.graph.operators[op];
        const unsigned least = search_.least_tiles(op, unit, depths[op - first], 1);
        if (least == 0 || least > tiles_) {
            const Footprint bytes = search_.smallest_footprint(op, tiles_, unit, depths[op - first]);
            throw InputError(
                work.graph.file, one.line, one.name,
                fmt::format("does not fit: {} bytes of weights and {} bytes of buffers on each of {} tiles, which have "
                            "{} bytes for data",
                            bytes.weights, bytes.buffers, tiles_, hardware.data_bytes()));
        }
        sum += least;
        needs += fmt::format("{}{} ({} tiles)", needs.empty() ? "" : ", ", one.name, least);
    }
    throw InputError(work.graph.file, work.graph.operators[first].line, work.graph.operators[first].name,
                     fmt::format("must share a segment with the switch's other operators, which need {} tiles of {} "
                                 "together: {}",
                                 sum, tiles_, needs));
}

}  // namespace switchyard::sched
