// SPDX-License-Identifier: Apache-2.0
// Segmenter: what a plan costs. The formulas are in docs/scheduler.md.

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "switchyard/sw_scheduler/adyna/compiler/segmentation.h"

namespace switchyard::sched {

std::uint64_t SegmentPlan::tile_group_bytes(const TileGroup& tile_group) const {
    std::uint64_t bytes = 0;
    for (const std::size_t i : tile_group) bytes += stages[i].footprint.total();
    return bytes;
}

SegmentPlan::TileBytes SegmentPlan::pair_bytes(const BranchPair& pair) const {
    TileBytes sum;
    for (const TileGroup& branch : pair.operators) {
        TileBytes max;
        for (const std::size_t i : branch) {
            max.weights = std::max<std::uint64_t>(max.weights, stages[i].footprint.weights);
            max.buffers = std::max(max.buffers, stages[i].footprint.buffers);
        }
        sum.weights += max.weights;
        sum.buffers += max.buffers;
    }
    return sum;
}

std::uint64_t SegmentPlan::max_bytes() const {
    std::uint64_t max = 0;
    for (const TileGroup& tile_group : tile_groups) max = std::max(max, tile_group_bytes(tile_group));
    for (const BranchPair& pair : pairs) max = std::max(max, pair_bytes(pair).total());
    return max;
}

std::uint32_t SegmentPlan::max_weight_bytes() const {
    std::uint32_t max = 0;
    for (const BranchPair& pair : pairs) max = std::max(max, static_cast<std::uint32_t>(pair_bytes(pair).weights));
    for (const TileGroup& tile_group : tile_groups) {
        std::uint32_t bytes = 0;
        for (const std::size_t i : tile_group) bytes += stages[i].footprint.weights;
        max = std::max(max, bytes);
    }
    return max;
}

double Segmenter::transfer_cycles() const {
    constexpr unsigned kPackets = 3;  // probe, acknowledge, head of the data
    const HardwareDescription& hardware = search_.hardware();
    return hardware.setup_cycles + kPackets * hardware.average_travel_cycles();
}

double Segmenter::load_latency(const Source& source, bool compacted) const {
    const HardwareDescription& hardware = search_.hardware();
    const double message = hardware.setup_cycles + hardware.average_travel_cycles();
    const double read = message + hardware.memory_latency_cycles + hardware.average_travel_cycles();
    const double share = hardware.multicast_reads ? message : 0;  // acknowledge of those that read along
    const bool reads_index_lists =
        compacted || source.switch_id != kNoSwitch ||
        (source.producer >= 0 && search_.workload().graph.operators[source.producer].dynamic());
    return (reads_index_lists ? read + message : 0) + share + read;
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

Segmenter::LoadedBytes Segmenter::loaded_bytes(const SegmentPlan& plan) const {
    const Workload& work = search_.workload();
    LoadedBytes loaded;
    for (int op = plan.first; op < plan.last; ++op) {
        const Operator& one = work.graph.operators[op];
        const Stage& stage = plan.stages[static_cast<std::size_t>(op - plan.first)];
        for (unsigned s = 0; s < one.inputs.size(); ++s) {
            if (one.inputs[s].producer >= plan.first) continue;
            const double bytes = unit_read_bytes(one.shape, one.inputs[s], stage.largest, stage.k_factor,
                                                 search_.hardware().multicast_reads);
            loaded.push_back(bytes * plan.units * work.edge_share({op, s}));
        }
    }
    return loaded;
}

double Segmenter::count_stored_bytes(int last, int op) const {
    const Workload& work = search_.workload();
    const Workload::Item& item = work.items[op];
    bool once = item.is_output;
    double sample_bytes = 0;
    std::set<std::tuple<int, unsigned, unsigned>> counted;  // switch, branch, group
    for (const Workload::Use& use : item.uses) {
        if (use.consumer < last) continue;
        const Source& source = work.graph.operators[use.consumer].inputs[use.source];
        // A sample that takes one branch is stored once, one that takes several once for each.
        const bool several = source.switch_id != kNoSwitch && !work.graph.switches[source.switch_id].exclusive;
        if (!several) {
            once = true;
        } else if (counted.emplace(source.switch_id, source.branch, source.group).second) {
            sample_bytes += static_cast<double>(source.taken_bytes()) * work.edge_share(use);
        }
    }
    if (once) sample_bytes += static_cast<double>(work.graph.operators[op].output().bytes()) * item.expected_share;
    return sample_bytes * work.graph.samples_in_flight();
}

double Segmenter::stored_bytes(int last, int op) const {
    const auto& ends = stored_bytes_[static_cast<std::size_t>(op)];
    return std::find_if(ends.begin(), ends.end(), [last](const auto& one) { return last <= one.first; })->second;
}

void Segmenter::look_up_stored_bytes() {
    const std::vector<Workload::Item>& items = search_.workload().items;
    for (std::size_t op = 0; op < items.size(); ++op) {
        std::set<int> ends{static_cast<int>(items.size())};
        for (const Workload::Use& use : items[op].uses) ends.insert(use.consumer);
        auto& bytes = stored_bytes_.emplace_back();
        for (const int end : ends) bytes.emplace_back(end, count_stored_bytes(end, static_cast<int>(op)));
    }
}

SlotTimes Segmenter::slot_times(int op, int first, bool compacted, const BufferSlots& all_slots) const {
    const std::vector<Source>& inputs = search_.workload().graph.operators[static_cast<std::size_t>(op)].inputs;
    SlotTimes times;
    for (std::size_t s = 0; s < inputs.size(); ++s) {
        const double latency = inputs[s].producer >= first ? transfer_cycles() : load_latency(inputs[s], compacted);
        const std::uint16_t slots = all_slots.in[s];
        const auto known =
            std::find_if(times.in.begin(), times.in.end(), [slots](const SlotTime& one) { return one.slots == slots; });
        if (known == times.in.end()) {
            times.in.push_back({latency, slots});
        } else {
            known->latency = std::max(known->latency, latency);
        }
    }
    times.out = {std::max(store_latency(), transfer_cycles()), all_slots.out};
    return times;
}

double Segmenter::initiation_interval(const SlotTimes& slots, const Stage& stage, double compute_cycles) {
    if (!stage.fits) return std::numeric_limits<double>::infinity();
    double slowest = std::max({compute_cycles, stage.in_cycles, stage.out_cycles, stage.memory_cycles});
    for (const SlotTime& in : slots.in)
        slowest = std::max(slowest, (in.latency + stage.in_cycles + compute_cycles) / in.slots);
    return std::max(slowest, (compute_cycles + slots.out.latency + stage.out_cycles) / slots.out.slots);
}

double Segmenter::initiation_interval(const SegmentPlan& plan, std::size_t i, const Stage& stage) const {
    return initiation_interval(plan.slot_times[i], stage, stage.compute_cycles);
}

TileGroupSamples Segmenter::samples(const SegmentPlan& plan, const TileGroup& tile_group) const {
    return tile_group_samples(search_.workload(), plan.first, tile_group, plan.unit_samples,
                              plan.slots[tile_group.front()].decided_switches);
}

Segmenter::Turns Segmenter::turns(const SegmentPlan& plan, const TileGroup& tile_group) const {
    Turns result;
    if (tile_group.size() == 1) return result;
    const TileGroupSamples all = samples(plan, tile_group);
    // Stages have what their own deviation adds to the mean; of the sum of all samples it is less.
    for (const std::size_t i : tile_group) {
        const TileGroupSamples alone =
            tile_group_samples(search_.workload(), plan.first, i, plan.unit_samples, plan.slots[i].decided_switches);
        result.means.push_back(alone.usual > 0 ? alone.mean / alone.usual * alone.active / all.active : 0);
    }
    result.usual = all.mean > 0 ? all.usual / all.mean : 0;
    return result;
}

Stage Segmenter::together(const Turns& turns, const StageList& stages) {
    Stage sum;
    for (std::size_t m = 0; m < stages.size(); ++m) {
        const double mean = turns.means[m];
        if (mean <= 0) continue;
        sum.compute_cycles += mean * stages[m]->compute_cycles;
        sum.in_cycles += mean * stages[m]->in_cycles;
        sum.out_cycles += mean * stages[m]->out_cycles;
    }
    sum.compute_cycles *= turns.usual;
    sum.in_cycles *= turns.usual;
    sum.out_cycles *= turns.usual;
    return sum;
}

double Segmenter::initiation_interval(const Turns& turns, const std::vector<SlotTimes>& slots,
                                      const TileGroup& tile_group, const StageList& stages) {
    const Stage sum = together(turns, stages);
    double slowest = sum.cycles();
    for (std::size_t m = 0; m < stages.size(); ++m)  // a slot is taken until the others have had their turn
        slowest = std::max(slowest, initiation_interval(slots[tile_group[m]], *stages[m], sum.compute_cycles));
    return slowest;
}

double Segmenter::initiation_interval(const SegmentPlan& plan, const TileGroup& tile_group,
                                      const StageList& stages) const {
    if (stages.size() == 1) return initiation_interval(plan, tile_group.front(), *stages.front());
    return initiation_interval(turns(plan, tile_group), plan.slot_times, tile_group, stages);
}

double Segmenter::initiation_interval(const SegmentPlan& plan, const TileGroup& tile_group) const {
    StageList stages;
    for (const std::size_t i : tile_group) stages.push_back(&plan.stages[i]);
    return initiation_interval(plan, tile_group, stages);
}

Normal larger_of(const Normal& a, const Normal& b, double covariance) {
    const double spread = std::sqrt(std::max(0.0, a.variance + b.variance - 2 * covariance));
    if (spread == 0) return a.mean >= b.mean ? a : b;
    // Mean and variance of the larger of two normal variables: C. E. Clark, The greatest of a finite set of random
    // variables, Operations Research 9 (1961), equations (2) to (5).
    const double alpha = (a.mean - b.mean) / spread;
    const double density = std::exp(-alpha * alpha / 2) / std::sqrt(2 * 3.14159265358979323846);
    const double first = std::erfc(-alpha / std::sqrt(2.0)) / 2, second = 1 - first;
    const double mean = a.mean * first + b.mean * second + spread * density;
    const double square = (a.mean * a.mean + a.variance) * first + (b.mean * b.mean + b.variance) * second +
                          (a.mean + b.mean) * spread * density;
    return {mean, std::max(0.0, square - mean * mean)};
}

std::vector<Segmenter::Group> Segmenter::groups(const SegmentPlan& plan, std::size_t pairs) const {
    const Workload& work = search_.workload();
    const auto in_pair = [&](const TileGroup& tile_group) {
        for (std::size_t p = 0; p < pairs; ++p) {
            for (const TileGroup& branch : plan.pairs[p].operators) {
                if (std::find(branch.begin(), branch.end(), tile_group.front()) != branch.end()) return true;
            }
        }
        return false;
    };
    // Operators on one branch have the same sizes; those on different ones fluctuate against each other. Tile groups of
    // the same grouped branches begin with the same branch.
    std::vector<Group> groups;
    groups.reserve(plan.tile_groups.size());
    for (const TileGroup& tile_group : plan.tile_groups) {
        if (in_pair(tile_group)) continue;
        const std::size_t front = tile_group.front();
        const int path = work.items[static_cast<std::size_t>(plan.first) + front].path;
        auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& known) { return known.path == path; });
        if (group == groups.end()) {
            const TileGroupSamples of_tile_group = samples(plan, tile_group);
            // One more unit has some samples and is not full.
            const double active =
                of_tile_group.active < 1 ? std::min(1.0, of_tile_group.active + 0.5 / plan.units_of_batch) : 1;
            group = groups.insert(groups.end(), {path, active, of_tile_group.relative_variance, 0});
        }
        group->cycles = std::max(group->cycles, initiation_interval(plan, tile_group));
    }
    return groups;
}

