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

/// Rows of each piece of a tensor that is cut into n blocks of samples: as many as keep the `interfaces` evenly busy.
std::uint32_t even_rows(std::uint32_t rows, std::uint32_t n, std::uint32_t interfaces) {
    constexpr double kEven = 0.9;
    std::uint32_t best = rows;
    double most_even = 0;
    for (std::uint32_t p = 1; p <= std::min(rows, interfaces) && most_even < kEven; ++p) {
        const std::uint32_t pieces = n * p;
        const double even = double{1} * pieces / interfaces / ceil_div(pieces, interfaces);
        if (rows % p != 0 || even <= most_even) continue;
        most_even = even;
        best = rows / p;
    }
    return best;
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
    place_blocks();
    if (edges.size() >= kNone) {
        throw InputError(graph.file, 0, graph.name, fmt::format("{} edges do not fit 16 bits", edges.size()));
    }
}

Edge& EdgeBuilder::new_edge() {
    edges.emplace_back();
    edges.back().id = static_cast<std::uint16_t>(edges.size() - 1);
    edge_blocks_.emplace_back();
    return edges.back();
}

EdgeBuilder::Blocks EdgeBuilder::add_blocks(const std::vector<std::uint16_t>& tiles, std::uint64_t bytes) {
    const Blocks blocks{blocks_.size(), tiles.size()};
    for (const std::uint16_t tile : tiles) blocks_.push_back({bytes, {tile, {}}});
    return blocks;
}

void EdgeBuilder::add_traffic(const Blocks& blocks, std::size_t active, std::uint16_t segment, double bytes) {
    for (std::size_t i = 0; i < active; ++i) {
        auto& traffic = blocks_[blocks.first + i].traffic.bytes;
        const double share = bytes / static_cast<double>(active);
        const auto known = std::find_if(traffic.begin(), traffic.end(),
                                        [segment](const auto& entry) { return entry.first == segment; });
        if (known == traffic.end()) {
            traffic.emplace_back(segment, share);
        } else {
            known->second += share;
        }
    }
}

std::size_t EdgeBuilder::active_tiles(int op) const {
    const OperatorPlacement& placement = schedule_.operators[op].placement;
    const Partition& largest = placement.partitions.back();
    return std::size_t{largest.n} * largest.p * placement.k_ways;
}

void EdgeBuilder::place_blocks() {
    std::vector<PieceTraffic> traffic;
    for (const Block& block : blocks_) traffic.push_back(block.traffic);
    const std::vector<unsigned> interfaces = balanced_interfaces(hardware_, traffic);
    HbmAllocator memory(hardware_);
    std::vector<std::uint64_t> address;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
        address.push_back(memory.allocate(interfaces[i], blocks_[i].bytes));
    }
    const auto base = [&](const Blocks& blocks) { return address.begin() + static_cast<std::ptrdiff_t>(blocks.first); };
    for (std::size_t e = 0; e < edges.size(); ++e) {
        const Blocks& blocks = edge_blocks_[e];
        edges[e].memory_base.assign(base(blocks), base(blocks) + static_cast<std::ptrdiff_t>(blocks.count));
    }
    for (std::size_t t = 0; t < tensors.size(); ++t) {
        const TensorUnits& units = tensor_blocks_[t];
        for (std::size_t i = 0; i < units.blocks.count; ++i) {
            for (std::uint32_t unit = 0; unit < units.units; ++unit) {
                tensors[t].addresses.push_back(address[units.blocks.first + i] + units.offset +
                                               std::uint64_t{unit} * units.stride);
            }
        }
    }
    for (std::size_t s = 0; s < masks.size(); ++s) masks[s].address = address[mask_blocks_[s].first];
    for (OperatorPlacement& input : inputs) {
        const std::size_t tensor = static_cast<std::size_t>(&input - inputs.data());  // inputs are the first tensors
        for (std::size_t i = 0; i < tensor_blocks_[tensor].blocks.count; ++i) {
            const std::size_t block = tensor_blocks_[tensor].blocks.first + i;
            input.tiles.push_back(
                hardware_.memory_endpoint(static_cast<unsigned>(address[block] / hardware_.region_bytes)));
        }
    }
}

