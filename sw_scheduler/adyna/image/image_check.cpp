// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/image/image_check.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/adyna/image/program_records.h"

namespace switchyard {

namespace {

constexpr unsigned kMaskBits = 64;

/// Copies of one record in several tiles must be the same, byte for byte.
template <class Item>
class Copies {
public:
    bool agrees(std::uint16_t id, const Item& item) {
        ByteWriter writer;
        writer(item);
        std::vector<std::uint8_t> bytes = writer.take();
        const auto [first, added] = seen_.try_emplace(id, bytes);
        return added || first->second == bytes;
    }

private:
    std::map<std::uint16_t, std::vector<std::uint8_t>> seen_;
};

bool covers(const Kernel& kernel) {
    for (unsigned dim = 0; dim < kDims; ++dim) {
        std::uint64_t product = 1;
        for (unsigned level = 0; level < kLevels; ++level)
            product = std::min<std::uint64_t>(product * kernel.loops[level][dim].block, UINT32_MAX);
        if (product < kernel.total[dim]) return false;
    }
    return true;
}

class ImageChecker {
public:
    ImageChecker(const Image& image, const std::string& source, const std::function<std::string(std::size_t)>& place)
        : image_(image), source_(source), place_(place) {}

    void check() {
        check_switches();
        const std::size_t tiles = image_.tiles.size();
        at_ = "chip";
        require(image_.chip.batch_samples == image_.meta.batch_samples,
                "batch_samples differs from the meta section's");
        require(image_.meta.batches_in_flight > 0 && image_.meta.batch_samples % image_.meta.batches_in_flight == 0,
                "{} samples are not {} batches", image_.meta.batch_samples, image_.meta.batches_in_flight);
        for (std::size_t i = 0; i < image_.chip.segments.size(); ++i) {
            const SegmentInfo& segment = image_.chip.segments[i];
            for (const std::uint16_t tile : segment.tiles)
                require(tile < tiles, "segment {}: tile {} of {}", i, tile, tiles);
            require(segment.units > 0 && segment.unit_samples > 0, "segment {}: no micro-batches", i);
        }
        for (std::size_t tile = 0; tile < tiles; ++tile) {
            at_ = place_(tile);
            check_tile(image_.tiles[tile], tile);
        }
    }

private:
    template <class... Args>
    void require(bool holds, const char* message, const Args&... args) const {
        if (!holds) throw InputError(source_, 0, at_, fmt::format(fmt::runtime(message), args...));
    }

    void check_switches() {
        at_ = "meta";
        std::map<std::string, const ImageMeta::Switch*> known;
        for (const ImageMeta::Switch& one : image_.meta.switches) {
            require(one.branches >= 1 && one.branches <= kMaskBits, "switch {}: {} branches", one.name, one.branches);
            require(known.emplace(one.name, &one).second, "switch {}: is there twice", one.name);
        }
        for (const ImageMeta::Switch& one : image_.meta.switches) {
            if (one.parent.empty()) continue;
            const auto parent = known.find(one.parent);
            require(parent != known.end() && one.parent_branch < parent->second->branches,
                    "switch {}: no branch {} of {}", one.name, one.parent_branch, one.parent);
        }
    }

    bool is_operator(std::uint16_t id) const { return id < image_.meta.operators.size(); }

    void check_tile(const TileProgram& program, std::size_t tile) {
        require(program.tile == tile, "the program is for tile {}", program.tile);
        for (const OperatorPlacement& placement : program.placements) check_placement(placement);
        for (const Edge& edge : program.edges) check_edge(program, edge);
        for (std::size_t i = 0; i < program.kernels.size(); ++i)
            require(covers(program.kernels[i]), "kernel {}: the blocks do not cover the totals", i);
        check_orders(program);
        std::uint16_t segment = 0;
        for (const TileOperator& op : program.operators) {
            require(op.segment >= segment, "operator {}: operators are not sorted by segment", op.op_id);
            segment = op.segment;
            check_operator(program, op);
        }
    }

    void check_orders(const TileProgram& program) {
        int previous = -1;
        for (const SegmentOrder& order : program.orders) {
            require(order.segment > previous && order.segment < image_.chip.segments.size(),
                    "order of segment {}: twice, not sorted, or of {} segments", order.segment,
                    image_.chip.segments.size());
            previous = order.segment;
            require(orders_.agrees(order.segment, order), "order of segment {}: differs from another tile's",
                    order.segment);
            require(order.samples == image_.meta.samples_of_batch(), "order of segment {}: {} samples of a batch of {}",
                    order.segment, order.samples, image_.meta.samples_of_batch());
            for (std::size_t i = 0; i < order.keys.size(); ++i) {
                const SegmentOrder::Key& key = order.keys[i];
                require(key.outer == kNone || (key.outer < i && key.outer_branch < kMaskBits),
                        "order of segment {}: key {} stands on branch {} of key {}", order.segment, i, key.outer_branch,
                        key.outer);
            }
        }
    }

