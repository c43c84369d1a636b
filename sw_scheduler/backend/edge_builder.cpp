#include "switchyard/sw_scheduler/backend/edge_builder.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/formats/error.h"

namespace switchyard::sched {

namespace {

std::uint32_t ceil_div(std::uint32_t a, std::uint32_t b) {
    return (a + b - 1) / b;
}

}  // namespace

std::uint16_t image_op_id(const DynGraph& graph, int producer) {
    return static_cast<std::uint16_t>(producer >= 0 ? producer
                                                    : static_cast<int>(graph.operators.size()) - 1 - producer);
}

EdgeBuilder::EdgeBuilder(const Schedule& schedule, const Workload& workload, const HardwareDescription& hardware)
    : schedule_(schedule),
      workload_(workload),
      hardware_(hardware),
      memory_(hardware),
      regions_(scratchpad_map(schedule.operators, hardware)) {
    const DynGraph& graph = workload.graph;
    std::map<int, InputTensor, std::greater<int>> input_tensors;  // -1, -2, ...
    for (std::size_t op = 0; op < graph.operators.size(); ++op) {
        for (const Source& source : graph.operators[op].inputs) {
            if (source.producer >= 0) continue;
            const std::uint32_t unit = schedule.operators[op].placement.unit_samples;
            InputTensor& input = input_tensors.emplace(source.producer, InputTensor{source.shape, unit}).first->second;
            input.unit_samples = std::min(input.unit_samples, unit);
        }
    }
    for (const auto& [producer, input] : input_tensors) add_input(producer, input);
    for (int op = 0; op < static_cast<int>(graph.operators.size()); ++op) {
        for (unsigned i = 0; i < graph.operators[op].inputs.size(); ++i) add_operand(op, i);
        add_weights(op);
    }
    for (int s = 0; s < static_cast<int>(graph.switches.size()); ++s) add_mask(s);
    for (const int op : graph.outputs) add_output(op);
    if (edges.size() >= kNone) {
        throw InputError(graph.file, 0, graph.name, fmt::format("{} edges do not fit 16 bits", edges.size()));
    }
}

Edge& EdgeBuilder::new_edge() {
    edges.emplace_back();
    edges.back().id = static_cast<std::uint16_t>(edges.size() - 1);
    return edges.back();
}

void EdgeBuilder::add_input(int producer, const InputTensor& input) {
    const DynGraph& graph = workload_.graph;
    const auto interfaces = static_cast<std::uint32_t>(hardware_.memory.size());
    // Each hand-over unit is spread over all interfaces: by samples, and by rows if there are too few samples.
    const std::uint32_t block = ceil_div(input.unit_samples, std::min(interfaces, input.unit_samples));
    const std::uint32_t n = ceil_div(input.unit_samples, block);
    const std::uint32_t rows = ceil_div(input.shape.rows, std::min<std::uint32_t>(interfaces / n, input.shape.rows));
    const std::uint32_t p = ceil_div(input.shape.rows, rows);
    OperatorPlacement placement;
    placement.op_id = image_op_id(graph, producer);
    placement.segment = kNone;
    placement.shape.kind = OpKind::elementwise;
    placement.shape.out_channels = placement.shape.in_channels = input.shape.channels;
    placement.shape.out_rows = placement.shape.in_rows = input.shape.rows;
    placement.shape.out_columns = placement.shape.in_columns = input.shape.columns;
    placement.unit_samples = input.unit_samples;
    placement.units = static_cast<std::uint16_t>(graph.batch_samples() / input.unit_samples);
    placement.partitions = {
        {static_cast<std::uint16_t>(input.unit_samples), static_cast<std::uint16_t>(n), static_cast<std::uint16_t>(p)}};

    ImageMeta::Tensor tensor;
    tensor.name = producer == kModelInput ? "input" : fmt::format("input{}", -1 - producer);
    tensor.kind = "input";
    tensor.bytes = input.shape.bytes() * graph.batch_samples();
    const std::uint64_t row_bytes = std::uint64_t{kElementBytes} * input.shape.channels * input.shape.columns;
    Stored stored;
    stored.unit_stride = aligned(row_bytes * rows * block);
    tensor.bank_stride = std::uint64_t{stored.unit_stride} * placement.units;
    for (std::uint32_t rank = 0; rank < n * p; ++rank) {
        placement.tiles.push_back(hardware_.memory_endpoint(rank));
        stored.base.push_back(memory_.allocate(rank, 2 * tensor.bank_stride));
        const Box box = output_box(placement.shape, placement.partitions[0], 1, rank, input.unit_samples);
        for (std::uint32_t unit = 0; unit < placement.units; ++unit) {
            tensor.addresses.push_back(stored.base.back() + std::uint64_t{unit} * stored.unit_stride);
            tensor.piece_bytes.push_back(row_bytes * (box.n1 - box.n0) * (box.p1 - box.p0));
        }
    }
    stored_.emplace(StoredKey{producer, kNoSwitch, 0, EdgeReduce::none}, std::move(stored));
    inputs.push_back(std::move(placement));
    tensors.push_back(std::move(tensor));
}

std::uint32_t EdgeBuilder::piece_bytes(int op, EdgeReduce reduce) const {
    const PlacedOperator& placed = schedule_.operators[op];
    std::uint64_t bytes = 0;
    for (const Partition& partition : placed.placement.partitions) {
        const TileWork work = tile_work(placed.placement.shape, 1, partition, placed.placement.k_ways);
        const std::uint64_t area = reduce == EdgeReduce::global_pool ? 1 : std::uint64_t{work.size[kP]} * work.size[kQ];
        bytes = std::max(bytes, kElementBytes * work.size[kN] * work.size[kK] * area);
    }
    return aligned(bytes);
}

std::uint32_t EdgeBuilder::frame_bytes(int producer, bool through_switch) const {
    if (producer < 0) return 0;
    const std::size_t switches = workload_.graph.operators[producer].path.size() + (through_switch ? 1 : 0);
    if (switches == 0) return 0;
    constexpr std::uint64_t kWord = 4;  // samples.h: depth, then count and ids of each set
    const std::uint64_t ids = schedule_.operators[producer].placement.unit_samples;
    return aligned(kWord + (switches + 1) * (kWord + kWord * ids));
}

void EdgeBuilder::add_operand(int op, unsigned source_index) {
    const DynGraph& graph = workload_.graph;
    const PlacedOperator& placed = schedule_.operators[op];
    const Source& source = graph.operators[op].inputs[source_index];
    Edge& edge = new_edge();
    edge.src_op = image_op_id(graph, source.producer);
    edge.dst_op = static_cast<std::uint16_t>(op);
    edge.reduce = source.reduce;
    edge.role = source.role;
    if (source.switch_id != kNoSwitch) {
        edge.switch_id = static_cast<std::uint16_t>(source.switch_id);
        edge.branch = static_cast<std::uint16_t>(source.branch);
    }
    edge.pops = static_cast<std::uint8_t>(source.pops);
    edge.channels = source.shape.channels;
    edge.rows = source.shape.rows;
    edge.columns = source.shape.columns;
    edge.slots = placed.depths.slots[source_index];
    edge.slot_offset = regions_[op].slots[source_index];
    edge.slot_bytes = placed.footprint.slot_bytes[source_index];
    if (source.producer >= 0 && schedule_.operators[source.producer].segment == placed.segment) return;

    edge.path = EdgePath::memory;
    if (source.producer < 0) {
        const Stored& stored = stored_.at({source.producer, kNoSwitch, 0, EdgeReduce::none});
        edge.memory_base = stored.base;
        edge.memory_unit_stride = stored.unit_stride;
        edge.memory_bank_stride = tensors[static_cast<std::size_t>(-1 - source.producer)].bank_stride;
        return;
    }
    edge.frame_bytes = frame_bytes(source.producer, source.switch_id != kNoSwitch);
    const auto [entry, first] =
        stored_.try_emplace({source.producer, source.switch_id, source.branch, source.reduce}, Stored{});
    Stored& stored = entry->second;
    if (first) {
        const OperatorPlacement& producer = schedule_.operators[source.producer].placement;
        stored.unit_stride = edge.frame_bytes + piece_bytes(source.producer, source.reduce);
        for (const std::uint16_t tile : producer.tiles) {
            stored.base.push_back(memory_.allocate_near(tile, std::uint64_t{stored.unit_stride} * producer.units));
        }
    }
    edge.stores = first;
    edge.memory_base = stored.base;
    edge.memory_unit_stride = stored.unit_stride;
}

void EdgeBuilder::add_weights(int op) {
    const Operator& one = workload_.graph.operators[op];
    if (one.weight_bytes == 0) return;
    const PlacedOperator& placed = schedule_.operators[op];
    const OperatorPlacement& placement = placed.placement;
    Edge& edge = new_edge();
    edge.dst_op = static_cast<std::uint16_t>(op);
    edge.path = EdgePath::weights;
    edge.slots = 1;
    edge.slot_offset = regions_[op].weights;
    edge.slot_bytes = edge.weight_bytes = placed.footprint.weights;
    edge.resident = regions_[op].resident;
    ImageMeta::Tensor tensor;
    tensor.name = one.name;
    tensor.kind = "weights";
    // The tiles of slice ik are those of ranks ik, k_ways + ik, ...: slices near a different one each keep all
    // interfaces busy.
    const std::size_t groups = placement.tiles.size() / placement.k_ways;
    for (unsigned ik = 0; ik < placement.k_ways; ++ik) {
        const std::uint16_t tile = placement.tiles[ik % groups * placement.k_ways + ik];
        edge.memory_base.push_back(memory_.allocate_near(tile, edge.weight_bytes));
        tensor.addresses.push_back(edge.memory_base.back());
        tensor.piece_bytes.push_back(edge.weight_bytes);
        tensor.bytes += edge.weight_bytes;
    }
    tensors.push_back(std::move(tensor));
}

void EdgeBuilder::add_mask(int switch_id) {
    const Switch& one = workload_.graph.switches[switch_id];
    Edge& edge = new_edge();
    edge.src_op = static_cast<std::uint16_t>(one.gate);
    edge.dst_op = static_cast<std::uint16_t>(one.data);
    edge.path = EdgePath::mask;
    edge.switch_id = static_cast<std::uint16_t>(switch_id);
    const std::uint64_t bytes = aligned(sizeof(std::uint64_t) * std::uint64_t{workload_.graph.batch_samples()});
    const std::uint16_t tile = schedule_.operators[one.gate].placement.tiles.front();
    masks.push_back({memory_.allocate_near(tile, 2 * bytes), bytes});
}

void EdgeBuilder::add_output(int op) {
    const DynGraph& graph = workload_.graph;
    const OperatorPlacement& producer = schedule_.operators[op].placement;
    Edge& edge = new_edge();
    edge.src_op = static_cast<std::uint16_t>(op);
    edge.path = EdgePath::memory;
    edge.slots = 0;
    edge.channels = producer.shape.out_channels;
    edge.rows = producer.shape.out_rows;
    edge.columns = producer.shape.out_columns;
    edge.frame_bytes = frame_bytes(op, false);
    edge.memory_unit_stride = edge.frame_bytes + piece_bytes(op, EdgeReduce::none);
    edge.memory_bank_stride = std::uint64_t{edge.memory_unit_stride} * producer.units;
    edge.stores = true;
    ImageMeta::Tensor tensor;
    tensor.name = graph.operators[op].name;
    tensor.kind = "output";
    tensor.bytes = graph.operators[op].output().bytes() * graph.batch_samples();
    tensor.bank_stride = edge.memory_bank_stride;
    for (const std::uint16_t tile : producer.tiles) {
        edge.memory_base.push_back(memory_.allocate_near(tile, 2 * edge.memory_bank_stride));
        for (unsigned unit = 0; unit < producer.units; ++unit) {
            tensor.addresses.push_back(edge.memory_base.back() + std::uint64_t{unit} * edge.memory_unit_stride +
                                       edge.frame_bytes);
            tensor.piece_bytes.push_back(edge.memory_unit_stride - edge.frame_bytes);
        }
    }
    tensors.push_back(std::move(tensor));
}

}  // namespace switchyard::sched
