// SPDX-License-Identifier: Apache-2.0
// What a gate's tiles decide for their samples, and whom they tell: routing masks for the switch, labels for the next
// gate of a chain with patience.

#include <algorithm>
#include <cstring>

#include "switchyard/hw/network_interface/network_interface.h"
#include "switchyard/hw/numerics/fp16.h"

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

Box NetworkInterface::decided_box(const Output& output) const {
    const TileOperator& op = program_->operators[output.operator_index];
    const OperatorPlacement& gate = program_->placement(op.op_id);
    const auto size = static_cast<std::uint32_t>(output.index_list->samples.size());
    const int index = gate.best_fit(gate.allocation_for(*output.index_list), size);
    if (index < 0) fail("gate has no kernel for dyn_dim " + std::to_string(size));
    const Box box =
        output_box(gate.shape, gate.partitions[static_cast<std::size_t>(index)], gate.k_factor, op.rank, size);
    return box.k0 == 0 && box.p0 == 0 ? box : Box{};
}

bool NetworkInterface::labels_known(const Output& output) const {
    const TileOperator& op = program_->operators[output.operator_index];
    if (op.previous_switch == kNone) return true;
    const auto known = labels_.find({op.previous_switch, output.batch});
    const std::vector<std::uint32_t>& ids = output.index_list->samples.ids();
    if (known == labels_.end()) return ids.empty();
    return std::all_of(ids.begin(), ids.end(), [&known](std::uint32_t id) { return known->second.count(id) != 0; });
}

NetworkInterface::Decisions NetworkInterface::recorded_decisions(const Output& output,
                                                                 const std::vector<std::uint32_t>& ids) const {
    Decisions decisions;
    const auto recorded = recorded_masks_.find(output.operator_index);
    for (const std::uint32_t id : ids) {
        const bool known = recorded != recorded_masks_.end() && recorded->second.count(id) != 0;
        if (!known) fail("gate finished before its recorded masks were read");
        decisions.masks.push_back(recorded->second.at(id));
    }
    decisions.labels.resize(ids.size());  // nobody compares them
    return decisions;
}