    void check_placement(const OperatorPlacement& placement) {
        const std::uint16_t id = placement.op_id;
        require(is_operator(id), "operator {}: the image has {} operators", id, image_.meta.operators.size());
        require(placements_.agrees(id, placement), "operator {}: its placement differs from another tile's", id);
        require(placement.k_factor > 0 && placement.units > 0 && placement.unit_samples > 0,
                "operator {}: a placement without partition factors or units", id);
        const OperatorShape& shape = placement.shape;
        require(shape.heads > 0 && shape.in_channels % shape.heads == 0 && shape.out_channels % shape.heads == 0,
                "operator {}: {} heads of {} and {} channels", id, shape.heads, shape.in_channels, shape.out_channels);
        for (const std::uint8_t bytes : {shape.operand_bytes, shape.element_bytes})
            require(bytes == kElementBytes || bytes == kWideElementBytes, "operator {}: elements of {} bytes", id,
                    bytes);
        require(shape.joined == 1 || shape.kind == OpKind::attention || shape.kind == OpKind::pool,
                "operator {}: joins samples, which only an attention or a pool does", id);
        require(shape.joined > 0 && placement.unit_samples % shape.joined == 0,
                "operator {}: units of {} samples, of which it joins {}", id, placement.unit_samples, shape.joined);
        if (placement.in_memory()) return check_store(placement);
        require(placement.segment < image_.chip.segments.size(), "operator {}: segment {} of {}", id, placement.segment,
                image_.chip.segments.size());
        for (const std::uint16_t other : placement.tiles)
            require(other < image_.tiles.size(), "operator {}: tile {} of {}", id, other, image_.tiles.size());
        check_allocations(placement);
        for (unsigned i = 0; i < std::max<std::size_t>(1, placement.allocations.size()); ++i)
            check_partitions(placement, placement.first_partition(i), placement.last_partition(i));
        require(placement.units % placement.units_of_invocation() == 0,
                "operator {}: {} units, of which an invocation takes {}", id, placement.units,
                placement.units_of_invocation());
    }

    void check_partitions(const OperatorPlacement& placement, std::size_t first, std::size_t last) const {
        const std::uint16_t id = placement.op_id;
        std::uint16_t previous = 0;
        for (std::size_t i = first; i < last; ++i) {
            const Partition& part = placement.partitions[i];
            require(part.dyn_dim > previous, "operator {}: partitions are not sorted by dyn_dim", id);
            previous = part.dyn_dim;
            const std::uint64_t ranks = std::uint64_t{part.n} * part.p * placement.k_factor;
            require(ranks > 0 && ranks <= placement.tiles.size(), "operator {}: {} ranks on {} tiles", id, ranks,
                    placement.tiles.size());
            require(keeps_groups(placement.shape, placement.unit_partition(i)),
                    "operator {}: {} parts over {} samples, of which it joins {}", id, part.n, part.dyn_dim,
                    placement.shape.joined);
            require(part.dyn_dim <= placement.unit_samples || part.dyn_dim % placement.unit_samples == 0,
                    "operator {}: a kernel for {} samples, which are no whole number of units of {}", id, part.dyn_dim,
                    placement.unit_samples);
        }
    }

    /// Allocations follow one another, each with a kernel for every size that it takes; the first takes all of them.
    void check_allocations(const OperatorPlacement& placement) const {
        const std::uint16_t id = placement.op_id;
        std::size_t first = 0;
        for (std::size_t i = 0; i < placement.allocations.size(); ++i) {
            const TileAllocation& one = placement.allocations[i];
            require(i == 0 ? one.first_partition == 0 : one.first_partition > first,
                    "operator {}: allocation {} begins with kernel {}", id, i, one.first_partition);
            require(one.first_partition < placement.partitions.size(), "operator {}: allocation {} has no kernels", id,
                    i);
            first = one.first_partition;
            for (const std::vector<UnitCycles>* costs : {&one.own, &one.partner}) {
                std::uint16_t previous = 0;
                for (const UnitCycles& cost : *costs) {
                    require(cost.dyn_dim > previous, "operator {}: costs of allocation {} are not sorted by dyn_dim",
                            id, i);
                    previous = cost.dyn_dim;
                }
                require(i > 0 || previous >= placement.unit_samples,
                        "operator {}: allocation 0 takes units of {} samples of {}", id, previous,
                        placement.unit_samples);
            }
        }
        for (std::size_t i = 0; i < placement.allocations.size(); ++i) {
            const std::vector<UnitCycles>& own = placement.allocations[i].own;
            const Partition& largest = placement.partitions[placement.last_partition(static_cast<unsigned>(i)) - 1];
            require(own.empty() || own.back().dyn_dim <= largest.dyn_dim,
                    "operator {}: allocation {} has no kernel for {} samples", id, i,
                    own.empty() ? 0 : own.back().dyn_dim);
        }
    }

