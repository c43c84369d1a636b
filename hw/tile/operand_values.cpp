// SPDX-License-Identifier: Apache-2.0
// TileController: where the values of a unit's operands lie, for the dispatcher.

#include <utility>

#include "switchyard/hw/tile/tile_controller.h"

namespace switchyard::hw {

namespace {

/// Operands that only steps of the epilogue read.
struct StepOperands {
    std::uint32_t second = 0, factor = 0, factor_channels = 0;
    bool second_is_wide = false;
};

/// Puts the steps of an operator's epilogue into its values. Their parameters, a value a channel each, are behind the
/// weights of the slice, one after another.
class EpilogueAddresses {
public:
    /// `parameters`: where the first one is; `slice`: bytes of one; `kept`: where a gate's or a row's values are kept.
    EpilogueAddresses(OperatorValues& values, const StepOperands& operands, std::uint32_t parameters,
                      std::uint32_t slice, std::uint32_t kept)
        : values_(values),
          operands_(operands),
          next_(parameters),
          slice_(slice),
          kept_(kept),
          steps_(&values.epilogue) {}

    void norm() {
        parameter(Kind::scale);
        parameter(Kind::bias);
    }
    /// `position_tokens`: as TileOperator has it.
    void add(EpilogueStep step, std::uint16_t position_tokens) {
        switch (step) {
            case EpilogueStep::bias:
                return parameter(Kind::bias);
            case EpilogueStep::norm:
                return norm();
            case EpilogueStep::relu:
                steps_->push_back({Kind::relu, 0, false});
                return;
            case EpilogueStep::sigmoid:
                steps_->push_back({Kind::sigmoid, 0, false});
                return;
            case EpilogueStep::add:
                steps_->push_back({Kind::add, operands_.second, operands_.second_is_wide});
                return;
            case EpilogueStep::gate:
                steps_->push_back({Kind::keep, kept_, false});
                return;
            case EpilogueStep::position:
                steps_->push_back({Kind::position, next_, false, position_tokens});
                next_ += slice_ * position_tokens;
                return;
            case EpilogueStep::layer_norm:
                across(Across::Kind::layer_norm);
                return norm();
            case EpilogueStep::softmax:
                return across(Across::Kind::softmax);
            case EpilogueStep::scale:
                steps_->push_back({Kind::factor, operands_.factor, false, operands_.factor_channels});
                return;
        }
    }

private:
    using Kind = KernelAddresses::Fused::Kind;
    using Across = KernelAddresses::Across;

    void parameter(Kind kind) {
        steps_->push_back({kind, next_, false});
        next_ += slice_;
    }
    void across(Across::Kind kind) {
        values_.across.kind = kind;
        values_.across.kept = kept_;
        steps_ = &values_.across.epilogue;
    }

    OperatorValues& values_;
    StepOperands operands_;
    std::uint32_t next_, slice_, kept_;
    std::vector<KernelAddresses::Fused>* steps_;  ///< those of the epilogue, or those behind the step across channels
};

/// Which of a unit's samples one input of a merge brings.
std::vector<bool> present_samples(const MergedSamples& merged, std::size_t input, const SampleSet& samples) {
    std::vector<bool> present;
    const std::vector<bool>& from = merged.from.at(input);
    std::size_t next = 0;
    for (const std::uint32_t id : samples.ids()) {
        const bool merges = next < merged.ids.size() && merged.ids[next] == id;
        present.push_back(merges && from[next]);
        next += merges ? 1 : 0;
    }
    return present;
}

}  // namespace

const OperatorValues& TileController::values_of(const Operator& op, unsigned unit, const SampleSet& samples) {
    const OperatorShape& shape = op.placement->shape;
    values_ = {};
    values_.shape = shape;
    if (shape.kind == OpKind::pool) {
        values_.reduce =
            op.op->pool == PoolKind::mean ? KernelAddresses::Reduce::mean : KernelAddresses::Reduce::maximum;
    }
    StepOperands operands;
    for (const Input& input : op.inputs) {
        const auto slot = static_cast<std::uint32_t>(rules::input_slot(*input.edge, unit));
        if (input.edge->role == OperandRole::second_operand) {
            operands.second = slot;
            operands.second_is_wide = input.edge->element_bytes == kWideElementBytes;
        } else if (input.edge->role == OperandRole::factor) {
            operands.factor = slot;
            operands.factor_channels = input.edge->channels;
        } else {
            OperatorValues::Source source{slot, {}};
            if (shape.kind == OpKind::merge)
                source.present = present_samples(*op.merged[unit], values_.sources.size(), samples);
            values_.sources.push_back(std::move(source));
        }
    }
    if (op.op->position_tokens > 0) {
        const std::uint32_t samples_of_input = op.op->position_tokens / shape.out_rows;
        for (const std::uint32_t id : samples.ids())
            values_.first_tokens.push_back(id % samples_of_input * shape.out_rows);
    }
    const Partition& cut = op.placement->partitions.back();
    const Box box = output_box(shape, cut, op.placement->k_factor, op.op->rank % op.placement->k_factor, cut.dyn_dim);
    const std::uint32_t slice = kElementBytes * (box.k1 - box.k0);
    const std::uint32_t parameters =
        op.weights.empty() ? 0 : op.weights.front().edge->slot_offset + slice * filter_elements(shape);
    const std::uint32_t kept = static_cast<std::uint32_t>(rules::output_slot(*op.op, unit)) + op.op->kept_offset;
    EpilogueAddresses epilogue(values_, operands, parameters, slice, kept);
    if (shape.kind == OpKind::norm) epilogue.norm();
    for (const EpilogueStep step : op.op->epilogue) epilogue.add(step, op.op->position_tokens);
    return values_;
}

}  // namespace switchyard::hw