double Segmenter::usual_initiation_interval(const SegmentPlan& plan, const std::vector<Normal>& pairs) const {
    const std::vector<Group> all = groups(plan, pairs.size());
    const double memory = plan.memory_cycles / plan.units;
    // In a compacted segment as if the units of a rarer group were among those of every more frequent one.
    std::vector<double> shares;
    shares.reserve(all.size() + 1);
    shares.push_back(1);
    for (const Group& group : all) shares.push_back(group.active);
    std::sort(shares.begin(), shares.end());
    shares.erase(std::unique(shares.begin(), shares.end()), shares.end());
    double mean = 0, below = 0;
    for (const double share : shares) {
        Normal slowest{plan.order.empty() ? memory : 0, 0};
        for (const Group& group : all) {
            if (group.active < share) continue;
            slowest = larger_of(
                slowest, {group.cycles, group.relative_variance * group.cycles * group.cycles / kUnitsBetween}, 0);
        }
        for (const Normal& pair : pairs) slowest = larger_of(slowest, pair, 0);
        mean += (share - below) * slowest.mean;
        below = share;
    }
    return std::max(mean, memory);
}

double Segmenter::packed_interval(const SegmentPlan& plan) const {
    const std::vector<unsigned> gates = gates_in_front(plan.first, plan.last);
    std::map<unsigned, double> slowest;  // by gates in front
    for (const TileGroup& tile_group : plan.tile_groups) {
        double& cycles = slowest[gates[tile_group.front()]];
        cycles = std::max(cycles, samples(plan, tile_group).active * initiation_interval(plan, tile_group));
    }
    double sum = 0, max = 0;
    for (const auto& [count, cycles] : slowest) {
        sum += cycles;
        max = std::max(max, cycles);
    }
    // The parts work on different batches at a time: the first batch goes through all of them, the others follow.
    const double batches = static_cast<double>(plan.units) / plan.units_of_batch;
    return std::max((sum + (batches - 1) * max) / batches, plan.memory_cycles / plan.units);
}

