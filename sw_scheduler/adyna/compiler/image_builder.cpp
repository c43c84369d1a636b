// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/compiler/image_builder.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "switchyard/sw_scheduler/adyna/compiler/edge_builder.h"
#include "switchyard/sw_scheduler/workload/gate_decision.h"

namespace switchyard::sched {

namespace {

ImageMeta meta_of(const Schedule& schedule, const Workload& workload, const EdgeBuilder& edges) {
    const DynGraph& graph = workload.graph;
    ImageMeta meta;
    meta.model = graph.name;
    meta.batch_samples = graph.samples_in_flight();
    meta.batches_in_flight = graph.batches_in_flight;
    meta.samples_per_input = graph.samples_per_input;
    for (const PlacedOperator& placed : schedule.operators) {
        const Operator& one = graph.operators[placed.op];
        ImageMeta::Operator entry;
        entry.name = one.name;
        entry.kind = to_string(one.shape.kind);
        entry.macs_per_sample = one.macs_per_sample;
        entry.dynamic = one.dynamic();
        entry.segment = placed.segment;
        entry.parameters = one.parameters;
        entry.weight_scale = one.weight_scale;
        entry.group = one.inputs.front().group;
        entry.groups = one.inputs.front().groups;
        entry.norm_parameters = one.norm_parameters;
        entry.position_parameters = one.position_parameters;
        entry.expert = one.expert;
        entry.heads = one.parameter_heads;
        if (one.dynamic()) entry.switch_name = graph.switches[one.path.back().switch_id].name;
        meta.operators.push_back(std::move(entry));
    }
    for (const StoredTensor& tensor : edges.tensors()) {
        ImageMeta::Operator entry;
        entry.name = tensor.name;
        entry.kind = "tensor";
        entry.segment = kNone;
        meta.operators.push_back(std::move(entry));
    }
    for (std::size_t s = 0; s < graph.switches.size(); ++s) {
        const Switch& one = graph.switches[s];
        ImageMeta::Switch entry;
        entry.name = one.name;
        entry.branches = static_cast<std::uint16_t>(one.branches);
        if (!one.path.empty()) {
            entry.parent = graph.switches[one.path.back().switch_id].name;
            entry.parent_branch = static_cast<std::uint16_t>(one.path.back().branch);
        }
        entry.mask_address = edges.masks[s].address;
        entry.bank_stride = edges.masks[s].bank_stride;
        entry.exclusive = one.exclusive;
        meta.switches.push_back(std::move(entry));
    }
    meta.tensors = edges.host_tensors;
    return meta;
}

std::uint32_t bits_of(float value) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

class TileProgramBuilder {
public:
    TileProgramBuilder(const Schedule& schedule, const Workload& workload, const EdgeBuilder& edges, bool packs)
        : schedule_(schedule), workload_(workload), edges_(edges), packs_(packs) {
        in_.resize(schedule.operators.size());
        out_.resize(schedule.operators.size());
        for (const Edge& edge : edges.edges) {
            if (edge.dst_op < in_.size()) in_[edge.dst_op].push_back(edge.id);
            if (edge.src_op < out_.size()) out_[edge.src_op].push_back(edge.id);
        }
    }

    void add(TileProgram& program, const PlacedOperator& placed, std::uint16_t rank) {
        TileOperator op;
        op.op_id = placed.placement.op_id;
        op.segment = placed.segment;
        op.rank = rank;
        op.kernel_first = static_cast<std::uint16_t>(program.kernels.size());
        op.kernel_count = static_cast<std::uint16_t>(placed.kernels.size());
        program.kernels.insert(program.kernels.end(), placed.kernels.begin(), placed.kernels.end());
        op.out_slots = placed.slots.out;
        op.out_offset = edges_.regions()[placed.op].output;
        op.out_slot_bytes = placed.footprint.out_slot_bytes;
        const Operator& one = workload_.graph.operators[placed.op];
        op.epilogue = one.fused;
        op.pool = one.pool;
        op.position_tokens = one.position_tokens;
        if (one.across_channels() || one.gate_switch != kNoSwitch) op.kept_offset = op.out_slot_bytes / kKeptSlotParts;
        const int gated = one.gate_switch;
        if (gated != kNoSwitch) {
            const Switch& gateway = workload_.graph.switches[gated];
            const GateDecision decision = gate_decision(one, gateway);
            op.gate_rule = decision.rule;
            op.gate_threshold = bits_of(decision.threshold);
            op.gate_patience = static_cast<std::uint16_t>(gateway.patience);
            if (gateway.previous != kNoSwitch) op.previous_switch = static_cast<std::uint16_t>(gateway.previous);
            op.epilogue.insert(op.epilogue.begin() + static_cast<std::ptrdiff_t>(decision.step), EpilogueStep::gate);
            op.gate_switch = static_cast<std::uint16_t>(gated);
            op.gate_branches = static_cast<std::uint16_t>(workload_.graph.switches[gated].branches);
            op.mask_address = edges_.masks[gated].address;
            op.mask_bank_stride = edges_.masks[gated].bank_stride;
        }
        op.in_edges = in_[placed.op];
        op.out_edges = out_[placed.op];
        program.operators.push_back(std::move(op));
    }

