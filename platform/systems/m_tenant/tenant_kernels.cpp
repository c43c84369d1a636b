// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/m_tenant/tenant_kernels.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/adyna/compiler/splits.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/rounding.h"
#include "switchyard/sw_scheduler/workload/dataflow.h"
#include "switchyard/sw_scheduler/workload/profile.h"

namespace switchyard::platform {

using sched::kK;
using sched::kN;
using sched::kP;
using sched::TileWork;

namespace {

constexpr double kSlots = 2;  ///< of each operand and result: one is used while the other moves

/// Times that inputs which all k slices need pass, and that weights do.
struct Sweeps {
    double inputs = 1, weights = 1;
};

Sweeps sweeps_of(const TenantKernel& kernel) {
    const double k = kernel.k_rounds, rows = double{1} * kernel.n_rounds * kernel.p_rounds;
    switch (kernel.stays) {
        case Stays::weights:
            break;
        case Stays::weight_rounds:
            return {k, 1};
        case Stays::inputs:
            return {1, rows};
        case Stays::results:
            return {k, rows};
    }
    return {1, 1};
}

/// Each k way of an operator reads the same input, unless it only needs its own channels or heads.
bool shared_by_k_slices(const OperatorShape& shape, const sched::Source& source) {
    return source.role == OperandRole::input && shape.kind != OpKind::attention &&
           !(shape.channelwise() && shape.in_channels == shape.out_channels);
}

/// Bytes of one sample in HBM; of a pooled tensor the partial sums that its producer's p factors leave.
double stored_bytes(const sched::TensorShape& shape, EdgeReduce reduce) {
    if (reduce == EdgeReduce::none) return static_cast<double>(shape.bytes());
    return kElementBytes * double{1} * shape.channels * std::min<std::uint32_t>(sched::kMaxPooledParts, shape.rows);
}

double mean_hops(const sched::HardwareDescription& hardware) {
    double hops = 0;
    for (unsigned tile = 0; tile < hardware.tiles(); ++tile)
        for (const auto& interface : hardware.memory) hops += hardware.hops(tile, interface.router);
    return hops / (double{1} * hardware.tiles() * static_cast<double>(hardware.memory.size()));
}

}  // namespace

void TenantBytes::add(const TenantBytes& bytes, double share) {
    hbm_read += share * bytes.hbm_read;
    hbm_written += share * bytes.hbm_written;
    scratchpad_read += share * bytes.scratchpad_read;
    scratchpad_written += share * bytes.scratchpad_written;
    link += share * bytes.link;
}

bool is_index_only(const sched::Operator& op) {
    const bool exclusive_merge =
        op.shape.kind == OpKind::merge && op.merge_mode == sched::MergeMode::exclusive && op.fused.empty();
    return exclusive_merge || is_renaming(op);
}

std::vector<TensorUses> tensor_uses(const sched::DynGraph& graph) {
    std::vector<TensorUses> uses(graph.operators.size());
    for (const int output : graph.outputs) uses[static_cast<std::size_t>(output)].whole = true;
    for (std::size_t id = graph.operators.size(); id-- > 0;) {  // consumers first
        const sched::Operator& op = graph.operators[id];
        if (op.gate_switch != sched::kNoSwitch) uses[id].whole = true;
        for (const sched::Source& source : op.inputs) {
            if (source.from_host()) continue;
            TensorUses& tensor = uses[static_cast<std::size_t>(source.producer)];
            if (source.reduce == EdgeReduce::global_pool) {
                tensor.pooled = true;
            } else if (is_index_only(op)) {
                tensor.whole = tensor.whole || uses[id].whole;
                tensor.pooled = tensor.pooled || uses[id].pooled;
            } else {
                tensor.whole = true;
            }
        }
    }
    return uses;
}

double TenantKernel::cycles_at(double bytes_per_cycle) const {
    const double others = rounds() - 1;
    const double written = bytes.hbm_written / rounds();
    const double read = others > 0 ? (bytes.hbm_read - first_bytes) / others : 0;
    const double in = std::max(in_cycles, read / bytes_per_cycle);
    const double out = std::max(out_cycles, written / bytes_per_cycle);
    // Two slots: one round waits for its bytes while another is computed.
    const double interval =
        std::max({block_cycles, in, out, (read + written) / bytes_per_cycle,
                  (access_cycles + in + block_cycles) / kSlots, (block_cycles + access_cycles + out) / kSlots});
    return std::max(first_bytes / bytes_per_cycle, first_cycles) + block_cycles + others * interval +
           std::max(last_bytes / bytes_per_cycle, last_cycles);
}

TenantKernels::TenantKernels(const sched::DynGraph& graph, const sched::HardwareDescription& hardware, bool exact)
    : graph_(graph),
      hardware_(hardware),
      workload_(graph, hardware, sched::worst_case_fractions(graph)),
      stages_(workload_, hardware),
      kernels_(hardware),
      uses_(tensor_uses(graph)),
      mean_hops_(mean_hops(hardware)),
      exact_(exact) {}

TileWork TenantKernels::block_of(const TileWork& share, const TenantKernel& kernel) {
    TileWork block = share;
    block.size[kK] = narrow(ceil_div(share.size[kK], kernel.k_rounds));
    block.size[kP] = narrow(ceil_div(share.size[kP], kernel.p_rounds));
    block.size[kN] = narrow(ceil_div(share.size[kN], kernel.n_rounds));
    return block;
}

TileWork TenantKernels::share_of(int op, const TenantKernel& kernel, std::uint32_t samples) const {
    const unsigned operands = workload_.items[static_cast<std::size_t>(op)].operands;
    return sched::tile_work(at(op).shape, operands, {narrow(samples), narrow(kernel.n_factor), narrow(kernel.p_factor)},
                            kernel.k_factor);
}

double TenantKernels::block_bytes(int op, const sched::Source& source, const TileWork& block) const {
    return static_cast<double>(sched::input_bytes(at(op).shape, source, block));
}

bool TenantKernels::shared_by_slices(int op, const sched::Source& source) const {
    return shared_by_k_slices(at(op).shape, source);
}

double TenantKernels::elements_per_sample(int op) const {
    const OperatorShape& shape = at(op).shape;
    const auto loops = sched::reduction_loops(shape, workload_.items[static_cast<std::size_t>(op)].operands);
    return double{1} * shape.out_channels * shape.out_rows * shape.out_columns * loops[0] * loops[1] * loops[2];
}

double TenantKernels::round_cycles(const TenantKernel& kernel, const TileWork& block) {
    if (kernel.made_for_samples == 0) return static_cast<double>(kernels_.best(block).cost.cycles);
    TileWork whole = block;
    whole.size[kN] = narrow(kernel.made_for_samples);
    const sched::KernelSearch::Result& best = kernels_.best(whole);
    const std::uint32_t extent = best.blocking.extent(kN);
    return static_cast<double>(best.cost.cycles) * ceil_div(block.size[kN], extent) /
           ceil_div(kernel.made_for_samples, extent);
}

double TenantKernels::written_bytes_per_sample(int op) const {
    const sched::TensorShape output = at(op).output();
    const TensorUses& uses = uses_[static_cast<std::size_t>(op)];
    return (uses.whole ? stored_bytes(output, EdgeReduce::none) : 0) +
           (uses.pooled ? stored_bytes(output, EdgeReduce::global_pool) : 0);
}

TileWork TenantKernels::whole_sample(int op) const {
    return sched::tile_work(at(op).shape, workload_.items[static_cast<std::size_t>(op)].operands, {1, 1, 1}, 1);
}

double TenantKernels::read_bytes_per_sample(int op) const {
    const sched::Operator& one = at(op);
    double bytes = 0;
    for (const sched::Source& source : one.inputs)
        bytes += static_cast<double>(sched::input_bytes(one.shape, source, whole_sample(op)));
    return bytes;
}

double TenantKernels::min_read_bytes_per_sample(int op) const {
    const sched::Operator& one = at(op);
    const OperatorShape& shape = one.shape;
    double bytes = 0;
    for (const sched::Source& source : one.inputs) {
        const double whole = static_cast<double>(sched::input_bytes(shape, source, whole_sample(op)));
        const double rows = source.shape.rows;
        const bool skips = source.role == OperandRole::input && source.reduce == EdgeReduce::none &&
                           shape.stride > shape.filter_rows && shape.in_rows == source.shape.rows;
        const double span = std::min(rows, (shape.out_rows - 1.0) * shape.stride + shape.filter_rows);
        bytes += skips ? whole / span * shape.out_rows * shape.filter_rows : whole;
    }
    return bytes;
}

double TenantKernels::min_cycles(int op, std::uint32_t samples, double input_share) const {
    const double compute = workload_.items[static_cast<std::size_t>(op)].tile_cycles * samples / hardware_.tiles();
    const double bytes = (read_bytes_per_sample(op) * input_share + written_bytes_per_sample(op)) * samples +
                         static_cast<double>(at(op).weight_bytes);
    return std::max(compute, bytes / hardware_.memory_bytes_per_cycle());
}

const TenantKernel& TenantKernels::best(int op, std::uint32_t samples, unsigned tiles, double input_share) {
    const auto key = std::make_tuple(stages_.class_of(op), written_bytes_per_sample(op), samples, tiles, input_share);
    const auto found = known_.find(key);
    if (found != known_.end()) return found->second;
    return known_.emplace(key, search(op, samples, tiles, input_share)).first->second;
}

const TenantKernel& TenantKernels::kernel(int op, std::uint32_t samples, unsigned tiles, double input_share) {
    if (exact_) return best(op, samples, tiles, input_share);
    const auto key = std::make_tuple(stages_.class_of(op), written_bytes_per_sample(op), samples, tiles, input_share);
    const auto found = fitted_.find(key);
    if (found != fitted_.end()) return found->second;
    return fitted_.emplace(key, fitted(op, samples, tiles, input_share)).first->second;
}

TenantKernel TenantKernels::fitted(int op, std::uint32_t samples, unsigned tiles, double input_share) {
    const std::uint32_t batch = graph_.batch_samples();
    TenantKernel kernel = best(op, batch, tiles);
    const std::uint32_t block = block_of(share_of(op, kernel, batch), kernel).size[kN];
    kernel.made_for_samples = block;
    const TileWork share = share_of(op, kernel, samples);
    kernel.n_rounds = ceil_div(share.size[kN], block);
    kernel.bytes = {};
    count_bytes(op, samples, input_share, share, kernel);
    settle(op, samples, kernel);
    return kernel;
}

TenantKernels::Inputs TenantKernels::tile_inputs(int op, const TileWork& block) const {
    Inputs inputs;
    for (const sched::Source& source : at(op).inputs)
        (shared_by_k_slices(at(op).shape, source) ? inputs.shared : inputs.own) +=
            static_cast<double>(sched::input_bytes(at(op).shape, source, block));
    return inputs;
}

bool TenantKernels::fits(int op, const TileWork& share, const TenantKernel& kernel) const {
    constexpr double kPartialSumBytes = 4;
    const TileWork block = block_of(share, kernel);
    const Inputs inputs = tile_inputs(op, block);
    const double channel = static_cast<double>(at(op).weight_bytes) / at(op).shape.out_channels;
    double weights = channel * block.size[kK], passing = inputs.own, staying = 0;
    switch (kernel.stays) {
        case Stays::weights:
            staying = weights;
            passing += inputs.shared / kernel.c_rounds;
            break;
        case Stays::weight_rounds:
            passing += weights + inputs.shared / kernel.c_rounds;
            break;
        case Stays::inputs:
            passing += inputs.shared + weights / kernel.c_rounds;
            break;
        case Stays::results:
            passing += (inputs.shared + weights) / kernel.c_rounds;
            break;
    }
    passing += kElementBytes * static_cast<double>(block.outputs());
    if (kernel.c_rounds > 1) staying += kPartialSumBytes * static_cast<double>(block.outputs());
    const double padding = kSlots * sched::kAlignment * static_cast<double>(at(op).inputs.size() + 2);
    return kSlots * passing + staying + padding <= hardware_.data_bytes();
}

/// Cutting samples costs nothing, cutting rows reads halos again, cutting output channels reads inputs or weights
/// again, cutting input channels fills and drains the array more often: those are cut as far as it takes to fit.
template <class Visit>
void TenantKernels::for_each_rounds(int op, const TenantKernel& factors, const TileWork& share, Visit&& visit) const {
    const auto half = [](std::uint32_t size) { return size > 1 ? ceil_div(size, 2u) : 0; };
    const OperatorShape& shape = at(op).shape;
    const bool reduces = shape.kind == OpKind::convolution || shape.kind == OpKind::matmul;
    const auto try_rounds = [&](Stays stays, std::uint32_t k) {
        for (std::uint32_t p = share.size[kP]; p > 0; p = half(p)) {
            for (std::uint32_t n = share.size[kN]; n > 0; n = half(n)) {
                TenantKernel kernel = factors;
                kernel.stays = stays;
                kernel.k_rounds = ceil_div(share.size[kK], k);
                kernel.p_rounds = ceil_div(share.size[kP], p);
                kernel.n_rounds = ceil_div(share.size[kN], n);
                const std::uint32_t max = reduces ? shape.in_channels : 1;
                while (kernel.c_rounds < max && !fits(op, share, kernel)) kernel.c_rounds *= 2;
                if (kernel.c_rounds <= max && fits(op, share, kernel)) visit(kernel);
            }
        }
    };
    try_rounds(Stays::weights, share.size[kK]);
    if (at(op).weight_bytes == 0) return;
    for (std::uint32_t k = half(share.size[kK]); k > 0; k = half(k)) try_rounds(Stays::weight_rounds, k);
    for (const Stays stays : {Stays::inputs, Stays::results})
        for (std::uint32_t k = share.size[kK]; k > 0; k = half(k)) try_rounds(stays, k);
}

void TenantKernels::count_bytes(int op, std::uint32_t samples, double input_share, const TileWork& share,
                                TenantKernel& kernel) const {
    const OperatorShape& shape = at(op).shape;
    const TileWork block = block_of(share, kernel);
    // Blocks of all tiles and rounds, as if each were a way of its own.
    const Partition parts{narrow(samples), narrow(ceil_div(samples, block.size[kN])),
                          narrow(ceil_div(shape.out_rows, block.size[kP]))};
    const unsigned slices = ceil_div(shape.out_channels, block.size[kK]);
    const bool multicast = hardware_.multicast_reads;
    Inputs once;
    double own_copies = 0;
    for (const sched::Source& source : at(op).inputs) {
        if (shared_by_k_slices(shape, source)) {
            once.shared += input_share * sched::unit_read_bytes(shape, source, parts, slices);
        } else {
            once.own += input_share * sched::unit_read_bytes(shape, source, parts, slices, multicast);
            own_copies += input_share * sched::unit_read_bytes(shape, source, parts, slices, false);
        }
    }
    const auto weights = static_cast<double>(at(op).weight_bytes);
    const Sweeps sweeps = sweeps_of(kernel);
    const double inputs = once.shared * sweeps.inputs, swept = weights * sweeps.weights;
    const double input_readers = kernel.k_factor, weight_readers = double{1} * kernel.n_factor * kernel.p_factor;
    const double delivered = own_copies + inputs * input_readers + swept * weight_readers;
    // How often what several tiles need leaves HBM.
    const double input_reads = multicast ? 1 : input_readers, weight_reads = multicast ? 1 : weight_readers;

    TenantBytes& bytes = kernel.bytes;
    bytes.hbm_read = once.own + inputs * input_reads + swept * weight_reads;
    bytes.hbm_written = written_bytes_per_sample(op) * samples;
    kernel.last_bytes = bytes.hbm_written * kernel.c_rounds / kernel.rounds();
    const bool inputs_wait = kernel.stays == Stays::inputs;
    const bool weights_wait = kernel.stays == Stays::weights || kernel.stays == Stays::weight_rounds;
    const double k_c = double{1} * kernel.k_rounds * kernel.c_rounds;
    kernel.first_bytes = once.own / kernel.rounds() +
                         input_reads * once.shared * (inputs_wait ? k_c : kernel.k_rounds) / kernel.rounds() +
                         weight_reads * weights / (weights_wait ? kernel.k_rounds : k_c);

    // Tiles that read along are one link further on the multicast's tree each.
    bytes.link = (bytes.hbm_read + bytes.hbm_written) * mean_hops_ + std::max(0.0, delivered - bytes.hbm_read);
    bytes.scratchpad_written = delivered;
    bytes.scratchpad_read = bytes.hbm_written;
}

template <class Cycles>
void TenantKernels::count_cycles(int op, const TileWork& share, TenantKernel& kernel, Cycles&& cycles_of) const {
    const sched::Operator& one = at(op);
    TileWork block = block_of(share, kernel);
    const Sweeps sweeps = sweeps_of(kernel);
    const Inputs round = tile_inputs(op, block);
    const double outer = double{1} * kernel.n_rounds * kernel.p_rounds;
    const double slice = static_cast<double>(one.weight_bytes) / one.shape.out_channels * block.size[kK];
    const double samples = double{1} * share.size[kN] / block.size[kN];  // whole blocks, as a fraction
    const double all = (round.own * kernel.k_rounds + round.shared * sweeps.inputs) * samples * kernel.p_rounds +
                       slice * kernel.k_rounds * sweeps.weights;
    const bool inputs_wait = kernel.stays == Stays::inputs;
    const bool weights_wait = kernel.stays == Stays::weights || kernel.stays == Stays::weight_rounds;
    double first = round.own / kernel.c_rounds + round.shared / (inputs_wait ? 1 : kernel.c_rounds) +
                   slice / (weights_wait ? 1 : kernel.c_rounds);
    first = std::min(first, all);
    const double outputs = double{1} * one.shape.out_channels * one.shape.out_rows * one.shape.out_columns;
    const double out = written_bytes_per_sample(op) * static_cast<double>(share.outputs()) / outputs;

    block.reduction = ceil_div(block.reduction, kernel.c_rounds);
    const double around = double{1} * kernel.k_rounds * kernel.p_rounds * kernel.c_rounds;
    const std::uint32_t whole = share.size[kN] / block.size[kN], rest = share.size[kN] % block.size[kN];
    double compute = whole * around * cycles_of(block);
    if (rest > 0) {
        block.size[kN] = narrow(rest);
        compute += around * cycles_of(block);
    }

    const double link = hardware_.link_bytes_per_cycle, rounds = kernel.rounds();
    kernel.block_cycles = compute / rounds;
    kernel.first_cycles = first / link;
    kernel.in_cycles = rounds > 1 ? (all - first) / (rounds - 1) / link : 0;
    kernel.out_cycles = out / rounds / link;
    kernel.last_cycles = out / (outer * kernel.k_rounds) / link;
    kernel.access_cycles = access_cycles();
}

double TenantKernels::access_cycles() const {
    return hardware_.setup_cycles + 2 * hardware_.average_travel_cycles() + hardware_.memory_latency_cycles;
}

TenantKernel TenantKernels::search(int op, std::uint32_t samples, unsigned tiles, double input_share) {
    const sched::Operator& one = at(op);
    const OperatorShape& shape = one.shape;
    const unsigned operands = workload_.items[static_cast<std::size_t>(op)].operands;
    const double bandwidth = hardware_.memory_bytes_per_cycle() * tiles / hardware_.tiles();

    // The quickest arrays first: rounds and bytes only add to what the kernel of a tile's whole share takes.
    struct Factors {
        double cycles;
        std::uint32_t k, n, p;
        TileWork share;
    };
    std::vector<Factors> candidates;
    for (unsigned share = 1, previous = 0; share <= tiles; ++share) {
        const unsigned k_factor =
            sched::tight_factor(shape.out_channels, std::min<unsigned>(tiles / share, shape.out_channels));
        if (k_factor == previous) continue;  // fewer n and p factors with the same slices: never better
        previous = k_factor;
        sched::for_each_split(samples, shape.out_rows, tiles / k_factor, tiles, [&](std::uint32_t n, std::uint32_t p) {
            const TileWork work = sched::tile_work(shape, operands, {narrow(samples), narrow(n), narrow(p)}, k_factor);
            candidates.push_back({stages_.estimated_cycles(work), k_factor, n, p, work});
        });
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Factors& a, const Factors& b) { return a.cycles < b.cycles; });