void Segmenter::add_pipeline_cycles(SegmentPlan& plan, const LoadedBytes& all_loaded) const {
    const Workload& work = search_.workload();
    const double unit_bandwidth = search_.hardware().memory_bytes_per_cycle() * plan.units;
    double fill = 0;
    std::vector<double> compute;  // with the turns of a tile group's other members
    compute.reserve(plan.stages.size());
    for (const Stage& stage : plan.stages) compute.push_back(stage.compute_cycles);
    for (const TileGroup& tile_group : plan.tile_groups) {
        if (tile_group.size() == 1) continue;
        StageList stages;
        for (const std::size_t i : tile_group) stages.push_back(&plan.stages[i]);
        const double all = together(turns(plan, tile_group), stages).compute_cycles;
        for (const std::size_t i : tile_group) compute[i] = all;
    }
    std::vector<double> done(plan.stages.size(), 0);  // the first unit's
    auto bytes = all_loaded.begin();
    for (int op = plan.first; op < plan.last; ++op) {
        const std::size_t i = static_cast<std::size_t>(op - plan.first);
        const Stage& stage = plan.stages[i];
        double start = 0;
        const std::vector<Source>& inputs = work.graph.operators[op].inputs;
        double loaded = 0;
        for (const Source& source : inputs) {
            if (source.producer < plan.first) {
                loaded += *bytes++ / unit_bandwidth;
                start = std::max(start, load_latency(source, !plan.order.empty()) + std::max(stage.in_cycles, loaded));
                continue;
            }
            const std::size_t from = static_cast<std::size_t>(source.producer - plan.first);
            double leaves = done[from];
            if (source.switch_id != kNoSwitch) {
                const int gate = work.graph.switches[source.switch_id].gate;
                if (gate >= plan.first) leaves = std::max(leaves, done[gate - plan.first] + transfer_cycles());
            }
            start =
                std::max(start, leaves + transfer_cycles() + std::max(plan.stages[from].out_cycles, stage.in_cycles));
        }
        done[i] = start + compute[i];
        const double stored = stored_bytes(plan.last, op) / unit_bandwidth;
        fill = std::max(fill, done[i] + (stored > 0 ? store_latency() + std::max(stage.out_cycles, stored) : 0));
    }
    plan.pipeline_cycles =
        fill + (plan.units - 1.0) * (packing_ ? packed_interval(plan) : usual_initiation_interval(plan));
}

