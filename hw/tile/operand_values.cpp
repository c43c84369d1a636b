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
    std::uint32_t second = 0;
    bool second_is_wide = false;
    for (const Input& input : op.inputs) {
        const std::uint32_t slot = input.edge->slot_offset + unit % input.edge->slots * input.edge->slot_bytes;
        if (input.edge->role == OperandRole::second_operand) {
            second = slot;
            second_is_wide = input.edge->element_bytes == kWideElementBytes;
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
    // Behind the weights of the slice: parameters of the epilogue, a value a channel each.
    const Partition& cut = op.placement->partitions.back();
    const Box box = output_box(shape, cut, op.placement->k_ways, op.op->rank % op.placement->k_ways, cut.dyn_dim);
    const std::uint32_t slice = kElementBytes * (box.k1 - box.k0);
    std::uint32_t next = op.weights.empty() ? 0 : op.weights.front().edge->slot_offset + slice * filter_elements(shape);
    using Kind = KernelAddresses::Fused::Kind;
    const auto parameter = [&](Kind kind) {
        values_.epilogue.push_back({kind, next, false});
        next += slice;
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
                values_.epilogue.push_back({Kind::relu, 0, false});
                break;
            case EpilogueStep::sigmoid:
                values_.epilogue.push_back({Kind::sigmoid, 0, false});
                break;
            case EpilogueStep::add:
                values_.epilogue.push_back({Kind::add, second, second_is_wide});
                break;
            case EpilogueStep::gate:
                values_.epilogue.push_back(
                    {Kind::keep,
                     op.op->out_offset + unit % op.op->out_slots * op.op->out_slot_bytes + op.op->gate_offset, false});
                break;
        }
    }
    return values_;
}

}  // namespace switchyard::hw