    // Of kernels that are about as quick, the one with fewer bytes: it costs the tenants less energy.
    constexpr double kBytesCount = 0.05;
    constexpr double kCloseEnough = 1.001;  // to the fewest cycles that are possible at all
    const double floor = min_cycles(op, samples, input_share) * hardware_.tiles() / tiles;
    TenantKernel best;
    double min_cost = std::numeric_limits<double>::infinity();
    for (const Factors& factors : candidates) {
        if (factors.cycles >= min_cost || min_cost <= kCloseEnough * floor) break;
        TenantKernel one_round;
        one_round.k_factor = factors.k;
        one_round.n_factor = factors.n;
        one_round.p_factor = factors.p;
        for_each_rounds(op, one_round, factors.share, [&](TenantKernel kernel) {
            count_bytes(op, samples, input_share, factors.share, kernel);
            if ((1 + kBytesCount) * kernel.hbm_bytes() / bandwidth >= min_cost) return;
            count_cycles(op, factors.share, kernel,
                         [&](const TileWork& work) { return stages_.estimated_cycles(work); });
            const double cost = kernel.cycles_at(bandwidth) + kBytesCount * kernel.hbm_bytes() / bandwidth;
            if (cost >= min_cost) return;
            best = kernel;
            min_cost = cost;
        });
    }
    if (min_cost == std::numeric_limits<double>::infinity())
        throw Infeasible(
            graph_.file, one.line, "layers." + one.name,
            fmt::format("expected a data area of a tile that holds one row and channel of one sample, found {} bytes",
                        hardware_.data_bytes()));

