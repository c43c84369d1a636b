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
                "expected {} batch_samples, as in the meta section, found {}", image_.meta.batch_samples,
                image_.chip.batch_samples);
        require(image_.meta.batches_in_flight > 0 && image_.meta.batch_samples % image_.meta.batches_in_flight == 0,
                "expected samples that divide into {} batches, found {}", image_.meta.batches_in_flight,
                image_.meta.batch_samples);
        for (std::size_t i = 0; i < image_.chip.segments.size(); ++i) {
            const SegmentInfo& segment = image_.chip.segments[i];
            for (const std::uint16_t tile : segment.tiles)
                require(tile < tiles, "segment {}: expected a tile below {}, found {}", i, tiles, tile);
            require(segment.units > 0 && segment.unit_samples > 0,
                    "segment {}: expected at least 1 micro-batch of at least 1 sample, found {} of {}", i,
                    segment.units, segment.unit_samples);
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
            require(one.branches >= 1 && one.branches <= kMaskBits, "switch {}: expected 1 to {} branches, found {}",
                    one.name, kMaskBits, one.branches);
            require(known.emplace(one.name, &one).second, "switch {}: expected one switch of this name, found two",
                    one.name);
        }
        for (const ImageMeta::Switch& one : image_.meta.switches) {
            if (one.parent.empty()) continue;
            const auto parent = known.find(one.parent);
            require(parent != known.end() && one.parent_branch < parent->second->branches,
                    "switch {}: expected a branch of a switch, found branch {} of {}", one.name, one.parent_branch,
                    one.parent);
        }
    }

    bool is_operator(std::uint16_t id) const { return id < image_.meta.operators.size(); }

    void check_tile(const TileProgram& program, std::size_t tile) {
        require(program.tile == tile, "expected the program of tile {}, found that of tile {}", tile, program.tile);
        for (const OperatorPlacement& placement : program.placements) check_placement(placement);
        for (const Edge& edge : program.edges) check_edge(program, edge);
        for (std::size_t i = 0; i < program.kernels.size(); ++i)
            require(covers(program.kernels[i]), "kernel {}: expected blocks that cover the totals, found smaller ones",
                    i);
        check_orders(program);
        std::uint16_t segment = 0;
        for (const TileOperator& op : program.operators) {
            require(op.segment >= segment,
                    "operator {}: expected operators in the order of segments, found segment {} after {}", op.op_id,
                    op.segment, segment);
            segment = op.segment;
            check_operator(program, op);
        }
    }

    void check_orders(const TileProgram& program) {
        int previous = -1;
        for (const SegmentOrder& order : program.orders) {
            require(order.segment < image_.chip.segments.size(),
                    "order of segment {}: expected a segment below {}, found {}", order.segment,
                    image_.chip.segments.size(), order.segment);
            require(order.segment > previous,
                    "order of segment {}: expected orders with rising segments, found {} before it", order.segment,
                    previous);
            previous = order.segment;
            require(orders_.agrees(order.segment, order),
                    "order of segment {}: expected the same order in all tiles, found one that differs", order.segment);
            require(order.samples == image_.meta.samples_of_batch(),
                    "order of segment {}: expected the {} samples of a batch, found {}", order.segment,
                    image_.meta.samples_of_batch(), order.samples);
            for (std::size_t i = 0; i < order.keys.size(); ++i) {
                const SegmentOrder::Key& key = order.keys[i];
                require(key.outer == kNone || (key.outer < i && key.outer_branch < kMaskBits),
                        "order of segment {}: key {}: expected a branch of a key before it, found branch {} of key {}",
                        order.segment, i, key.outer_branch, key.outer);
            }
        }
    }

    void check_placement(const OperatorPlacement& placement) {
        const std::uint16_t id = placement.op_id;
        require(is_operator(id), "operator {}: expected one of the image's {} operators, found {}", id,
                image_.meta.operators.size(), id);
        require(placements_.agrees(id, placement),
                "operator {}: expected the same placement in all tiles, found one that differs", id);
        require(placement.k_factor > 0 && placement.units > 0 && placement.unit_samples > 0,
                "operator {}: expected k_factor, units and unit_samples of at least 1, found {}, {} and {}", id,
                placement.k_factor, placement.units, placement.unit_samples);
        const OperatorShape& shape = placement.shape;
        require(shape.heads > 0 && shape.in_channels % shape.heads == 0 && shape.out_channels % shape.heads == 0,
                "operator {}: expected heads that divide {} and {} channels, found {}", id, shape.in_channels,
                shape.out_channels, shape.heads);
        for (const std::uint8_t bytes : {shape.operand_bytes, shape.element_bytes})
            require(bytes == kElementBytes || bytes == kWideElementBytes,
                    "operator {}: expected elements of {} or {} bytes, found {}", id, kElementBytes, kWideElementBytes,
                    bytes);
        require(shape.joined == 1 || shape.kind == OpKind::attention || shape.kind == OpKind::pool,
                "operator {}: expected an attention or a pool, which alone join samples, found one of kind {} that "
                "joins {}",
                id, static_cast<unsigned>(shape.kind), shape.joined);
        require(shape.joined > 0 && placement.unit_samples % shape.joined == 0,
                "operator {}: expected units of a multiple of the {} samples that it joins, found {}", id, shape.joined,
                placement.unit_samples);
        if (placement.in_memory()) return check_store(placement);
        require(placement.segment < image_.chip.segments.size(), "operator {}: expected a segment below {}, found {}",
                id, image_.chip.segments.size(), placement.segment);
        for (const std::uint16_t other : placement.tiles)
            require(other < image_.tiles.size(), "operator {}: expected a tile below {}, found {}", id,
                    image_.tiles.size(), other);
        check_allocations(placement);
        for (unsigned i = 0; i < std::max<std::size_t>(1, placement.allocations.size()); ++i)
            check_partitions(placement, placement.first_partition(i), placement.last_partition(i));
        require(placement.units % placement.units_of_invocation() == 0,
                "operator {}: expected a multiple of the {} units of an invocation, found {}", id,
                placement.units_of_invocation(), placement.units);
    }

    void check_partitions(const OperatorPlacement& placement, std::size_t first, std::size_t last) const {
        const std::uint16_t id = placement.op_id;
        std::uint16_t previous = 0;
        for (std::size_t i = first; i < last; ++i) {
            const Partition& part = placement.partitions[i];
            require(part.dyn_dim > previous, "operator {}: expected partitions with rising dyn_dim, found {} after {}",
                    id, part.dyn_dim, previous);
            previous = part.dyn_dim;
            const std::uint64_t ranks = std::uint64_t{part.n} * part.p * placement.k_factor;
            require(ranks > 0 && ranks <= placement.tiles.size(),
                    "operator {}: expected 1 to {} ranks, a tile each, found {}", id, placement.tiles.size(), ranks);
            require(
                keeps_groups(placement.shape, placement.unit_partition(i)),
                "operator {}: expected parts of whole groups of the {} samples that it joins, found {} parts over {}",
                id, placement.shape.joined, part.n, part.dyn_dim);
            require(
                part.dyn_dim <= placement.unit_samples || part.dyn_dim % placement.unit_samples == 0,
                "operator {}: expected kernels for at most a unit of {} samples, or for whole units, found one for {}",
                id, placement.unit_samples, part.dyn_dim);
        }
    }

    /// Allocations follow one another, each with a kernel for every size that it takes; the first takes all of them.
    void check_allocations(const OperatorPlacement& placement) const {
        const std::uint16_t id = placement.op_id;
        std::size_t first = 0;
        for (std::size_t i = 0; i < placement.allocations.size(); ++i) {
            const TileAllocation& one = placement.allocations[i];
            require(i == 0 ? one.first_partition == 0 : one.first_partition > first,
                    "operator {}: allocation {}: expected a first kernel {}, found {}", id, i,
                    i == 0 ? std::string("of 0") : fmt::format("above {}", first), one.first_partition);
            require(one.first_partition < placement.partitions.size(),
                    "operator {}: allocation {}: expected a first kernel below {}, found {}", id, i,
                    placement.partitions.size(), one.first_partition);
            first = one.first_partition;
            for (const std::vector<UnitCycles>* costs : {&one.own, &one.partner}) {
                std::uint16_t previous = 0;
                for (const UnitCycles& cost : *costs) {
                    require(cost.dyn_dim > previous,
                            "operator {}: allocation {}: expected costs with rising dyn_dim, found {} after {}", id, i,
                            cost.dyn_dim, previous);
                    previous = cost.dyn_dim;
                }
                require(i > 0 || previous >= placement.unit_samples,
                        "operator {}: allocation 0: expected costs for up to {} samples, found up to {}", id,
                        placement.unit_samples, previous);
            }
        }
        for (std::size_t i = 0; i < placement.allocations.size(); ++i) {
            const std::vector<UnitCycles>& own = placement.allocations[i].own;
            const Partition& largest = placement.partitions[placement.last_partition(static_cast<unsigned>(i)) - 1];
            require(own.empty() || own.back().dyn_dim <= largest.dyn_dim,
                    "operator {}: allocation {}: expected costs for at most the {} samples of its kernels, found {}",
                    id, i, largest.dyn_dim, own.empty() ? 0 : own.back().dyn_dim);
        }
    }

    void check_store(const OperatorPlacement& tensor) const {
        const std::uint16_t id = tensor.op_id;
        require(tensor.partitions.size() == 1 && tensor.k_factor == 1 && tensor.allocations.empty(),
                "tensor {}: expected 1 partition, k_factor 1 and no allocations, found {}, {} and {}", id,
                tensor.partitions.size(), tensor.k_factor, tensor.allocations.size());
        const Partition& cut = tensor.partitions.front();
        require(cut.n > 0 && cut.p > 0 && cut.dyn_dim == tensor.unit_samples,
                "tensor {}: expected pieces for {} samples, found {} x {} for {}", id, tensor.unit_samples, cut.n,
                cut.p, cut.dyn_dim);
        require(tensor.unit_samples == image_.chip.batch_samples,
                "tensor {}: expected the {} samples of a batch, found {}", id, image_.chip.batch_samples,
                tensor.unit_samples);
        const TensorStore& store = tensor.store;
        require(store.interfaces > 0 && store.first_interface < store.interfaces,
                "tensor {}: expected a first memory interface below {}, found {}", id, store.interfaces,
                store.first_interface);
        require(store.index_list_bytes == 0 || store.index_list_samples > 0,
                "tensor {}: expected index lists of at least 1 sample, found 0", id);
    }

    void check_edge(const TileProgram& program, const Edge& edge) {
        const auto known = [this](std::uint16_t op) { return op == kNone || is_operator(op); };
        require(edges_.agrees(edge.id, edge), "edge {}: expected the same edge in all tiles, found one that differs",
                edge.id);
        for (const std::uint16_t op : {edge.src_op, edge.dst_op})
            require(known(op), "edge {}: expected an operator below {}, found {}", edge.id,
                    image_.meta.operators.size(), op);
        const OperatorPlacement* source = find_placement(program, edge.src_op);
        require(!source || carries_decisions(edge.path) ||
                    std::uint32_t{edge.first_channel} + edge.channels <= source->shape.out_channels,
                "edge {}: expected channels of the source's {}, found {} to {}", edge.id,
                source ? source->shape.out_channels : 0, edge.first_channel, edge.first_channel + edge.channels - 1);
        require(!source || carries_decisions(edge.path) || edge.element_bytes == source->shape.element_bytes,
                "edge {}: expected elements of {} bytes, as the source has, found {}", edge.id,
                source ? source->shape.element_bytes : 0, edge.element_bytes);
        if (edge.switch_id == kNone) return;
        const SegmentOrder* const order = source && !source->in_memory() ? program.order(source->segment) : nullptr;
        require(!source || edge.path != EdgePath::on_chip || !source->invoked_by_batch() || (order && order->packs()),
                "edge {}: expected switch {} to be passed in memory, as kernels are invoked once a batch, whose "
                "samples are not known when the first arrive, found it on the chip",
                edge.id, edge.switch_id);
        require(edge.switch_id < image_.meta.switches.size(), "edge {}: expected a switch below {}, found {}", edge.id,
                image_.meta.switches.size(), edge.switch_id);
        require(edge.partner == kNone ||
                    (edge.partner < image_.meta.switches[edge.switch_id].branches && edge.partner != edge.branch),
                "edge {}: expected another branch that shares tiles with branch {}, found branch {}", edge.id,
                edge.branch, edge.partner);
    }

    void check_operator(const TileProgram& program, const TileOperator& op) const {
        const OperatorPlacement* placement = find_placement(program, op.op_id);
        require(placement, "operator {}: expected a placement, found none", op.op_id);
        require(op.segment == placement->segment, "operator {}: expected segment {} of its placement, found {}",
                op.op_id, placement->segment, op.segment);
        require(op.rank < placement->tiles.size() && placement->tiles[op.rank] == program.tile,
                "operator {}: expected a rank that is on this tile, found {}", op.op_id, op.rank);
        const auto& takes_part = image_.chip.segments[op.segment].tiles;
        require(std::find(takes_part.begin(), takes_part.end(), program.tile) != takes_part.end(),
                "operator {}: expected a segment of the tile, found {}", op.op_id, op.segment);
        require(op.gate_switch == kNone || op.gate_switch < image_.meta.switches.size(),
                "operator {}: expected the gate of a switch below {}, found that of {}", op.op_id,
                image_.meta.switches.size(), op.gate_switch);
        const bool keeps_logits = std::count(op.epilogue.begin(), op.epilogue.end(), EpilogueStep::gate) != 0;
        require(keeps_logits == (op.gate_switch != kNone), "operator {}: expected {}, found {}", op.op_id,
                keeps_logits ? "a gate, as it keeps logits" : "a gate that keeps logits",
                keeps_logits ? "no switch" : "one that does not");
        check_steps(op, *placement);
        check_kernels(program, op, *placement);
        for (const std::uint16_t id : op.in_edges) {
            const Edge* edge = find_edge(program, id);
            require(edge && edge->dst_op == op.op_id, "operator {}: expected an edge that ends here, found edge {}",
                    op.op_id, id);
        }
        for (const std::uint16_t id : op.out_edges) {
            const Edge* edge = find_edge(program, id);
            require(edge && edge->src_op == op.op_id, "operator {}: expected an edge that begins here, found edge {}",
                    op.op_id, id);
        }
    }

    /// Steps that need more than the value that they change.
    void check_steps(const TileOperator& op, const OperatorPlacement& placement) const {
        const auto across = std::count_if(op.epilogue.begin(), op.epilogue.end(), is_across_channels);
        require(across <= 1, "operator {}: expected at most 1 step across channels, found {}", op.op_id, across);
        require(across == 0 || placement.k_factor == 1,
                "operator {}: expected 1 slice for a step across channels, found {}", op.op_id, placement.k_factor);
        require((op.gate_switch == kNone && across == 0) || op.kept_offset < op.out_slot_bytes,
                "operator {}: expected kept values within the {} bytes of an output slot, found them at offset {}",
                op.op_id, op.out_slot_bytes, op.kept_offset);
        const auto has = [&op](EpilogueStep step) {
            return std::count(op.epilogue.begin(), op.epilogue.end(), step) != 0;
        };
        require(has(EpilogueStep::position)
                    ? op.position_tokens > 0 && op.position_tokens % placement.shape.out_rows == 0
                    : op.position_tokens == 0,
                "operator {}: expected positions of {}, found {} tokens", op.op_id,
                has(EpilogueStep::position) ? fmt::format("a multiple of {} rows", placement.shape.out_rows)
                                            : std::string("no tokens"),
                op.position_tokens);
        require((op.gate_rule == GateRule::patience) == (op.gate_patience > 0),
                "operator {}: expected a patience of {} for its rule, found {}", op.op_id,
                op.gate_rule == GateRule::patience ? "at least 1" : "0", op.gate_patience);
        require(op.previous_switch == kNone ||
                    (op.gate_rule == GateRule::patience && op.previous_switch < image_.meta.switches.size()),
                "operator {}: expected labels for a gate with patience, of a switch below {}, found those of switch {}",
                op.op_id, image_.meta.switches.size(), op.previous_switch);
    }

    void check_kernels(const TileProgram& program, const TileOperator& op, const OperatorPlacement& placement) const {
        require(std::size_t{op.kernel_first} + op.kernel_count <= program.kernels.size(),
                "operator {}: expected kernels of the store's {}, found [{}, {})", op.op_id, program.kernels.size(),
                op.kernel_first, op.kernel_first + op.kernel_count);
        require(op.kernel_count == placement.partitions.size(),
                "operator {}: expected {} kernels, one a partition, found {}", op.op_id, placement.partitions.size(),
                op.kernel_count);
        for (std::size_t i = 0; i < op.kernel_count; ++i) {
            const Kernel& kernel = program.kernels[op.kernel_first + i];
            require(
                kernel.op_id == op.op_id && kernel.dyn_dim() == placement.partitions[i].dyn_dim,
                "operator {}: kernel {}: expected one of this operator for {} samples, found one of operator {} for {}",
                op.op_id, op.kernel_first + i, placement.partitions[i].dyn_dim, kernel.op_id, kernel.dyn_dim());
            require(kernel.unit_samples() == placement.unit_partition(i).dyn_dim,
                    "operator {}: kernel {}: expected units of {} samples, found {}", op.op_id, op.kernel_first + i,
                    placement.unit_partition(i).dyn_dim, kernel.unit_samples());
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