    /// Orders of the segments in which the program has operators.
    void add_orders(TileProgram& program) const {
        std::set<std::uint16_t> segments;
        for (const TileOperator& op : program.operators) segments.insert(op.segment);
        for (const std::uint16_t segment : segments) {
            const std::vector<int>& switches = schedule_.segments[segment].order;
            if (switches.empty() && !packs_) continue;
            SegmentOrder order;
            order.segment = segment;
            order.samples = workload_.graph.batch_samples();
            for (const int id : switches) {
                const BranchPath& path = workload_.graph.switches[id].path;
                SegmentOrder::Key key;
                key.mask_address = edges_.masks[id].address;
                key.mask_bank_stride = edges_.masks[id].bank_stride;
                if (!path.empty()) {
                    const auto outer = std::find(switches.begin(), switches.end(), path.back().switch_id);
                    key.outer = static_cast<std::uint16_t>(outer - switches.begin());
                    key.outer_branch = static_cast<std::uint16_t>(path.back().branch);
                }
                order.keys.push_back(key);
            }
            program.orders.push_back(std::move(order));
        }
    }

    /// Edges that begin or end at the program's operators, and the placements at both of their ends.
    void add_neighbours(TileProgram& program) const {
        std::set<std::uint16_t> edges, operators;
        for (const TileOperator& op : program.operators) {
            edges.insert(op.in_edges.begin(), op.in_edges.end());
            edges.insert(op.out_edges.begin(), op.out_edges.end());
            operators.insert(op.op_id);
        }
        for (const std::uint16_t id : edges) {
            const Edge& edge = edges_.edges[id];
            program.edges.push_back(edge);
            for (const std::uint16_t end : {edge.src_op, edge.dst_op}) {
                if (end != kNone) operators.insert(end);
            }
        }
        for (const std::uint16_t id : operators) {
            program.placements.push_back(id < schedule_.operators.size()
                                             ? schedule_.operators[id].placement
                                             : edges_.tensors()[id - schedule_.operators.size()].placement);
        }
    }

private:
    const Schedule& schedule_;
    const Workload& workload_;
    const EdgeBuilder& edges_;
    bool packs_;                                        ///< SegmentOrder::packs
    std::vector<std::vector<std::uint16_t>> in_, out_;  ///< edge ids, by operator
};

}  // namespace

Image build_image(const Schedule& schedule, const Workload& workload, const HardwareDescription& hardware,
                  const Design& design) {
    const EdgeBuilder edges(schedule, workload, hardware);
    Image image;
    image.platform_fingerprint = hardware.fingerprint();
    image.meta = meta_of(schedule, workload, edges);
    image.meta.design = design.name();
    image.meta.platform = hardware.name;

    image.chip.batch_samples = workload.graph.samples_in_flight();
    for (const SegmentPlan& segment : schedule.segments) {
        SegmentInfo info;
        info.units = segment.units;
        info.unit_samples = segment.unit_samples;
        for (int op = segment.first; op < segment.last; ++op) {
            const auto& tiles = schedule.operators[op].placement.tiles;
            info.tiles.insert(info.tiles.end(), tiles.begin(), tiles.end());
        }
        std::sort(info.tiles.begin(), info.tiles.end());
        info.tiles.erase(std::unique(info.tiles.begin(), info.tiles.end()), info.tiles.end());
        image.chip.segments.push_back(std::move(info));
    }

    image.tiles.resize(hardware.tiles());
    for (std::size_t tile = 0; tile < image.tiles.size(); ++tile)
        image.tiles[tile].tile = static_cast<std::uint16_t>(tile);
    TileProgramBuilder programs(schedule, workload, edges, design.has(Mechanism::packing));
    for (const PlacedOperator& placed : schedule.operators) {
        for (std::size_t rank = 0; rank < placed.placement.tiles.size(); ++rank) {
            programs.add(image.tiles[placed.placement.tiles[rank]], placed, static_cast<std::uint16_t>(rank));
        }
    }
    for (TileProgram& program : image.tiles) {
        programs.add_orders(program);
        programs.add_neighbours(program);
    }
    return image;
}

}  // namespace switchyard::sched
