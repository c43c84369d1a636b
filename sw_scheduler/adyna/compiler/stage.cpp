// SPDX-License-Identifier: Apache-2.0
// StageSearch: what an operator costs with given factors.
#include "switchyard/sw_scheduler/adyna/compiler/stage.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "switchyard/sw_scheduler/adyna/compiler/kernel_search.h"
#include "switchyard/sw_scheduler/adyna/compiler/splits.h"
#include "switchyard/sw_scheduler/base/rounding.h"

namespace switchyard::sched {

namespace {

/// What a gate or a step across channels keeps, binary32, lies behind the results.
std::uint32_t output_slot_bytes(const Operator& op, const TileWork& work) {
    const std::uint32_t results = aligned(work.output_bytes());
    return op.gate_switch == kNoSwitch && !op.across_channels() ? results : kKeptSlotParts * results;
}

/// Tiles must not share out the channels of an operator that compares or normalises them. A gate without parameters
/// compares nothing: its decisions are recorded.
bool needs_all_channels(const DynGraph& graph, const Operator& op) {
    const bool gate = op.gate_switch != kNoSwitch;
    const bool compares = gate && (graph.switches[static_cast<std::size_t>(op.gate_switch)].patience > 0 ||
                                   (op.shape.out_channels > 1 && !op.parameters.empty()));
    return compares || op.across_channels();
}

}  // namespace

StageSearch::StageSearch(const Workload& workload, const HardwareDescription& hardware, Invocation invocation)
    : workload_(workload), hardware_(hardware), invocation_(invocation), recent_(kRecent * workload.items.size()) {
    std::map<std::string, int> known;
    for (std::size_t op = 0; op < workload.items.size(); ++op) {
        const Operator& one = workload.graph.operators[op];
        const OperatorShape& s = one.shape;
        std::vector<InputBytes>& inputs = input_bytes_.emplace_back();
        for (const Source& source : one.inputs) inputs.emplace_back(s, source);
        std::string key;
        const auto add = [&key](auto value) { key += std::to_string(value) + ","; };
        for (const unsigned value :
             {static_cast<unsigned>(s.kind), unsigned{s.out_channels}, unsigned{s.in_channels}, unsigned{s.out_rows},
              unsigned{s.out_columns}, unsigned{s.in_rows}, unsigned{s.in_columns}, unsigned{s.filter_rows},
              unsigned{s.filter_columns}, unsigned{s.stride}, unsigned{s.pad}, unsigned{s.heads},
              workload.items[op].operands}) {
            add(value);
        }
        add(unsigned{s.element_bytes});
        add(unsigned{s.joined});
        add(one.across_channels() ? 1 : 0);
        add(needs_all_channels(workload.graph, one) ? 1 : 0);
        add(one.gate_switch != kNoSwitch ? 1 : 0);
        add(one.weight_bytes);
        add(workload.items[op].expected_share);
        for (unsigned level = 1; level < one.path.size(); ++level) add(workload.share_on(static_cast<int>(op), level));
        for (unsigned i = 0; i < one.inputs.size(); ++i) {
            const Source& source = one.inputs[i];
            add(static_cast<int>(source.role) * 2 + static_cast<int>(source.reduce));
            add(source.shape.channels);
            add(source.groups);
            add(source.shape.rows);
            add(source.shape.columns);
            add(unsigned{source.shape.element_bytes});
            if (!hardware.multicast_reads) add(workload.edge_share({static_cast<int>(op), i}));
        }
        for (const Workload::Use& use : workload.items[op].uses) {
            const Source& taken = workload.graph.operators[use.consumer].inputs[use.source];
            add(static_cast<int>(taken.reduce));
            add(taken.groups);
            add(workload.edge_share(use));
        }
        sample_work_.push_back(sched::tile_work(s, workload.items[op].operands, {1, 1, 1}, 1));
        class_.push_back(known.emplace(key, static_cast<int>(known.size())).first->second);
    }
}

int StageSearch::class_of(int op) const {
    return class_[static_cast<std::size_t>(op)];
}

unsigned StageSearch::max_k_factor(int op) const {
    const Operator& one = workload_.graph.operators[op];
    return needs_all_channels(workload_.graph, one) ? 1 : one.shape.out_channels;
}

unsigned StageSearch::max_p_factor(int op) const {
    for (const Workload::Use& use : workload_.items[op].uses) {
        const Source& source = workload_.graph.operators[use.consumer].inputs[use.source];
        if (source.reduce == EdgeReduce::global_pool) return kMaxPooledParts;
    }
    return hardware_.tiles();
}

std::uint32_t StageSearch::row_passes(std::uint16_t n, std::uint16_t p, std::uint16_t q) {
    const std::uint64_t key = std::uint64_t{n} << 32 | std::uint64_t{p} << 16 | q;
    const auto found = passes_.find(key);
    if (found != passes_.end()) return found->second;
    std::uint32_t fewest = std::numeric_limits<std::uint32_t>::max();
    const unsigned rows = hardware_.pe_rows;
    for (unsigned a = 1; a <= std::min<unsigned>(n, rows); ++a) {
        for (unsigned b = 1; b <= std::min<unsigned>(p, rows / a); ++b) {
            fewest = std::min(fewest, ceil_div(n, a) * ceil_div(p, b) * ceil_div(q, rows / (a * b)));
        }
    }
    return passes_.emplace(key, fewest).first->second;
}

double StageSearch::estimated_cycles(const TileWork& work) {
    const double outputs = static_cast<double>(work.outputs());
    if (work.vector_op) {
        const double elements = outputs * work.reduction;
        return std::max({std::ceil(elements / hardware_.pes()),
                         work.operand_bytes * elements / hardware_.scratchpad_bytes_per_cycle,
                         work.element_bytes * outputs / hardware_.scratchpad_write_bytes_per_cycle});
    }
    const double row_outputs = double{1} * work.size[kN] * work.size[kP] * work.size[kQ];
    const double rows = std::min<double>(row_outputs, hardware_.pe_rows);
    const double columns = std::min<double>(work.size[kK], hardware_.pe_columns);
    const double passes = double{1} * row_passes(work.size[kN], work.size[kP], work.size[kQ]) *
                          ceil_div(work.size[kK], hardware_.pe_columns);
    const double inputs = work.channelwise ? rows * columns : rows;
    const double block =
        std::max({work.reduction * (work.channelwise ? columns : 1.0), rows,
                  kElementBytes * work.reduction * (inputs + columns) / hardware_.scratchpad_bytes_per_cycle,
                  work.element_bytes * rows * columns / hardware_.scratchpad_write_bytes_per_cycle});
    return passes * block + 2 * rows + columns - 2;
}

TileWork StageSearch::tile_work(int op, const Partition& partition, unsigned k_factor) const {
    const OperatorShape& shape = workload_.graph.operators[op].shape;
    TileWork work = sample_work_[static_cast<std::size_t>(op)];
    work.size = block_size(shape, partition, k_factor);
    return work;
}

double StageSearch::cycles_on_one_tile(int op, std::uint32_t unit_samples) {
    if (recent_on_one_tile_ == nullptr || recent_on_one_tile_->first != unit_samples)
        recent_on_one_tile_ = &*on_one_tile_.try_emplace(unit_samples, workload_.items.size()).first;
    double& cycles = recent_on_one_tile_->second[static_cast<std::size_t>(op)];
    if (cycles == 0) cycles = estimated_cycles(tile_work(op, {narrow(unit_samples), 1, 1}, 1));
    return cycles;
}

std::uint32_t StageSearch::slice_bytes(int op, unsigned k_factor) const {
    const Operator& one = workload_.graph.operators[op];
    const std::uint64_t channel = ceil_div(one.weight_bytes, one.shape.out_channels);
    return aligned(channel * ceil_div(one.shape.out_channels, k_factor));
}

Footprint StageSearch::footprint(int op, unsigned k_factor, const Partition& largest, const BufferSlots& slots) const {
    const Operator& one = workload_.graph.operators[op];
    const TileWork work = tile_work(op, largest, k_factor);
    Footprint result;
    const std::vector<InputBytes>& inputs = input_bytes_[op];
    result.slot_bytes.reserve(inputs.size());
    result.weights = slice_bytes(op, k_factor);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        result.slot_bytes.push_back(aligned(inputs[i](work)));
        result.buffers += std::uint64_t{result.slot_bytes.back()} * slots.in[i];
    }
    result.out_slot_bytes = output_slot_bytes(one, work);
    result.buffers += std::uint64_t{result.out_slot_bytes} * slots.out;
    return result;
}