bool Segmenter::loads_weights(int first, int last) const {
    const bool whole_network = first == 0 && last == static_cast<int>(search_.workload().items.size());
    return !whole_network && weights_ == Weights::loaded;
}

void Segmenter::add_memory_cycles(SegmentPlan& plan, const LoadedBytes& all_loaded) const {
    const Workload& work = search_.workload();
    const HardwareDescription& hardware = search_.hardware();
    const auto interfaces = static_cast<double>(hardware.memory.size());
    double tensors = 0, weights = 0, max_weights = 0;  // on one interface
    auto bytes = all_loaded.begin();
    // Slices are alike: where they do not come out even, some interfaces have one more. Tensors are spread evenly.
    const auto busiest = [&](double size, double pieces) { return size / pieces * std::ceil(pieces / interfaces); };
    for (int op = plan.first; op < plan.last; ++op) {
        const Operator& one = work.graph.operators[op];
        const Stage& stage = plan.stages[static_cast<std::size_t>(op - plan.first)];
        for (const Source& source : one.inputs)
            if (source.producer < plan.first) tensors += *bytes++;
        tensors += stored_bytes(plan.last, op);
        const double copies = hardware.multicast_reads ? 1 : double{1} * stage.largest.n * stage.largest.p;
        const double weight_bytes = copies * static_cast<double>(one.weight_bytes);
        weights += weight_bytes;
        max_weights = std::max(max_weights, busiest(weight_bytes, stage.k_factor));
    }
    const double bandwidth = hardware.memory_bytes_per_cycle();
    const bool loads = loads_weights(plan.first, plan.last);
    plan.weight_cycles = 0;
    if (loads) {
        plan.weight_cycles = std::max(weights, max_weights * interfaces) / bandwidth;
    }
    const double together = tensors + (plan.prefetchable && loads ? weights : 0);
    plan.memory_cycles = together / bandwidth;
    if (plan.prefetchable) plan.memory_cycles = std::max(plan.memory_cycles, plan.weight_cycles);
}

void Segmenter::add_cycles(SegmentPlan& plan) const {
    plan.cycles = std::max(plan.pipeline_cycles, plan.memory_cycles) + (plan.prefetchable ? 0 : plan.weight_cycles) +
                  barrier_cycles();
}

}  // namespace switchyard::sched
