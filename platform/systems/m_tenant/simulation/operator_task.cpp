// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/m_tenant/simulation/operator_task.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/rounding.h"

namespace switchyard::platform {

namespace {

/// Less is not spread over further interfaces: an interface moves as much in about the time of its latency.
constexpr std::uint64_t kMinRunBytes = 4096;

std::uint64_t whole_bytes(double bytes) {
    return static_cast<std::uint64_t>(std::llround(bytes));
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
std::uint64_t hashed(std::uint64_t value) {
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9;
    value = (value ^ value >> 27) * 0x94D049BB133111EB;
    return value ^ value >> 31;
}

}  // namespace

TensorPlaces::TensorPlaces(const TenantKernels& kernels, unsigned interfaces, std::uint64_t region_bytes)
    : interfaces_(interfaces), region_bytes_(region_bytes) {
    const sched::DynGraph& graph = kernels.graph();
    std::uint64_t end = 0;
    const auto place = [&](double bytes) {
        const Area area{end, round_up(ceil_div(whole_bytes(bytes) + sched::kAlignment, interfaces), sched::kAlignment)};
        end += area.bytes;
        return area;
    };
    double input = 0;
    for (const sched::Operator& op : graph.operators) {
        for (const sched::Source& source : op.inputs)
            if (source.from_host()) input += static_cast<double>(source.shape.bytes());
    }
    input_ = place(input * graph.batch_samples());
    for (std::size_t id = 0; id < graph.operators.size(); ++id) {
        results_.push_back(place(kernels.written_bytes_per_sample(static_cast<int>(id)) * graph.batch_samples()));
        weights_.push_back(place(static_cast<double>(graph.operators[id].weight_bytes)));
    }
    if (end > region_bytes)
        throw InputError(
            graph.file, 0, "",
            fmt::format("expected at most {} bytes of tensors and weights on each of {} memory interfaces, found {}",
                        region_bytes, interfaces, end));
}

std::vector<MemoryRun> TensorPlaces::runs(const Area& area, double share, std::uint64_t bytes) const {
    std::vector<MemoryRun> list;
    if (bytes == 0) return list;
    const std::uint64_t parts = std::clamp<std::uint64_t>(bytes / kMinRunBytes, 1, interfaces_);
    const std::uint64_t part = ceil_div(bytes, parts);
    // What does not fit behind the share lies in front of it: the sizes count, not the contents.
    const std::uint64_t room = area.bytes > part ? area.bytes - part : 0;
    const std::uint64_t offset =
        static_cast<std::uint64_t>(share * static_cast<double>(room)) / sched::kAlignment * sched::kAlignment;
    const auto place = static_cast<std::uint64_t>(std::llround(share * 4294967296.0));
    const std::uint64_t first = hashed(area.begin + place);
    for (std::uint64_t i = 0; i * part < bytes; ++i) {
        const std::uint64_t interface = (first % interfaces_ + i) % interfaces_;
        list.push_back({interface * region_bytes_ + area.begin + offset, std::min(part, bytes - i * part)});
    }
    return list;
}

std::vector<MemoryRun> TensorPlaces::result(int op, double share, std::uint64_t bytes) const {
    return runs(op <= sched::kModelInput ? input_ : results_[static_cast<std::size_t>(op)], share, bytes);
}

std::vector<MemoryRun> TensorPlaces::weights(int op, double share, std::uint64_t bytes) const {
    return runs(weights_[static_cast<std::size_t>(op)], share, bytes);
}

OperatorTask::OperatorTask(TenantKernels& kernels, const TensorPlaces& places, int op, const TenantKernel& kernel,
                           std::uint32_t samples, double input_share, const std::vector<Endpoint>& tiles)
    : kernels_(kernels),
      places_(places),
      op_(op),
      kernel_(kernel),
      samples_(samples),
      input_share_(input_share),
      tiles_(tiles.begin(), tiles.begin() + kernel.tiles()),
      share_(kernels.share_of(op, kernel, samples)) {
    const OperatorShape& shape = kernels.graph().operators[static_cast<std::size_t>(op)].shape;
    const sched::TileWork block = TenantKernels::block_of(share_, kernel);
    whole_ = {shape.out_channels, samples, shape.out_rows};
    shares_ = {share_.size[sched::kK], share_.size[sched::kN], share_.size[sched::kP]};
    blocks_ = {block.size[sched::kK], block.size[sched::kN], block.size[sched::kP]};
}

std::uint32_t OperatorTask::rounds() const {
    return kernel_.k_rounds * kernel_.n_rounds * kernel_.p_rounds * kernel_.c_rounds;
}

std::size_t OperatorTask::rank_of(std::uint32_t k, std::uint32_t n, std::uint32_t p) const {
    return k + std::size_t{kernel_.k_factor} * (n + std::size_t{kernel_.n_factor} * p);
}

OperatorTask::Place OperatorTask::place(std::size_t rank, std::uint32_t round) const {
    Place at;
    const auto tile = static_cast<std::uint32_t>(rank);
    at.part = {tile % kernel_.k_factor, tile / kernel_.k_factor % kernel_.n_factor,
               tile / kernel_.k_factor / kernel_.n_factor};
    const std::uint32_t outer = kernel_.n_rounds * kernel_.p_rounds;
    at.piece = round % kernel_.c_rounds;
    std::uint32_t rows = round / kernel_.c_rounds, channels = 0;
    if (kernel_.stays == Stays::weights || kernel_.stays == Stays::weight_rounds) {
        channels = rows / outer;
        rows %= outer;
    } else {
        channels = rows % kernel_.k_rounds;
        rows /= kernel_.k_rounds;
    }
    at.block = {channels, rows / kernel_.p_rounds, rows % kernel_.p_rounds};
    at.first_of_channels = rows == 0 && at.piece == 0;
    at.first_of_rows = channels == 0 && at.piece == 0;
    return at;
}

OperatorTask::Span OperatorTask::span(Dimension dimension, std::uint32_t part, std::uint32_t block) const {
    const auto clipped = [](std::uint32_t begin, std::uint32_t size, std::uint32_t end) {
        const std::uint32_t first = std::min(begin, end);
        return Span{first, std::min(size, end - first)};
    };
    const Span own = clipped(part * shares_[dimension], shares_[dimension], whole_[dimension]);
    return clipped(own.begin + block * blocks_[dimension], blocks_[dimension], own.begin + own.size);
}

std::vector<Endpoint> OperatorTask::readers_of_inputs(const Place& at, Endpoint tile) const {
    if (!kernels_.hardware().multicast_reads) return {tile};
    std::vector<Endpoint> readers;
    for (std::uint32_t k = 0; k < kernel_.k_factor; ++k)
        if (span(kChannels, k, at.block[kChannels]).size > 0)
            readers.push_back(tiles_[rank_of(k, at.part[kSamples], at.part[kRows])]);
    return readers;
}

std::vector<Endpoint> OperatorTask::readers_of_weights(const Place& at, Endpoint tile) const {
    if (!kernels_.hardware().multicast_reads) return {tile};
    std::vector<Endpoint> readers;
    for (std::uint32_t p = 0; p < kernel_.p_factor; ++p)
        for (std::uint32_t n = 0; n < kernel_.n_factor; ++n)
            readers.push_back(tiles_[rank_of(at.part[kChannels], n, p)]);
    return readers;
}

void OperatorTask::read_inputs(const Place& at, const sched::TileWork& work, Endpoint tile, TaskRound& round) const {
    const sched::Operator& op = kernels_.graph().operators[static_cast<std::size_t>(op_)];
    const Span samples = span(kSamples, at.part[kSamples], at.block[kSamples]);
    const Span rows = span(kRows, at.part[kRows], at.block[kRows]);
    const double share = (double{1} * samples.begin + double{1} * rows.begin / whole_[kRows]) / samples_;
    for (const sched::Source& source : op.inputs) {
        double bytes = kernels_.block_bytes(op_, source, work) * input_share_;
        const bool shared = kernels_.shared_by_slices(op_, source);
        const bool waits = shared ? kernel_.stays == Stays::inputs : true;
        if (waits && (shared ? !at.first_of_rows : at.piece > 0)) continue;
        if (!waits) bytes /= kernel_.c_rounds;
        TaskRead read;
        read.runs = places_.result(source.producer, share, whole_bytes(bytes));
        if (read.runs.empty()) continue;
        read.readers = shared ? readers_of_inputs(at, tile) : std::vector<Endpoint>{tile};
        round.reads.push_back(std::move(read));
    }
}

void OperatorTask::read_weights(const Place& at, const Span& channels, Endpoint tile, TaskRound& round) const {
    const sched::Operator& op = kernels_.graph().operators[static_cast<std::size_t>(op_)];
    const bool stay = kernel_.stays == Stays::weights || kernel_.stays == Stays::weight_rounds;
    if (op.weight_bytes == 0 || channels.size == 0 || (stay && !at.first_of_channels)) return;
    double bytes = static_cast<double>(op.weight_bytes) * channels.size / whole_[kChannels];
    if (!stay) bytes /= kernel_.c_rounds;
    TaskRead read;
    const double share = (channels.begin + double{1} * at.piece / kernel_.c_rounds * channels.size) / whole_[kChannels];
    read.runs = places_.weights(op_, share, whole_bytes(bytes));
    if (read.runs.empty()) return;
    read.readers = readers_of_weights(at, tile);
    round.reads.push_back(std::move(read));
}

TaskRound OperatorTask::round(std::size_t rank, std::uint32_t index) const {
    const Place at = place(rank, index);
    const Span channels = span(kChannels, at.part[kChannels], at.block[kChannels]);
    const Span samples = span(kSamples, at.part[kSamples], at.block[kSamples]);
    const Span rows = span(kRows, at.part[kRows], at.block[kRows]);
    TaskRound round;
    read_weights(at, channels, tiles_[rank], round);
    if (channels.size == 0 || samples.size == 0 || rows.size == 0) return round;

    sched::TileWork work = share_;
    work.size[sched::kK] = static_cast<std::uint16_t>(channels.size);
    work.size[sched::kN] = static_cast<std::uint16_t>(samples.size);
    work.size[sched::kP] = static_cast<std::uint16_t>(rows.size);
    read_inputs(at, work, tiles_[rank], round);
    sched::TileWork piece = work;
    piece.reduction = ceil_div(work.reduction, kernel_.c_rounds);
    round.compute_cycles = whole_bytes(kernels_.round_cycles(kernel_, piece));
    if (at.piece + 1 < kernel_.c_rounds) return round;
    const double outputs = double{1} * whole_[kChannels] * whole_[kRows] * share_.size[sched::kQ];
    const double bytes = kernels_.written_bytes_per_sample(op_) * static_cast<double>(work.outputs()) / outputs;
    const double row = rows.begin + double{1} * channels.begin / whole_[kChannels];
    const double share = (samples.begin + row / whole_[kRows]) / samples_;
    round.writes = places_.result(op_, share, whole_bytes(bytes));
    return round;
}

}  // namespace switchyard::platform