std::uint64_t StageSearch::bytes(const StageQuery& query, unsigned k_factor, const Partition& largest) const {
    const Operator& one = workload_.graph.operators[query.op];
    const TileWork work = tile_work(query.op, largest, k_factor);
    std::uint64_t sum = std::uint64_t{query.weight_copies} * slice_bytes(query.op, k_factor) +
                        std::uint64_t{output_slot_bytes(one, work)} * query.slots.out;
    const std::vector<InputBytes>& inputs = input_bytes_[query.op];
    for (std::size_t i = 0; i < inputs.size(); ++i) sum += std::uint64_t{aligned(inputs[i](work))} * query.slots.in[i];
    return sum;
}

Stage StageSearch::timed(int op, unsigned k_factor, const Partition& partition) {
    const Workload::Item& item = workload_.items[op];
    const TileWork work = tile_work(op, partition, k_factor);
    double in = 0, out = 0;
    for (const InputBytes& input : input_bytes_[op]) in += static_cast<double>(input(work));
    const double block_samples = work.size[kN], channels = work.size[kK];
    for (const Workload::Use& use : item.uses) {
        const Source& source = workload_.graph.operators[use.consumer].inputs[use.source];
        const double area =
            source.reduce == EdgeReduce::global_pool ? 1.0 : double{1} * work.size[kP] * source.shape.columns;
        const double share = item.expected_share > 0 ? workload_.edge_share(use) / item.expected_share : 0;
        out += source.shape.element_bytes * block_samples * channels / source.groups * area * share;
    }
    if (item.is_output) out += static_cast<double>(work.output_bytes());
    Stage stage;
    stage.k_factor = k_factor;
    stage.compute_cycles = estimated_cycles(work);
    stage.in_cycles = in / hardware_.link_bytes_per_cycle;
    stage.out_cycles = out / hardware_.link_bytes_per_cycle;
    return stage;
}

