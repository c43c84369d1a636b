#include "switchyard/sw_scheduler/backend/segmentation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/backend/allocation.h"
#include "switchyard/sw_scheduler/backend/kernel_search.h"
#include "switchyard/sw_scheduler/formats/error.h"

namespace switchyard::sched {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

Segmenter::Segmenter(StageSearch& search, unsigned tiles, std::uint32_t unit_samples, const Margins& margins)
    : search_(search), tiles_(tiles), margins_(margins) {
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

double Segmenter::hand_over_cycles() const {
    constexpr unsigned kPackets = 3;  // probe, acknowledge, head of the data
    const HardwareDescription& hardware = search_.hardware();
    return hardware.setup_cycles + kPackets * hardware.average_travel_cycles();
}

double Segmenter::load_latency(const Source& source) const {
    const HardwareDescription& hardware = search_.hardware();
    const double message = hardware.setup_cycles + hardware.average_travel_cycles();
    const double read = message + hardware.memory_latency_cycles + hardware.average_travel_cycles();
    const double share = message;  // acknowledge of those that read along
    const bool framed = source.switch_id != kNoSwitch ||
                        (source.producer >= 0 && search_.workload().graph.operators[source.producer].dynamic());
    return (framed ? read + message : 0) + share + read;
}

double Segmenter::store_latency() const {
    const HardwareDescription& hardware = search_.hardware();
    return hardware.setup_cycles + hardware.memory_latency_cycles + 2 * hardware.average_travel_cycles();
}

double Segmenter::barrier_cycles() const {
    const HardwareDescription& hardware = search_.hardware();
    const unsigned farthest_hops = hardware.columns / 2 + hardware.rows / 2;
    const double farthest = farthest_hops * hardware.hop_cycles;
    return 2 * (hardware.setup_cycles + farthest) + tiles_;  // each tile's answer takes a cycle of the sequencer's link
}

double Segmenter::loaded_bytes(const SegmentPlan& plan, int op, unsigned source) const {
    const Operator& one = search_.workload().graph.operators[op];
    if (one.inputs[source].producer >= plan.first) return 0;
    const Stage& stage = plan.stages[static_cast<std::size_t>(op - plan.first)];
    return unit_read_bytes(one.shape, one.inputs[source], stage.largest, stage.k_ways) * plan.units *
           search_.workload().edge_share({op, source});
}

double Segmenter::stored_bytes(const SegmentPlan& plan, int op) const {
    const Workload& work = search_.workload();
    const Workload::Item& item = work.items[op];
    bool once = item.is_output;
    double sample_bytes = 0;
    std::set<std::tuple<int, unsigned, unsigned>> counted;  // switch, branch, group
    for (const Workload::Use& use : item.uses) {
        if (use.consumer < plan.last) continue;
        const Source& source = work.graph.operators[use.consumer].inputs[use.source];
        // A sample that takes one branch is stored once, one that takes several once for each.
        const bool several = source.switch_id != kNoSwitch && !work.graph.switches[source.switch_id].exclusive;
        if (!several) {
            once = true;
        } else if (counted.emplace(source.switch_id, source.branch, source.group).second) {
            sample_bytes += static_cast<double>(kElementBytes * source.taken_elements()) * work.edge_share(use);
        }
    }
    if (once) sample_bytes += static_cast<double>(work.graph.operators[op].output().bytes()) * item.expected_share;
    return sample_bytes * work.graph.batch_samples();
}

std::vector<Depths> Segmenter::depths_of(int first, int last, std::uint32_t unit_samples) {
    const Workload& work = search_.workload();
    const auto inside = [first](int op) { return op >= first; };
    double load = 0;
    for (int op = first; op < last; ++op) load += work.load(op);
    const double fastest_pace = load / tiles_ * unit_samples / work.graph.batch_samples();

    // When an operator begins and ends its first unit, in units of the fastest pace; what passes a switch waits for the
    // gate as well. A stage takes at most one, by the allocation, and less if a single tile needs less.
    std::vector<double> begin(static_cast<std::size_t>(last - first), 0), end(begin);
    const auto leaves_at = [&](const Source& source) {
        double at = end[source.producer - first];
        if (source.switch_id != kNoSwitch) {
            const int gate = work.graph.switches[source.switch_id].gate;
            if (inside(gate)) at = std::max(at, end[gate - first]);
        }
        return at;
    };
    for (int op = first; op < last; ++op) {
        const Operator& one = work.graph.operators[op];
        double& start = begin[op - first];
        for (const Source& source : one.inputs) {
            if (inside(source.producer)) start = std::max(start, leaves_at(source));
        }
        const Partition on_one_tile{static_cast<std::uint16_t>(unit_samples), 1, 1};
        const double alone = search_.estimated_cycles(tile_work(one.shape, work.items[op].operands, on_one_tile, 1)) +
                             hand_over_cycles();
        end[op - first] = start + (alone < fastest_pace ? alone / fastest_pace : 1.0);
    }
    std::vector<Depths> result(begin.size());
    const std::uint32_t units = work.graph.batch_samples() / unit_samples;
    const auto slots_for = [units](double units_waiting) {
        constexpr double kRounding = 1e-6;
        const double slots = 2 + std::max(0.0, std::ceil(units_waiting - kRounding));
        return static_cast<std::uint16_t>(std::min<double>(slots, units));
    };
    for (int op = first; op < last; ++op) {
        Depths& depths = result[op - first];
        for (const Source& source : work.graph.operators[op].inputs) {
            depths.slots.push_back(slots_for(inside(source.producer) ? begin[op - first] - leaves_at(source) : 0));
        }
        double waits = 0;  // an output with a switch stays until its gate has answered
        for (const int fed : work.items[op].feeds) {
            const int gate = work.graph.switches[fed].gate;
            if (inside(gate)) waits = std::max(waits, end[gate - first] - end[op - first]);
        }
        depths.out_slots = slots_for(waits);
    }
    return result;
}

double Segmenter::pace(const SegmentPlan& plan, std::size_t i, const Stage& stage) const {
    if (!stage.fits) return kNever;
    const int op = plan.first + static_cast<int>(i);
    const std::vector<Source>& inputs = search_.workload().graph.operators[op].inputs;
    double slowest = stage.cycles();
    for (std::size_t s = 0; s < inputs.size(); ++s) {
        const double latency = inputs[s].producer >= plan.first ? hand_over_cycles() : load_latency(inputs[s]);
        slowest = std::max(slowest, (latency + stage.in_cycles + stage.compute_cycles) / plan.depths[i].slots[s]);
    }
    const double latency = std::max(store_latency(), hand_over_cycles());
    return std::max(slowest, (stage.compute_cycles + latency + stage.out_cycles) / plan.depths[i].out_slots);
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
        return pace(plan, i, stage);
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

double Segmenter::usual_pace(const SegmentPlan& plan) const {
    const Workload& work = search_.workload();
    // Operators on one branch have the same sizes; those on different ones fluctuate against each other.
    struct Group {
        const BranchPath* path;
        double share, cycles;
    };
    std::vector<Group> groups;
    for (std::size_t i = 0; i < plan.stages.size(); ++i) {
        const int op = plan.first + static_cast<int>(i);
        const BranchPath& path = work.graph.operators[op].path;
        auto group =
            std::find_if(groups.begin(), groups.end(), [&](const Group& known) { return *known.path == path; });
        if (group == groups.end()) group = groups.insert(groups.end(), {&path, work.items[op].expected_share, 0});
        group->cycles = std::max(group->cycles, pace(plan, i, plan.stages[i]));
    }
    double mean = plan.memory_cycles / plan.units, variance = 0;
    for (const auto& [path, share, cycles] : groups) {
        const double relative = share > 0 ? (1 - share) / (share * plan.unit_samples) : 0;
        constexpr double kUnitsBetween = 2;  // that slots hold: stages do not wait for each other unit by unit
        const double other = relative * cycles * cycles / kUnitsBetween;
        const double spread = std::sqrt(variance + other);
        if (spread == 0) {
            mean = std::max(mean, cycles);
            continue;
        }
        // Mean and variance of the larger of two normal variables: C. E. Clark, The greatest of a finite set of random
        // variables, Operations Research 9 (1961), equations (2) to (5), without correlation.
        const double alpha = (mean - cycles) / spread;
        const double density = std::exp(-alpha * alpha / 2) / std::sqrt(2 * 3.14159265358979323846);
        const double first = std::erfc(-alpha / std::sqrt(2.0)) / 2, second = 1 - first;
        const double larger = mean * first + cycles * second + spread * density;
        const double square =
            (mean * mean + variance) * first + (cycles * cycles + other) * second + (mean + cycles) * spread * density;
        variance = std::max(0.0, square - larger * larger);
        mean = larger;
    }
    return mean;
}

void Segmenter::add_pipeline_cycles(SegmentPlan& plan) const {
    const Workload& work = search_.workload();
    const double unit_bandwidth = search_.hardware().memory_bytes_per_cycle() * plan.units;
    double fill = 0;
    std::vector<double> done(plan.stages.size(), 0);  // the first unit's
    for (int op = plan.first; op < plan.last; ++op) {
        const std::size_t i = static_cast<std::size_t>(op - plan.first);
        const Stage& stage = plan.stages[i];
        double start = 0;
        const std::vector<Source>& inputs = work.graph.operators[op].inputs;
        double loaded = 0;
        for (unsigned s = 0; s < inputs.size(); ++s) {
            const Source& source = inputs[s];
            if (source.producer < plan.first) {
                loaded += loaded_bytes(plan, op, s) / unit_bandwidth;
                start = std::max(start, load_latency(source) + std::max(stage.in_cycles, loaded));
                continue;
            }
            const std::size_t from = static_cast<std::size_t>(source.producer - plan.first);
            double leaves = done[from];
            if (source.switch_id != kNoSwitch) {
                const int gate = work.graph.switches[source.switch_id].gate;
                if (gate >= plan.first) leaves = std::max(leaves, done[gate - plan.first] + hand_over_cycles());
            }
            start =
                std::max(start, leaves + hand_over_cycles() + std::max(plan.stages[from].out_cycles, stage.in_cycles));
        }
        done[i] = start + stage.compute_cycles;
        const double stored = stored_bytes(plan, op) / unit_bandwidth;
        fill = std::max(fill, done[i] + (stored > 0 ? store_latency() + std::max(stage.out_cycles, stored) : 0));
    }
    plan.pipeline_cycles = fill + (plan.units - 1.0) * usual_pace(plan);
}

void Segmenter::add_memory_cycles(SegmentPlan& plan) const {
    const Workload& work = search_.workload();
    const HardwareDescription& hardware = search_.hardware();
    const auto interfaces = static_cast<double>(hardware.memory.size());
    double tensors = 0, weights = 0, most_weights = 0;  // `most`: on one interface
    // Slices are alike: where they do not come out even, some interfaces have one more. Tensors are spread evenly.
    const auto busiest = [&](double bytes, double pieces) { return bytes / pieces * std::ceil(pieces / interfaces); };
    for (int op = plan.first; op < plan.last; ++op) {
        const Operator& one = work.graph.operators[op];
        const Stage& stage = plan.stages[static_cast<std::size_t>(op - plan.first)];
        for (unsigned s = 0; s < one.inputs.size(); ++s) tensors += loaded_bytes(plan, op, s);
        tensors += stored_bytes(plan, op);
        const double bytes = static_cast<double>(one.weight_bytes);
        weights += bytes;
        most_weights = std::max(most_weights, busiest(bytes, stage.k_ways));
    }
    const double bandwidth = hardware.memory_bytes_per_cycle();
    const bool whole_network = plan.first == 0 && plan.last == static_cast<int>(work.items.size());
    if (!whole_network) {  // one segment keeps its weights
        plan.weight_cycles = std::max(weights, most_weights * interfaces) / bandwidth;
    }
    const double together = tensors + (plan.prefetchable && !whole_network ? weights : 0);
    plan.memory_cycles = together / bandwidth;
    if (plan.prefetchable) plan.memory_cycles = std::max(plan.memory_cycles, plan.weight_cycles);
}

std::optional<SegmentPlan> Segmenter::plan(int first, int last, std::uint32_t unit_samples, unsigned weight_copies) {
    SegmentPlan plan;
    plan.first = first;
    plan.last = last;
    plan.unit_samples = unit_samples;
    plan.units = static_cast<std::uint16_t>(search_.workload().graph.batch_samples() / unit_samples);
    plan.depths = depths_of(first, last, unit_samples);
    plan.prefetchable = weight_copies > 1;
    if (!allocate(plan, weight_copies)) return std::nullopt;
    add_memory_cycles(plan);
    add_pipeline_cycles(plan);
    add_cycles(plan);
    return plan;
}

void Segmenter::add_cycles(SegmentPlan& plan) const {
    plan.cycles = std::max(plan.pipeline_cycles, plan.memory_cycles) + (plan.prefetchable ? 0 : plan.weight_cycles) +
                  barrier_cycles();
}

std::optional<SegmentPlan> Segmenter::segment(int first, int last) {
    if (last - first > static_cast<int>(tiles_)) return std::nullopt;
    const bool whole_network = first == 0 && last == static_cast<int>(search_.workload().items.size());
    std::optional<SegmentPlan> best;
    for (const std::uint32_t size : unit_sizes_) {
        for (const unsigned copies : {2u, 1u}) {
            if (whole_network && copies == 2) continue;  // nothing follows
            std::optional<SegmentPlan> candidate = plan(first, last, size, copies);
            if (candidate && (!best || candidate->cycles < margins_.smaller_units * best->cycles))
                best = std::move(candidate);
        }
    }
    return best;
}

void Segmenter::deepen(SegmentPlan& plan, std::uint32_t other_weights) {
    const Workload& work = search_.workload();
    const auto dynamic = [&](int op) { return work.graph.operators[op].dynamic(); };
    const auto deepened = [&](std::size_t i, Depths depths) {
        const Stage& stage = plan.stages[i];
        const Stage trial = search_.spread(plan.first + static_cast<int>(i), stage.k_ways, stage.largest, depths, 1);
        if (!trial.fits || trial.footprint.total() + other_weights > search_.hardware().data_bytes()) return false;
        plan.depths[i] = std::move(depths);
        plan.stages[i].footprint = trial.footprint;
        return true;
    };
    for (std::size_t i = 0; i < plan.stages.size(); ++i) {
        const int op = plan.first + static_cast<int>(i);
        const std::vector<Source>& inputs = work.graph.operators[op].inputs;
        for (bool more = true; more;) {
            more = false;
            Depths depths = plan.depths[i];
            for (std::size_t s = 0; s < inputs.size(); ++s) {
                const bool fluctuates = dynamic(op) || inputs[s].switch_id != kNoSwitch ||
                                        (inputs[s].producer >= 0 && dynamic(inputs[s].producer));
                if (!fluctuates || depths.slots[s] >= std::min(plan.units, margins_.deepest)) continue;
                ++depths.slots[s];
                more = true;
            }
            if (more) more = deepened(i, std::move(depths));
        }
    }
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
    const auto depths = depths_of(first, last, unit);
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