    settle(op, samples, best);
    return best;
}

void TenantKernels::settle(int op, std::uint32_t samples, TenantKernel& kernel) {
    const OperatorShape& shape = at(op).shape;
    double array_bytes_per_output = 0;
    count_cycles(op, share_of(op, kernel, samples), kernel, [&](const TileWork& work) {
        TileWork whole = work;
        if (kernel.made_for_samples > 0) whole.size[kN] = narrow(kernel.made_for_samples);
        const sched::NestCost& cost = kernels_.best(whole).cost;
        array_bytes_per_output = std::max(
            array_bytes_per_output, static_cast<double>(cost.scratchpad_bytes) / static_cast<double>(whole.outputs()));
        return round_cycles(kernel, work);
    });
    // Of each round of input channels: what the kernel reads, and its result. Sums of all but the last are binary32,
    // and read again.
    const double outputs = double{1} * samples * shape.out_channels * shape.out_rows * shape.out_columns;
    const double partial_sums = 2.0 * kElementBytes * outputs * (kernel.c_rounds - 1);
    kernel.bytes.scratchpad_read += (array_bytes_per_output - kElementBytes) * outputs * kernel.c_rounds + partial_sums;
    kernel.bytes.scratchpad_written += kElementBytes * outputs + partial_sums;
}

}  // namespace switchyard::platform
