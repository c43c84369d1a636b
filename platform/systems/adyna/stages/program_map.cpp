// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/adyna/stages/program_map.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::platform {

ProgramMap::ProgramMap(const std::vector<const TileProgram*>& programs) {
    collect(programs);
    derive_sets();
}

void ProgramMap::collect(const std::vector<const TileProgram*>& programs) {
    for (const TileProgram* program : programs) {
        for (const OperatorPlacement& placement : program->placements) placements_.emplace(placement.op_id, &placement);
        for (const Edge& edge : program->edges) {
            if (edges_.size() <= edge.id) edges_.resize(edge.id + std::size_t{1});
            if (edges_[edge.id].edge == nullptr) edges_[edge.id].edge = &edge;
        }
    }
    for (const TileProgram* program : programs) {
        for (const TileOperator& op : program->operators) {
            if (op.rank != 0) continue;
            Stage stage;
            stage.placement = &program->placement(op.op_id);
            stage.share = &op;
            stage.program = program;
            for (const std::uint16_t id : op.in_edges) {
                const EdgePath path = program->edge(id).path;
                if (path == EdgePath::weights) stage.weights.push_back(id);
                if (path == EdgePath::on_chip || path == EdgePath::memory) stage.inputs.push_back(id);
            }
            stage.outputs = op.out_edges;
            stages_.push_back(std::move(stage));
        }
    }
    std::sort(stages_.begin(), stages_.end(),
              [](const Stage& a, const Stage& b) { return a.placement->op_id < b.placement->op_id; });
    for (std::size_t i = 0; i < stages_.size(); ++i) {
        const Stage& stage = stages_[i];
        stage_of_[stage.placement->op_id] = static_cast<int>(i);
        if (segments_.size() <= stage.segment()) segments_.resize(stage.segment() + std::size_t{1});
        segments_[stage.segment()].push_back(static_cast<unsigned>(i));
    }
    const auto find = [this](std::uint16_t op_id, std::uint16_t edge, const OperatorPlacement*& placement, int& stage) {
        const auto known = placements_.find(op_id);
        if (known == placements_.end())
            throw InputError(fmt::format(
                "edge {}: expected an operator of a tile at its ends, found operator {} of none", edge, op_id));
        placement = known->second;
        const auto on_chip = stage_of_.find(op_id);
        if (on_chip != stage_of_.end()) stage = on_chip->second;
        if (stage < 0 && !placement->in_memory())
            throw InputError(fmt::format("operator {}: expected a tile of rank 0, found none", op_id));
    };
    for (EdgeEnds& ends : edges_) {
        if (ends.edge == nullptr) continue;
        find(ends.edge->dst_op, ends.edge->id, ends.destination, ends.destination_stage);
        if (ends.edge->path != EdgePath::weights)
            find(ends.edge->src_op, ends.edge->id, ends.source, ends.source_stage);
    }
}

SetId ProgramMap::inside(SetId outer, std::uint16_t switch_id, std::uint16_t branch) {
    for (SetId id = 1; id < sets_.size(); ++id) {
        if (sets_[id].outer == outer && sets_[id].switch_id == switch_id && sets_[id].branch == branch) return id;
    }
    sets_.push_back({outer, switch_id, branch, 0});
    return static_cast<SetId>(sets_.size() - 1);
}

/// From the model's inputs, which every sample reaches, along the edges: a switch leads into a set, a merge out of as
/// many as it closes.
void ProgramMap::derive_sets() {
    std::map<std::uint16_t, SetId> at;  // operators and tensors whose set is known
    std::vector<std::uint16_t> ready, inputs_missing(0x10000, 0);
    std::map<std::uint16_t, std::vector<std::uint16_t>> outgoing;
    for (const EdgeEnds& ends : edges_) {
        if (ends.edge == nullptr || ends.source == nullptr || carries_decisions(ends.edge->path)) continue;
        outgoing[ends.edge->src_op].push_back(ends.edge->id);
        ++inputs_missing[ends.edge->dst_op];
    }
    for (const auto& [op_id, placement] : placements_) {
        if (inputs_missing[op_id] > 0) continue;
        at[op_id] = 0;
        ready.push_back(op_id);
    }
    while (!ready.empty()) {
        const std::uint16_t op_id = ready.back();
        ready.pop_back();
        for (const std::uint16_t id : outgoing[op_id]) {
            EdgeEnds& ends = edges_[id];
            ends.source_samples = ends.samples = at.at(op_id);
            if (ends.edge->switch_id != kNone)
                ends.samples = inside(ends.source_samples, ends.edge->switch_id, ends.edge->branch);
            if (ends.edge->switch_id != kNone && ends.edge->partner != kNone) {
                const SetId partner = inside(ends.source_samples, ends.edge->switch_id, ends.edge->partner);
                sets_[ends.samples].partner = partner;
            }
            ends.destination_samples = ends.samples;
            for (unsigned level = 0; level < ends.edge->pops; ++level)
                ends.destination_samples = sets_[ends.destination_samples].outer;
            const auto [known, added] = at.emplace(ends.edge->dst_op, ends.destination_samples);
            if (!added && known->second != ends.destination_samples)
                throw InputError(
                    fmt::format("operator {}: expected inputs with the samples of one set, found sets {} and {}",
                                ends.edge->dst_op, known->second, ends.destination_samples));
            if (--inputs_missing[ends.edge->dst_op] == 0) ready.push_back(ends.edge->dst_op);
        }
    }
    for (Stage& stage : stages_) {
        const auto known = at.find(stage.placement->op_id);
        if (known == at.end())
            throw InputError(fmt::format("operator {}: expected inputs that do not depend on its result, found a cycle",
                                         stage.placement->op_id));
        stage.samples = known->second;
    }
    for (EdgeEnds& ends : edges_) {  // decisions are made for the gate's samples
        if (ends.edge != nullptr && carries_decisions(ends.edge->path) && ends.source_stage >= 0)
            ends.source_samples = stages_[static_cast<std::size_t>(ends.source_stage)].samples;
    }
}