Stage StageSearch::fitted(int op, unsigned k_factor, const Partition& kernel, std::uint16_t samples) {
    const std::uint32_t block = ceil_div(kernel.dyn_dim, kernel.n);
    Stage stage = timed(op, k_factor, {narrow(std::min<std::uint32_t>(samples, block)), 1, kernel.p});
    stage.largest = kernel;
    stage.fits = true;
    return stage;
}

Partition StageSearch::best_partition(int op, unsigned k_factor, unsigned factors, std::uint16_t dyn_dim,
                                      const Footprint& limit, std::uint16_t rows_like) {
    constexpr double kHardlySlower = 1.05;
    const Operator& one = workload_.graph.operators[op];
    const std::vector<InputBytes>& inputs = input_bytes_[op];
    Partition best{dyn_dim, 0, 0}, alike = best;
    double fewest = std::numeric_limits<double>::infinity(), fewest_alike = fewest;
    const auto consider = [&](std::uint32_t n, std::uint32_t p) {
        const Partition candidate{dyn_dim, narrow(n), narrow(p)};
        if (!keeps_groups(one.shape, candidate)) return;
        const TileWork work = tile_work(op, candidate, k_factor);
        if (output_slot_bytes(one, work) > limit.out_slot_bytes) return;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            if (inputs[i](work) > limit.slot_bytes[i]) return;
        }
        const double cycles = timed(op, k_factor, candidate).cycles();
        if (cycles < fewest) {
            fewest = cycles;
            best = candidate;
        }
        if (candidate.p == rows_like && cycles < fewest_alike) {
            fewest_alike = cycles;
            alike = candidate;
        }
    };
    for_each_split(dyn_dim, one.shape.out_rows, factors, max_p_factor(op), consider);
    if (rows_like <= factors) {
        for_each_split(dyn_dim, rows_like, factors, rows_like, [&](std::uint32_t n, std::uint32_t) {
            if (n * rows_like <= factors) consider(n, rows_like);
        });
    }
    return fewest_alike <= kHardlySlower * fewest ? alike : best;
}

double StageSearch::memory_cycles(int op, unsigned k_factor, const Partition& largest, const OwnReads& reads) const {
    const Operator& one = workload_.graph.operators[op];
    double bytes = 0;
    for (unsigned i = 0; i < std::min<std::size_t>(one.inputs.size(), OwnReads::kMax); ++i) {
        if ((reads.inputs >> i & 1) == 0) continue;
        bytes += unit_read_bytes(one.shape, one.inputs[i], largest, k_factor, false) * workload_.edge_share({op, i});
    }
    if (reads.weight_units > 0)
        bytes += static_cast<double>(one.weight_bytes) * largest.n * largest.p / reads.weight_units;
    return bytes > 0 ? bytes / hardware_.memory_bytes_per_cycle() : 0;
}