    void check_store(const OperatorPlacement& tensor) const {
        const std::uint16_t id = tensor.op_id;
        require(tensor.partitions.size() == 1 && tensor.k_factor == 1 && tensor.allocations.empty(),
                "tensor {}: is not cut in one way", id);
        const Partition& cut = tensor.partitions.front();
        require(cut.n > 0 && cut.p > 0 && cut.dyn_dim == tensor.unit_samples, "tensor {}: pieces for {} samples of {}",
                id, cut.dyn_dim, tensor.unit_samples);
        require(tensor.unit_samples == image_.chip.batch_samples, "tensor {}: {} samples of a batch of {}", id,
                tensor.unit_samples, image_.chip.batch_samples);
        const TensorStore& store = tensor.store;
        require(store.interfaces > 0 && store.first_interface < store.interfaces,
                "tensor {}: begins at memory interface {} of {}", id, store.first_interface, store.interfaces);
        require(store.index_list_bytes == 0 || store.index_list_samples > 0, "tensor {}: index lists of no samples",
                id);
    }

    void check_edge(const TileProgram& program, const Edge& edge) {
        const auto known = [this](std::uint16_t op) { return op == kNone || is_operator(op); };
        require(edges_.agrees(edge.id, edge), "edge {}: differs from another tile's", edge.id);
        require(known(edge.src_op), "edge {}: unknown operator {}", edge.id, edge.src_op);
        require(known(edge.dst_op), "edge {}: unknown operator {}", edge.id, edge.dst_op);
        const OperatorPlacement* source = find_placement(program, edge.src_op);
        require(!source || carries_decisions(edge.path) ||
                    std::uint32_t{edge.first_channel} + edge.channels <= source->shape.out_channels,
                "edge {}: takes channels {} to {} of {}", edge.id, edge.first_channel,
                edge.first_channel + edge.channels - 1, source ? source->shape.out_channels : 0);
        require(!source || carries_decisions(edge.path) || edge.element_bytes == source->shape.element_bytes,
                "edge {}: elements of {} bytes, the source's have {}", edge.id, edge.element_bytes,
                source ? source->shape.element_bytes : 0);
        if (edge.switch_id == kNone) return;
        const SegmentOrder* const order = source && !source->in_memory() ? program.order(source->segment) : nullptr;
        require(!source || edge.path != EdgePath::on_chip || !source->invoked_by_batch() || (order && order->packs()),
                "edge {}: passes switch {} on the chip, where the batch's samples are not known when the first arrive; "
                "kernels are invoked once a batch",
                edge.id, edge.switch_id);
        require(edge.switch_id < image_.meta.switches.size(), "edge {}: unknown switch {}", edge.id, edge.switch_id);
        require(edge.partner == kNone ||
                    (edge.partner < image_.meta.switches[edge.switch_id].branches && edge.partner != edge.branch),
                "edge {}: branch {} shares tiles with branch {}", edge.id, edge.branch, edge.partner);
    }

    void check_operator(const TileProgram& program, const TileOperator& op) const {
        const OperatorPlacement* placement = find_placement(program, op.op_id);
        require(placement, "operator {}: has no placement", op.op_id);
        require(op.segment == placement->segment, "operator {}: segment {}, but it is placed in {}", op.op_id,
                op.segment, placement->segment);
        require(op.rank < placement->tiles.size() && placement->tiles[op.rank] == program.tile,
                "operator {}: rank {} is not on this tile", op.op_id, op.rank);
        const auto& takes_part = image_.chip.segments[op.segment].tiles;
        require(std::find(takes_part.begin(), takes_part.end(), program.tile) != takes_part.end(),
                "operator {}: the tile takes no part in segment {}", op.op_id, op.segment);
        require(op.gate_switch == kNone || op.gate_switch < image_.meta.switches.size(),
                "operator {}: gate of unknown switch {}", op.op_id, op.gate_switch);
        const bool keeps_logits = std::count(op.epilogue.begin(), op.epilogue.end(), EpilogueStep::gate) != 0;
        require(keeps_logits == (op.gate_switch != kNone), "operator {}: {}", op.op_id,
                keeps_logits ? "keeps logits, but is no gate" : "is a gate, but keeps no logits");
        check_steps(op, *placement);
        check_kernels(program, op, *placement);
        for (const std::uint16_t id : op.in_edges) {
            const Edge* edge = find_edge(program, id);
            require(edge && edge->dst_op == op.op_id, "operator {}: edge {} does not end here", op.op_id, id);
        }
        for (const std::uint16_t id : op.out_edges) {
            const Edge* edge = find_edge(program, id);
            require(edge && edge->src_op == op.op_id, "operator {}: edge {} does not begin here", op.op_id, id);
        }
    }

