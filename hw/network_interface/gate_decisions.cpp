// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/network_interface/gate_decisions.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "switchyard/hw/numerics/fp16.h"
#include "switchyard/sw_scheduler/adyna/rules/segments.h"

namespace switchyard::hw {

namespace {

/// The first of the largest.
std::uint16_t largest_of(const float* logits, std::uint32_t count) {
    std::uint32_t best = 0;
    for (std::uint32_t i = 1; i < count; ++i) {
        if (logits[i] > logits[best]) best = i;
    }
    return static_cast<std::uint16_t>(best);
}

}  // namespace

void GateDecisions::clear() {
    close_segment();
    labels_.clear();
}

void GateDecisions::close_segment() {
    switches_.clear();
    batch_lists_.clear();
    recorded_masks_.clear();
}

void GateDecisions::take_masks(const AdynaMessage& message) {
    Masks& unit = switches_[{message.edge, message.unit}];
    for (std::size_t i = 0; i < message.mask_samples->size(); ++i)
        unit[(*message.mask_samples)[i]] = (*message.masks)[i];
}

void GateDecisions::take_labels(const AdynaMessage& message) {
    for (auto it = labels_.begin(); it != labels_.end();)  // of samples that have left since
        it = it->first.second + 1 < message.batch ? labels_.erase(it) : std::next(it);
    auto& known = labels_[{message.edge, message.batch}];
    for (std::size_t i = 0; i < message.mask_samples->size(); ++i)
        known[(*message.mask_samples)[i]] = (*message.labels)[i];
}

void GateDecisions::take_recorded(std::uint16_t operator_index, std::uint32_t first_sample,
                                  const std::vector<std::uint8_t>& masks) {
    const auto count = static_cast<std::uint32_t>(masks.size() / sizeof(std::uint64_t));
    for (std::uint32_t i = 0; i < count; ++i) {
        std::memcpy(&recorded_masks_[operator_index][first_sample + i], masks.data() + i * sizeof(std::uint64_t),
                    sizeof(std::uint64_t));
    }
}

const BranchLists* GateDecisions::branch_lists(Output& output, std::uint16_t switch_id) {
    const auto known = output.branches.find(switch_id);
    if (known != output.branches.end()) return &known->second;
    const SampleSet& samples = output.index_list->samples;
    const auto found = switches_.find({switch_id, output.unit});
    // Masks come in many messages, and each message asks again: mostly some are still missing.
    if (found != switches_.end() && found->second.size() < samples.size()) return nullptr;
    std::vector<std::uint64_t> masks;
    for (const std::uint32_t id : samples.ids()) {
        if (found == switches_.end()) return nullptr;
        const auto mask = found->second.find(id);
        if (mask == found->second.end()) return nullptr;
        masks.push_back(mask->second);
        routing_.check_mask(mask->second);
    }
    return &(output.branches[switch_id] = routing_.split(samples, masks));
}

const BranchLists* GateDecisions::batch_lists(std::uint16_t switch_id, unsigned first_unit, const SampleSet& samples) {
    const auto known = batch_lists_.find({switch_id, first_unit});
    if (known != batch_lists_.end()) return &known->second;
    Masks all;
    for (auto unit = switches_.lower_bound({switch_id, static_cast<std::uint16_t>(first_unit)});
         unit != switches_.end() && unit->first.first == switch_id; ++unit)
        all.insert(unit->second.begin(), unit->second.end());
    std::vector<std::uint64_t> masks;
    for (const std::uint32_t id : samples.ids()) {
        const auto mask = all.find(id);
        if (mask == all.end()) return nullptr;
        masks.push_back(mask->second);
        routing_.check_mask(mask->second);
    }
    return &(batch_lists_[{switch_id, first_unit}] = routing_.split(samples, masks));
}

void GateDecisions::count_branches(Output& output, const Edge& edge) {
    if (output.counted) return;
    const SampleSet& samples = output.index_list->samples;
    const OperatorPlacement& placement = ports_.program().placement(edge.src_op);
    output.counted = true;
    const TileOperator& op = ports_.program().operators[output.operator_index];
    const int index = placement.best_fit(*output.index_list);
    const Box box = output_box(placement.shape, placement.unit_partition(static_cast<std::size_t>(index)),
                               placement.k_factor, op.rank, static_cast<std::uint32_t>(samples.size()));
    for (std::uint32_t n = box.n0; n < box.n1 && box.k0 == 0 && box.p0 == 0; ++n) {
        const std::uint64_t mask = switches_.at({edge.switch_id, output.unit}).at(samples[n]);
        for (unsigned branch = 0; branch < 64; ++branch) {
            if (!(mask >> branch & 1U)) continue;
            const auto [entry, added] = branch_samples_.try_emplace({edge.switch_id, branch}, 0);
            ++entry->second;
            if (added) registry_.add(ports_.module(), branch_samples(edge.switch_id, branch), "1", entry->second);
        }
    }
}

Box GateDecisions::decided_box(const Output& output) const {
    const TileOperator& op = ports_.program().operators[output.operator_index];
    const OperatorPlacement& gate = ports_.program().placement(op.op_id);
    const auto size = static_cast<std::uint32_t>(output.index_list->samples.size());
    const int index = gate.best_fit(*output.index_list);
    if (index < 0)
        ports_.fail(
            fmt::format("operator {}: expected a kernel of the gate for dyn_dim {}, found none", op.op_id, size));
    const Box box =
        output_box(gate.shape, gate.unit_partition(static_cast<std::size_t>(index)), gate.k_factor, op.rank, size);
    return box.k0 == 0 && box.p0 == 0 ? box : Box{};
}

bool GateDecisions::labels_known(const Output& output) const {
    const TileOperator& op = ports_.program().operators[output.operator_index];
    if (op.previous_switch == kNone) return true;
    const auto known = labels_.find({op.previous_switch, output.batch});
    const std::vector<std::uint32_t>& ids = output.index_list->samples.ids();
    if (known == labels_.end()) return ids.empty();
    return std::all_of(ids.begin(), ids.end(), [&known](std::uint32_t id) { return known->second.count(id) != 0; });
}

GateDecisions::Decisions GateDecisions::decide(const Output& output, const Box& box,
                                               const std::vector<std::uint32_t>& ids) {
    return ports_.config().values ? computed(output, box, ids) : recorded(output, ids);
}

GateDecisions::Decisions GateDecisions::recorded(const Output& output, const std::vector<std::uint32_t>& ids) const {
    Decisions decisions;
    const auto recorded = recorded_masks_.find(output.operator_index);
    for (const std::uint32_t id : ids) {
        const bool known = recorded != recorded_masks_.end() && recorded->second.count(id) != 0;
        if (!known)
            ports_.fail(fmt::format("operator {}: expected a recorded mask of sample {} at the gate's end, found none",
                                    ports_.program().operators[output.operator_index].op_id, id));
        decisions.masks.push_back(recorded->second.at(id));
    }
    decisions.labels.resize(ids.size());  // nobody compares them
    return decisions;
}

GateDecisions::Decisions GateDecisions::computed(const Output& output, const Box& box,
                                                 const std::vector<std::uint32_t>& ids) {
    const TileOperator& op = ports_.program().operators[output.operator_index];
    const std::uint64_t slot = rules::output_slot(op, output.unit);
    const std::uint32_t outputs = box.k1 - box.k0;
    const bool logit_a_branch = op.gate_rule == GateRule::each || op.gate_rule == GateRule::largest;
    if (logit_a_branch && outputs != op.gate_branches) {
        ports_.fail(fmt::format("gate of switch {}: expected {} outputs on this tile, one a branch, found {}",
                                op.gate_switch, op.gate_branches, outputs));
    }
    std::vector<float> logits(std::size_t{outputs} * ids.size());
    ports_.access_scratchpad(::tlm::TLM_READ_COMMAND, slot + op.kept_offset,
                             reinterpret_cast<std::uint8_t*>(logits.data()), sizeof(float) * logits.size());
    const float threshold = numerics::to_float(op.gate_threshold);
    Decisions decisions;
    for (std::size_t n = 0; n < ids.size(); ++n) {
        const float* const own = &logits[n * outputs];
        std::uint64_t mask = 0;
        switch (op.gate_rule) {
            case GateRule::threshold:
                mask = own[0] > threshold ? 2 : 1;
                break;
            case GateRule::each:
                for (unsigned branch = 0; branch < op.gate_branches; ++branch) {
                    if (own[branch] > threshold) mask |= std::uint64_t{1} << branch;
                }
                break;
            case GateRule::largest:
                mask = std::uint64_t{1} << largest_of(own, outputs);
                break;
            case GateRule::patience: {
                SampleLabel label{largest_of(own, outputs), 0};
                if (op.previous_switch != kNone) {
                    const SampleLabel before = labels_.at({op.previous_switch, output.batch}).at(ids[n]);
                    if (before.label == label.label) label.agreed = static_cast<std::uint16_t>(before.agreed + 1);
                }
                mask = label.agreed >= op.gate_patience ? 2 : 1;
                decisions.labels.push_back(label);
                break;
            }
        }
        decisions.masks.push_back(mask);
    }
    return decisions;
}

}  // namespace switchyard::hw
