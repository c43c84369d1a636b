// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/compiler/tensor_map.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/rounding.h"

namespace switchyard::sched {

namespace {

/// An input is cut into groups where it is read.
bool stored_as_group(const Source& source) {
    return source.producer >= 0 && source.groups > 1;
}

TensorShape stored_shape(const Source& source) {
    const std::uint16_t channels = stored_as_group(source) ? source.taken_channels() : source.shape.channels;
    const std::uint8_t bytes = source.shape.element_bytes;
    if (source.reduce == EdgeReduce::none) return {channels, source.shape.rows, source.shape.columns, bytes};
    return {channels, narrow(std::min<std::uint32_t>(kMaxPooledParts, source.shape.rows)), 1, bytes};
}

/// The result of an operator, as a consumer on the same branch would take it.
Source result_of(const DynGraph& graph, int op) {
    Source source;
    source.producer = op;
    source.shape = graph.operators[op].output();
    return source;
}

std::string name_of(const DynGraph& graph, const Source& source) {
    if (source.producer < 0) {
        return source.producer == kModelInput ? "input" : fmt::format("input{}", -1 - source.producer);
    }
    std::string name = graph.operators[source.producer].name;
    if (source.switch_id != kNoSwitch)
        name += fmt::format(" to {}.{}", graph.switches[source.switch_id].name, source.branch);
    if (source.reduce == EdgeReduce::global_pool) name += ", pooled";
    if (stored_as_group(source)) name += fmt::format(", group {} of {}", source.group, source.groups);
    return name;
}

/// Of a whole micro-batch. Kernels that are invoked once a batch are for several.
Partition largest_partition(const OperatorPlacement& placement) {
    return placement.unit_partition(placement.last_partition(0) - 1);
}

}  // namespace

Edge StoredTensor::edge() const {
    Edge edge;
    edge.path = EdgePath::memory;
    edge.reduce = reduce;
    edge.channels = placement.shape.out_channels;
    edge.rows = placement.shape.out_rows;
    edge.columns = placement.shape.out_columns;
    edge.element_bytes = placement.shape.element_bytes;
    return edge;
}

TensorMap::Key TensorMap::key_of(const Source& source) {
    return {source.producer,
            source.switch_id,
            source.branch,
            source.reduce,
            stored_as_group(source) ? source.first_channel() : 0u,
            stored_shape(source).channels};
}

bool TensorMap::crosses(int op, const Source& source) const {
    return source.producer < 0 || schedule_.operators[source.producer].segment != schedule_.operators[op].segment;
}

TensorMap::TensorMap(const Schedule& schedule, const Workload& workload, const HardwareDescription& hardware)
    : schedule_(schedule), workload_(workload), hardware_(hardware) {
    const DynGraph& graph = workload.graph;
    std::map<int, Source, std::greater<int>> inputs;  // -1, -2, ...
    for (const Operator& one : graph.operators) {
        for (const Source& source : one.inputs) {
            if (source.producer < 0) inputs.emplace(source.producer, source);
        }
    }
    for (const auto& [producer, source] : inputs) add(source, StoredTensor::Kind::input);
    for (const int op : graph.outputs) add(result_of(graph, op), StoredTensor::Kind::output);
    for (int op = 0; op < static_cast<int>(graph.operators.size()); ++op) {
        for (const Source& source : graph.operators[op].inputs) {
            if (!crosses(op, source)) continue;
            add(source, StoredTensor::Kind::between_segments);
            add_access(op, source);
        }
    }
    for (std::size_t i = 0; i < tensors_.size(); ++i) cut(tensors_[i], accesses_[i]);
}

void TensorMap::add(const Source& source, StoredTensor::Kind kind) {
    const auto [entry, added] = index_.emplace(key_of(source), tensors_.size());
    if (!added) return;
    const DynGraph& graph = workload_.graph;
    StoredTensor tensor;
    tensor.kind = kind;
    tensor.name = name_of(graph, source);
    tensor.producer = source.producer;
    tensor.switch_id = source.switch_id;
    tensor.branch = source.branch;
    tensor.reduce = source.reduce;
    tensor.first_channel = stored_as_group(source) ? source.first_channel() : narrow(0);
    OperatorPlacement& placement = tensor.placement;
    const std::size_t op_id = graph.operators.size() + tensors_.size();
    if (op_id >= kNone)
        throw Infeasible(graph.file, 0, graph.name,
                         fmt::format("expected at most {} operators and tensors, which 16 bits can number, found more; "
                                     "take a smaller network",
                                     kNone));
    placement.op_id = narrow(static_cast<std::uint32_t>(op_id));
    placement.segment = kNone;
    placement.unit_samples = graph.samples_in_flight();
    const TensorShape stored = stored_shape(source);
    placement.shape.kind = OpKind::elementwise;
    placement.shape.out_channels = placement.shape.in_channels = stored.channels;
    placement.shape.out_rows = placement.shape.in_rows = stored.rows;
    placement.shape.out_columns = placement.shape.in_columns = stored.columns;
    placement.shape.element_bytes = stored.element_bytes;

    std::vector<TensorAccess> accesses;
    if (source.producer >= 0) {
        const OperatorPlacement& producer = schedule_.operators[source.producer].placement;
        accesses.push_back({producer.shape, largest_partition(producer), producer.k_factor, producer.units, true});
        BranchPath around = graph.operators[source.producer].path;
        if (source.switch_id != kNoSwitch) around.push_back({source.switch_id, source.branch});
        if (!around.empty()) {
            constexpr std::uint64_t kWord = 4;  // samples.h: depth, then count and ids of each set
            const bool partners = std::any_of(around.begin(), around.end(), [this](const BranchStep& step) {
                return schedule_.partner(step.switch_id, step.branch) != kNone;
            });
            const std::uint64_t sets = (around.size() + 1) * (partners ? 2 : 1);
            placement.store.index_list_samples = producer.unit_samples;
            placement.store.index_list_bytes =
                aligned(kWord + sets * (kWord + kWord * std::uint64_t{producer.unit_samples}));
        }
    }
    tensors_.push_back(std::move(tensor));
    accesses_.push_back(std::move(accesses));
}

void TensorMap::add_access(int op, const Source& source) {
    const OperatorPlacement& reader = schedule_.operators[op].placement;
    const OperatorShape& shape = reader.shape;
    const bool pooled = source.reduce == EdgeReduce::global_pool;
    const bool second = source.role == OperandRole::second_operand;
    const bool whole = source.role == OperandRole::factor ||
                       needs_whole_input(shape, source.taken_channels(), pooled ? 1 : source.shape.rows, second);
    const bool each = second || (!whole && shape.channelwise());
    const unsigned different = shape.kind == OpKind::attention ? std::min<unsigned>(shape.heads, reader.k_factor) : 1u;
    accesses_[index_.at(key_of(source))].push_back({shape, largest_partition(reader),
                                                    each ? reader.k_factor : different, reader.units, false,
                                                    whole || pooled, second});
}

void TensorMap::cut(StoredTensor& tensor, const std::vector<TensorAccess>& accesses) {
    OperatorPlacement& placement = tensor.placement;
    TensorStore& store = placement.store;
    const OperatorShape& shape = placement.shape;
    const auto interfaces = static_cast<std::uint32_t>(hardware_.memory.size());
    const Partition cut = cut_tensor(placement.unit_samples, shape.out_rows, interfaces, accesses);
    placement.partitions = {cut};
    const std::uint64_t bytes = piece_bytes(placement, 0);
    const std::uint32_t pieces = std::uint32_t{cut.n} * cut.p;
    const std::uint64_t bank = std::uint64_t{aligned(bytes)} * ceil_div(pieces, interfaces);
    const bool host = tensor.kind != StoredTensor::Kind::between_segments;
    constexpr std::uint64_t kLargestPiece = std::numeric_limits<std::uint32_t>::max() - kAlignment;
    if (bytes > kLargestPiece)
        throw Infeasible(
            fmt::format("{}: expected pieces of at most {} bytes of each tensor, found {} of {}; take "
                        "smaller batches",
                        hardware_.name, kLargestPiece, bytes, tensor.name));
    if (end_ + (host ? 2 : 1) * bank > hardware_.region_bytes)
        throw Infeasible(
            fmt::format("{}: expected memory interfaces with {} bytes for {}, found {} left of their {}; "
                        "raise hbm.region_bytes",
                        hardware_.name, (host ? 2 : 1) * bank, tensor.name,
                        hardware_.region_bytes - std::min(end_, hardware_.region_bytes), hardware_.region_bytes));
    store.offset = end_;
    store.piece_stride = aligned(bytes);
    store.bank_stride = host ? bank : 0;
    store.interfaces = narrow(interfaces);
    store.first_interface = narrow(next_interface_);
    next_interface_ = (next_interface_ + pieces) % interfaces;
    end_ += (host ? 2 : 1) * bank;
}

const StoredTensor* TensorMap::find(int op, unsigned source_index) const {
    const Source& source = workload_.graph.operators[op].inputs[source_index];
    return crosses(op, source) ? &tensors_[index_.at(key_of(source))] : nullptr;
}

ImageMeta::Tensor TensorMap::host_tensor(const StoredTensor& tensor) const {
    const OperatorPlacement& placement = tensor.placement;
    ImageMeta::Tensor result;
    result.name = tensor.name;
    result.kind = tensor.kind == StoredTensor::Kind::input ? "input" : "output";
    result.per_input = tensor.kind == StoredTensor::Kind::output &&
                       workload_.graph.same_for_input()[static_cast<std::size_t>(tensor.producer)];
    result.bank_stride = placement.store.bank_stride;
    const Partition& cut = placement.partitions.front();
    for (std::uint32_t rank = 0; rank < std::uint32_t{cut.n} * cut.p; ++rank) {
        const std::uint64_t bytes = piece_bytes(placement, rank);
        result.addresses.push_back(placement.store.address(rank, 0, hardware_.region_bytes));
        result.piece_bytes.push_back(bytes);
        result.bytes += bytes;
    }
    return result;
}

std::uint64_t TensorMap::index_list_room(const StoredTensor& tensor) const {
    const TensorStore& store = tensor.placement.store;
    if (store.index_list_bytes == 0) return 0;
    return std::uint64_t{store.index_list_bytes} * (tensor.placement.unit_samples / store.index_list_samples);
}

void TensorMap::place_index_lists(const StoredTensor& tensor, std::uint64_t address) {
    tensors_[static_cast<std::size_t>(&tensor - tensors_.data())].placement.store.index_list_address = address;
}

}  // namespace switchyard::sched