    /// Steps that need more than the value that they change.
    void check_steps(const TileOperator& op, const OperatorPlacement& placement) const {
        const auto across = std::count_if(op.epilogue.begin(), op.epilogue.end(), is_across_channels);
        require(across <= 1, "operator {}: {} steps across channels", op.op_id, across);
        require(across == 0 || placement.k_factor == 1, "operator {}: a step across channels that {} slices share",
                op.op_id, placement.k_factor);
        require((op.gate_switch == kNone && across == 0) || op.kept_offset < op.out_slot_bytes,
                "operator {}: values kept at offset {} of output slots of {} bytes", op.op_id, op.kept_offset,
                op.out_slot_bytes);
        const auto has = [&op](EpilogueStep step) {
            return std::count(op.epilogue.begin(), op.epilogue.end(), step) != 0;
        };
        require(
            has(EpilogueStep::position) ? op.position_tokens > 0 && op.position_tokens % placement.shape.out_rows == 0
                                        : op.position_tokens == 0,
            "operator {}: positions of {} tokens on {} rows", op.op_id, op.position_tokens, placement.shape.out_rows);
        require((op.gate_rule == GateRule::patience) == (op.gate_patience > 0),
                "operator {}: a patience of {} that does not match its rule", op.op_id, op.gate_patience);
        require(op.previous_switch == kNone ||
                    (op.gate_rule == GateRule::patience && op.previous_switch < image_.meta.switches.size()),
                "operator {}: takes labels of unknown switch {}", op.op_id, op.previous_switch);
    }

    void check_kernels(const TileProgram& program, const TileOperator& op, const OperatorPlacement& placement) const {
        require(std::size_t{op.kernel_first} + op.kernel_count <= program.kernels.size(),
                "operator {}: kernels {} to {}, but the store has {}", op.op_id, op.kernel_first,
                op.kernel_first + op.kernel_count, program.kernels.size());
        require(op.kernel_count == placement.partitions.size(), "operator {}: {} kernels, but {} partitions", op.op_id,
                op.kernel_count, placement.partitions.size());
        for (std::size_t i = 0; i < op.kernel_count; ++i) {
            const Kernel& kernel = program.kernels[op.kernel_first + i];
            require(kernel.op_id == op.op_id && kernel.dyn_dim() == placement.partitions[i].dyn_dim,
                    "operator {}: kernel {} is of operator {} for {} samples", op.op_id, op.kernel_first + i,
                    kernel.op_id, kernel.dyn_dim());
            require(kernel.unit_samples() == placement.unit_partition(i).dyn_dim,
                    "operator {}: kernel {} walks units of {} samples instead of {}", op.op_id, op.kernel_first + i,
                    kernel.unit_samples(), placement.unit_partition(i).dyn_dim);
        }
    }

    static const OperatorPlacement* find_placement(const TileProgram& program, std::uint16_t op_id) {
        const auto found = std::find_if(program.placements.begin(), program.placements.end(),
                                        [op_id](const OperatorPlacement& p) { return p.op_id == op_id; });
        return found == program.placements.end() ? nullptr : &*found;
    }

    static const Edge* find_edge(const TileProgram& program, std::uint16_t id) {
        const auto found =
            std::find_if(program.edges.begin(), program.edges.end(), [id](const Edge& edge) { return edge.id == id; });
        return found == program.edges.end() ? nullptr : &*found;
    }

    const Image& image_;
    const std::string& source_;
    const std::function<std::string(std::size_t)>& place_;
    std::string at_;
    Copies<OperatorPlacement> placements_;
    Copies<Edge> edges_;
    Copies<SegmentOrder> orders_;
};

}  // namespace

void check_image(const Image& image, const std::string& source,
                 const std::function<std::string(std::size_t tile)>& place) {
    ImageChecker(image, source, place).check();
}

}  // namespace switchyard