void EdgeBuilder::add_input(int producer, const InputTensor& input) {
    const DynGraph& graph = workload_.graph;
    const auto interfaces = static_cast<std::uint32_t>(hardware_.memory.size());
    // Each hand-over unit is spread over all interfaces: by samples, and by rows if there are too few samples.
    const std::uint32_t block = ceil_div(input.unit_samples, std::min(interfaces, input.unit_samples));
    const std::uint32_t n = ceil_div(input.unit_samples, block);
    const std::uint32_t rows = even_rows(input.shape.rows, n, interfaces);
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
    std::vector<std::uint16_t> nearby;
    for (std::uint32_t rank = 0; rank < n * p; ++rank) {
        nearby.push_back(hardware_.memory[rank % interfaces].router);
        const Box box = output_box(placement.shape, placement.partitions[0], 1, rank, input.unit_samples);
        tensor.piece_bytes.insert(tensor.piece_bytes.end(), placement.units,
                                  row_bytes * (box.n1 - box.n0) * (box.p1 - box.p0));
    }
    stored.blocks = add_blocks(nearby, 2 * tensor.bank_stride);
    tensor_blocks_.push_back({stored.blocks, placement.units, stored.unit_stride, 0});
    stored_.emplace(StoredKey{producer, kNoSwitch, 0, EdgeReduce::none}, stored);
    inputs.push_back(std::move(placement));
    tensors.push_back(std::move(tensor));
}

double EdgeBuilder::read_bytes(int op, unsigned source_index) const {
    const OperatorPlacement& placement = schedule_.operators[op].placement;
    const Source& source = workload_.graph.operators[op].inputs[source_index];
    return unit_read_bytes(placement.shape, source, placement.partitions.back(), placement.k_ways) * placement.units *
           workload_.edge_share({op, source_index});
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
        edge_blocks_[edge.id] = stored.blocks;
        add_traffic(stored.blocks, stored.blocks.count, placed.segment, read_bytes(op, source_index));
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
        stored.blocks = add_blocks(producer.tiles, std::uint64_t{stored.unit_stride} * producer.units);
        const double written = static_cast<double>(source.shape.bytes()) * graph.batch_samples() *
                               workload_.edge_share({op, source_index});
        add_traffic(stored.blocks, active_tiles(source.producer), producer.segment, written);
    }
    add_traffic(stored.blocks, active_tiles(source.producer), placed.segment, read_bytes(op, source_index));
    edge.stores = first;
    edge_blocks_[edge.id] = stored.blocks;
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
    // The tiles of slice ik are those of ranks ik, k_ways + ik, ...: each slice lies near a different one.
    const std::size_t groups = placement.tiles.size() / placement.k_ways;
    std::vector<std::uint16_t> nearby;
    for (unsigned ik = 0; ik < placement.k_ways; ++ik) {
        nearby.push_back(placement.tiles[ik % groups * placement.k_ways + ik]);
    }
    tensor.piece_bytes.assign(placement.k_ways, edge.weight_bytes);
    tensor.bytes = std::uint64_t{edge.weight_bytes} * placement.k_ways;
    const Blocks blocks = add_blocks(nearby, edge.weight_bytes);
    edge_blocks_[edge.id] = blocks;
    const std::size_t segments = schedule_.segments.size();
    const std::size_t loaded_in = placed.prefetched ? (placed.segment + segments - 1) % segments : placed.segment;
    add_traffic(blocks, blocks.count, static_cast<std::uint16_t>(loaded_in), static_cast<double>(tensor.bytes));
    tensor_blocks_.push_back({blocks, 1, 0, 0});
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
    const OperatorPlacement& gate = schedule_.operators[one.gate].placement;
    mask_blocks_.push_back(add_blocks({gate.tiles.front()}, 2 * bytes));
    add_traffic(mask_blocks_.back(), 1, gate.segment, static_cast<double>(bytes));
    masks.push_back({0, bytes});
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
    const Blocks blocks = add_blocks(producer.tiles, 2 * edge.memory_bank_stride);
    edge_blocks_[edge.id] = blocks;
    add_traffic(blocks, active_tiles(op), producer.segment,
                static_cast<double>(tensor.bytes) * workload_.items[op].expected_share);
    tensor_blocks_.push_back({blocks, producer.units, edge.memory_unit_stride, edge.frame_bytes});
    tensor.piece_bytes.assign(blocks.count * producer.units, edge.memory_unit_stride - edge.frame_bytes);
    tensors.push_back(std::move(tensor));
}

}  // namespace switchyard::sched
