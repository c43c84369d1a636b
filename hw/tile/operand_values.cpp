// SPDX-License-Identifier: Apache-2.0
// TileController: where the values of a unit's operands lie, for the dispatcher.

#include "switchyard/hw/tile/tile_controller.h"

namespace switchyard::hw {

const OperatorValues& TileController::values_of(const Operator& op, unsigned unit, const SampleSet& samples) {
    const OperatorShape& shape = op.placement->shape;
    values_ = {};
    values_.shape = shape;
    if (shape.kind == OpKind::pool) {
        values_.reduce =
            op.op->pool == PoolKind::mean ? KernelAddresses::Reduce::mean : KernelAddresses::Reduce::maximum;
    }
    std::uint32_t second = 0, factor = 0, factor_channels = 0;
    bool second_is_wide = false;
    for (const Input& input : op.inputs) {
        const std::uint32_t slot = static_cast<std::uint32_t>(rules::input_slot(*input.edge, unit));
        if (input.edge->role == OperandRole::second_operand) {
            second = slot;
            second_is_wide = input.edge->element_bytes == kWideElementBytes;
            continue;
        }
        if (input.edge->role == OperandRole::factor) {
            factor = slot;
            factor_channels = input.edge->channels;
            continue;
        }
        OperatorValues::Source source{slot, {}};
        if (shape.kind == OpKind::merge) {
            const MergedSamples& merged = *op.merged[unit];
            const std::vector<bool>& from = merged.from.at(values_.sources.size());
            std::size_t next = 0;
            for (const std::uint32_t id : samples.ids()) {
                const bool merges = next < merged.ids.size() && merged.ids[next] == id;
                source.present.push_back(merges && from[next]);
                next += merges ? 1 : 0;
            }
        }
        values_.sources.push_back(std::move(source));
    }
    if (op.op->position_tokens > 0) {
        const std::uint32_t samples_of_input = op.op->position_tokens / shape.out_rows;
        for (const std::uint32_t id : samples.ids())
            values_.first_tokens.push_back(id % samples_of_input * shape.out_rows);
    }
    // Behind the weights of the slice: parameters of the epilogue, a value a channel each.
    const Partition& cut = op.placement->partitions.back();
    const Box box = output_box(shape, cut, op.placement->k_factor, op.op->rank % op.placement->k_factor, cut.dyn_dim);
    const std::uint32_t slice = kElementBytes * (box.k1 - box.k0);
    std::uint32_t next = op.weights.empty() ? 0 : op.weights.front().edge->slot_offset + slice * filter_elements(shape);
    using Kind = KernelAddresses::Fused::Kind;
    using Across = KernelAddresses::Across;
    std::vector<KernelAddresses::Fused>* steps = &values_.epilogue;
    const auto parameter = [&](Kind kind) {
        steps->push_back({kind, next, false});
        next += slice;
    };
    const std::uint32_t kept = static_cast<std::uint32_t>(rules::output_slot(*op.op, unit)) + op.op->kept_offset;
    const auto across = [&](Across::Kind kind) {
        values_.across.kind = kind;
        values_.across.kept = kept;
        steps = &values_.across.epilogue;
    };
    const auto norm = [&] {
        parameter(Kind::scale);
        parameter(Kind::bias);
    };
    if (shape.kind == OpKind::norm) norm();
    for (const EpilogueStep step : op.op->epilogue) {
        switch (step) {
            case EpilogueStep::bias:
                parameter(Kind::bias);
                break;
            case EpilogueStep::norm:
                norm();
                break;
            case EpilogueStep::relu:
                steps->push_back({Kind::relu, 0, false});
                break;
            case EpilogueStep::sigmoid:
                steps->push_back({Kind::sigmoid, 0, false});
                break;
            case EpilogueStep::add:
                steps->push_back({Kind::add, second, second_is_wide});
                break;
            case EpilogueStep::gate:
                steps->push_back({Kind::keep, kept, false});
                break;
            case EpilogueStep::position:
                steps->push_back({Kind::position, next, false, op.op->position_tokens});
                next += slice * op.op->position_tokens;
                break;
            case EpilogueStep::layer_norm:
                across(Across::Kind::layer_norm);
                norm();
                break;
            case EpilogueStep::softmax:
                across(Across::Kind::softmax);
                break;
            case EpilogueStep::scale:
                steps->push_back({Kind::factor, factor, false, factor_channels});
                break;
        }
    }
    return values_;
}

}  // namespace switchyard::hw