SampleCounts::SampleCounts(const ProgramMap& map, std::uint32_t samples)
    : map_(map), samples_(samples), before_(map.sets().size()) {}

void SampleCounts::begin_batch() {
    masks_.clear();
    begin_segment({});
}

void SampleCounts::set_masks(std::uint16_t switch_id, std::vector<std::uint64_t> masks) {
    masks_[switch_id] = std::move(masks);
}

void SampleCounts::begin_segment(std::vector<std::uint32_t> order) {
    order_ = std::move(order);
    packs_ = false;
    for (std::vector<std::uint32_t>& members : before_) members.clear();
}

const std::vector<std::uint32_t>& SampleCounts::before(SetId id) const {
    std::vector<std::uint32_t>& members = before_[id];
    if (!members.empty()) return members;
    std::vector<std::uint32_t> counted(samples_ + std::size_t{1});
    if (id == 0) {
        std::iota(counted.begin(), counted.end(), 0);
    } else {
        const ProgramMap::Set& set = map_.sets()[id];
        const auto masks = masks_.find(set.switch_id);
        if (masks == masks_.end())
            throw std::logic_error(fmt::format("set {} is counted before its masks are known", id));
        const std::vector<std::uint32_t>& outer = before(set.outer);
        for (std::uint32_t at = 0; at < samples_; ++at) {
            const bool reaches = outer[at + 1] != outer[at];
            const std::uint32_t sample = order_.empty() ? at : order_[at];
            counted[at + 1] = counted[at] + (reaches && (masks->second[sample] >> set.branch & 1U) != 0 ? 1 : 0);
        }
    }
    return members = std::move(counted);
}

std::uint32_t SampleCounts::count(SetId set, std::uint32_t first, std::uint32_t last) const {
    const std::vector<std::uint32_t>& members = before(set);
    return members[std::min(last, samples_)] - members[std::min(first, samples_)];
}

Positions SampleCounts::ends(SetId set, const Positions& at) const {
    const std::vector<std::uint32_t>& members = before(set);
    const auto first = members.begin() + at.first, last = members.begin() + std::min(at.last, samples_);
    const auto position = [&](std::uint32_t count) {  // of the member that `count` others precede
        return static_cast<std::uint32_t>(std::upper_bound(first, last, count) - members.begin()) - 1;
    };
    return {position(*first), position(*last - 1)};
}

Positions SampleCounts::ids(SetId set, const Positions& at, std::uint32_t block) const {
    const std::vector<std::uint32_t>& members = before(set);
    std::vector<std::uint32_t> ids;
    for (std::uint32_t position = at.first; position < std::min(at.last, samples_); ++position)
        if (members[position + 1] != members[position]) ids.push_back(order_.empty() ? position : order_[position]);
    if (ids.empty()) return {};
    if (!order_.empty()) std::sort(ids.begin(), ids.end());
    std::uint32_t without = 0;
    for (std::size_t i = 1; i < ids.size(); ++i) {
        const std::uint32_t apart = ids[i] / block - ids[i - 1] / block;
        without += apart > 1 ? apart - 1 : 0;
    }
    return {ids.front(), ids.back() + 1 - without * block};
}

Positions SampleCounts::packed_positions(SetId set, const OperatorPlacement& placement, unsigned unit) const {
    const unsigned units = placement.units_of_invocation();
    const std::uint32_t samples = units * placement.unit_samples, batch = unit / units * samples;
    const std::vector<std::uint32_t>& members = before(set);
    const auto begin = members.begin() + std::min(batch, samples_),
               end = members.begin() + std::min(batch + samples, samples_);
    // The position of the batch's member number `n`; the batch's end if it has no more than n.
    const auto of_member = [&](std::uint32_t n) {
        const auto found = std::upper_bound(begin, end, *begin + n);
        return static_cast<std::uint32_t>(found - members.begin()) - (found == end && *end <= *begin + n ? 0 : 1);
    };
    const std::uint32_t first = unit % units * placement.unit_samples;
    return {of_member(first), of_member(first + placement.unit_samples)};
}

unsigned SampleCounts::allocation(SetId set, const OperatorPlacement& placement, unsigned unit) const {
    if (placement.allocations.empty()) return 0;
    const SetId partner = map_.sets()[set].partner;
    if (placement.invoked_by_batch())
        return placement.allocation_for(of_batch(set, placement, unit),
                                        partner == 0 ? 0 : of_batch(partner, placement, unit));
    return placement.allocation_for(count(set, placement, unit), partner == 0 ? 0 : count(partner, placement, unit));
}

}  // namespace switchyard::platform