Stage StageSearch::spread(const StageQuery& query, unsigned k_factor, const Partition& largest) {
    const int op = query.op;
    Stage stage;
    stage.k_factor = k_factor;
    stage.largest = largest;
    stage.footprint = footprint(op, k_factor, largest, query.slots);
    if (!keeps_groups(workload_.graph.operators[op].shape, largest)) return stage;
    if (stage.footprint.total(query.weight_copies) > hardware_.data_bytes() / query.sharers) return stage;
    const UsualTimes& times = usual_times(op, k_factor, largest, stage.footprint, query.slots.decided_switches);
    stage.compute_cycles = times.compute_cycles;
    stage.in_cycles = times.in_cycles;
    stage.out_cycles = times.out_cycles;
    stage.memory_cycles = memory_cycles(op, k_factor, largest, query.slots.reads);
    stage.fits = times.fits;
    return stage;
}

const StageSearch::UsualTimes& StageSearch::usual_times(int op, unsigned k_factor, const Partition& largest,
                                                        const Footprint& limit, unsigned decided) {
    const auto [found, added] = class_times(op, largest.dyn_dim, decided).usual.try_emplace(cut_key(k_factor, largest));
    UsualTimes& times = found->second;
    if (!added) return times;
    const std::array<double, 2> usual = workload_.usual_samples(op, largest.dyn_dim, decided);
    Partition of_batch = largest;
    if (const std::uint16_t layout = by_batch() ? laid_out(op, largest.dyn_dim) : largest.dyn_dim;
        layout != largest.dyn_dim)
        of_batch = best_partition(op, k_factor, unsigned{largest.n} * largest.p, layout, limit, largest.p);
    if (of_batch.n == 0) return times;
    for (std::size_t i = 0; i < usual.size(); ++i) {
        const double samples = usual[i];
        if (i > 0 && samples == usual[0]) {  // as long again
            times.compute_cycles *= 2;
            times.in_cycles *= 2;
            times.out_cycles *= 2;
            break;
        }
        // The kernel for the next whole number, in proportion.
        constexpr double kRounding = 1e-9;
        const std::uint16_t dyn_dim = narrow(static_cast<std::uint32_t>(std::max(1.0, std::ceil(samples - kRounding))));
        const double weight = samples / dyn_dim / static_cast<double>(usual.size());
        if (by_batch()) {  // whatever the unit's samples, the kernel is the batch's
            const Stage one_of_two = fitted(op, k_factor, of_batch, dyn_dim);
            times.compute_cycles += weight * one_of_two.compute_cycles;
            times.in_cycles += weight * one_of_two.in_cycles;
            times.out_cycles += weight * one_of_two.out_cycles;
            continue;
        }
        const Partition partition =
            dyn_dim == largest.dyn_dim
                ? largest
                : best_partition(op, k_factor, unsigned{largest.n} * largest.p, dyn_dim, limit, largest.p);
        if (partition.n == 0) return times;
        const Stage one_of_two = timed(op, k_factor, partition);
        times.compute_cycles += weight * one_of_two.compute_cycles;
        times.in_cycles += weight * one_of_two.in_cycles;
        times.out_cycles += weight * one_of_two.out_cycles;
    }
    times.fits = true;
    return times;
}

StageSearch::ClassTimes& StageSearch::class_times(int op, std::uint32_t unit_samples, unsigned decided) {
    const TimesKey key{static_cast<std::uint32_t>(class_of(op)), unit_samples, decided};
    if (recent_times_.second == nullptr || recent_times_.first != key)
        recent_times_ = {key, &class_times_.try_emplace(key).first->second};
    return *recent_times_.second;
}

std::uint16_t StageSearch::laid_out(int op, std::uint16_t unit_samples) const {
    const std::uint32_t joined = workload_.graph.operators[op].shape.joined;
    const double batch = workload_.items[op].expected_share * workload_.graph.batch_samples();
    const auto inputs = static_cast<std::uint32_t>(std::max(1.0, std::ceil(batch / joined)));
    return narrow(std::min<std::uint32_t>(unit_samples, inputs * joined));
}

unsigned StageSearch::more_slices(int op, unsigned k_factor) const {
    const std::uint32_t channels = workload_.graph.operators[op].shape.out_channels;
    const std::uint32_t block = ceil_div(channels, k_factor);
    if (max_k_factor(op) == 1) return channels + 1;
    return block > 1 ? ceil_div(channels, block - 1) : channels + 1;
}

Partition StageSearch::tight(const Partition& partition, int op) const {
    const OperatorShape& shape = workload_.graph.operators[op].shape;
    const std::uint32_t rows = shape.out_rows;
    const std::uint32_t groups = partition.dyn_dim / shape.joined;
    return {
        partition.dyn_dim, narrow(tight_factor(groups, std::min<std::uint32_t>(groups, partition.n))),
        narrow(tight_factor(rows, std::min<std::uint32_t>(rows, std::min<unsigned>(partition.p, max_p_factor(op)))))};
}

}  // namespace switchyard::sched