NetworkInterface::Decisions NetworkInterface::computed_decisions(const Output& output, const Box& box,
                                                                 const std::vector<std::uint32_t>& ids) {
    const TileOperator& op = program_->operators[output.operator_index];
    const std::uint64_t slot = op.out_offset + std::uint64_t{output.unit} % op.out_slots * op.out_slot_bytes;
    const std::uint32_t outputs = box.k1 - box.k0;
    const bool logit_a_branch = op.gate_rule == GateRule::each || op.gate_rule == GateRule::largest;
    if (logit_a_branch && outputs != op.gate_branches) {
        fail("the gate of switch " + std::to_string(op.gate_switch) + " has " + std::to_string(outputs) +
             " outputs on this tile for " + std::to_string(op.gate_branches) + " branches");
    }
    std::vector<float> logits(std::size_t{outputs} * ids.size());
    access_scratchpad(::tlm::TLM_READ_COMMAND, slot + op.kept_offset, reinterpret_cast<std::uint8_t*>(logits.data()),
                      sizeof(float) * logits.size());
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

void NetworkInterface::send_decisions(Output& output, const Edge& edge) {
    const TileOperator& op = program_->operators[output.operator_index];
    const Box box = decided_box(output);
    if (!box.empty()) {
        const std::vector<std::uint32_t>& samples = output.index_list->samples.ids();
        std::vector<std::uint32_t> ids(samples.begin() + box.n0, samples.begin() + box.n1);
        Decisions decisions = config_.values ? computed_decisions(output, box, ids) : recorded_decisions(output, ids);
        const bool labels = edge.path == EdgePath::labels;
        if (config_.values && !labels) store_masks(output, ids, decisions.masks);
        const std::uint64_t bytes = ids.size() * (labels ? kLabelBytes : (op.gate_branches + 7U) / 8U);
        const Packet packet = make_packet(MessageKind::mask, program_->placement(edge.dst_op).tiles, bytes);
        packet.message.edge = op.gate_switch;
        packet.message.unit = output.unit;
        packet.message.batch = output.batch;
        packet.message.mask_samples = std::make_shared<const SampleSet>(SampleSet(std::move(ids)));
        if (labels)
            packet.message.labels = std::make_shared<const std::vector<SampleLabel>>(std::move(decisions.labels));
        else
            packet.message.masks = std::make_shared<const std::vector<std::uint64_t>>(std::move(decisions.masks));
        inject(packet, clock_.cycles(config_.setup_cycles));
    }
    finish_step(output.operator_index, output.unit);
}

/// Where the host finds which way the samples went.
void NetworkInterface::store_masks(Output& output, const std::vector<std::uint32_t>& ids,
                                   const std::vector<std::uint64_t>& masks) {
    const TileOperator& op = program_->operators[output.operator_index];
    auto runs = std::make_shared<std::vector<MemoryRun>>();
    std::vector<std::uint8_t> bytes(masks.size() * sizeof(std::uint64_t));
    std::memcpy(bytes.data(), masks.data(), bytes.size());
    const std::uint64_t base = op.mask_address + output.batch % 2 * op.mask_bank_stride;
    for (const std::uint32_t id : ids) {
        const std::uint64_t address = base + std::uint64_t{id} * sizeof(std::uint64_t);
        if (!runs->empty() && runs->back().address + runs->back().bytes == address) {
            runs->back().bytes += sizeof(std::uint64_t);
        } else {
            runs->push_back({address, sizeof(std::uint64_t)});
        }
    }
    write_memory(output, {op.gate_switch, base, bytes.size(), &bytes, runs});
}

void NetworkInterface::start_parked(Output& output) {
    ++output.steps_missing;  // keeps the output alive while its edges start
    std::vector<std::uint16_t> parked;
    parked.swap(output.parked);
    const std::uint16_t op = output.operator_index, unit = output.unit;
    for (const std::uint16_t id : parked) {
        if (!start_edge(output, program_->edge(id))) output.parked.push_back(id);
    }
    finish_step(op, unit);
}

void NetworkInterface::on_masks(const AdynaMessage& message) {
    SwitchUnit& unit = switches_[{message.edge, message.unit}];
    for (std::size_t i = 0; i < message.mask_samples->size(); ++i)
        unit[(*message.mask_samples)[i]] = (*message.masks)[i];
    const auto waits = [this, &message](const Output& output) {
        return output.unit == message.unit &&
               std::any_of(output.parked.begin(), output.parked.end(), [this, &message](std::uint16_t id) {
                   const Edge& edge = program_->edge(id);
                   return edge.switch_id == message.edge && !carries_decisions(edge.path);
               });
    };
    const auto output = std::find_if(outputs_.begin(), outputs_.end(), waits);
    if (output != outputs_.end()) start_parked(*output);
}

void NetworkInterface::on_labels(const AdynaMessage& message) {
    for (auto it = labels_.begin(); it != labels_.end();)  // of samples that have left since
        it = it->first.second + 1 < message.batch ? labels_.erase(it) : std::next(it);
    auto& known = labels_[{message.edge, message.batch}];
    for (std::size_t i = 0; i < message.mask_samples->size(); ++i)
        known[(*message.mask_samples)[i]] = (*message.labels)[i];
    const auto waits = [this, &message](const Output& output) {
        const auto decides = [this](std::uint16_t id) { return carries_decisions(program_->edge(id).path); };
        return std::any_of(output.parked.begin(), output.parked.end(), decides) &&
               program_->operators[output.operator_index].previous_switch == message.edge && labels_known(output);
    };
    for (;;) {  // outputs that start may be gone afterwards
        const auto output = std::find_if(outputs_.begin(), outputs_.end(), waits);
        if (output == outputs_.end()) return;
        start_parked(*output);
    }
}

}  // namespace switchyard::hw
