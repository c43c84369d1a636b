#include "switchyard/sw_scheduler/backend/reduction_slices.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/backend/cost_model.h"

namespace switchyard::sched {

namespace {

constexpr std::array<unsigned, 5> kTried{2, 3, 4, 6, 8};
/// An operator with less of the work is not worth a try.
constexpr double kSmall = 0.002;

std::size_t step_of_addition(const Operator& op) {
    return static_cast<std::size_t>(std::find(op.fused.begin(), op.fused.end(), FusedStep::add) - op.fused.begin());
}

/// Weights without biases and norm parameters.
std::uint64_t product_bytes(const Operator& op) {
    const auto loops = reduction_loops(op.shape, 1);
    return std::uint64_t{kElementBytes} * op.shape.out_channels * loops[0] * loops[1] * loops[2];
}

Source partial_sum(const Operator& before, int id) {
    Source source;
    source.producer = id;
    source.role = OperandRole::second_operand;
    source.shape = before.output();
    return source;
}

/// Slice `index` of `count`; the last of `made`, the new graph's operators so far, is the slice in front of it.
Operator slice_of(const Operator& op, unsigned index, unsigned count, const std::vector<Operator>& made) {
    Operator slice = op;
    const bool first = index == 0, last = index + 1 == count;
    Source& input = slice.inputs.front();
    input.group = static_cast<std::uint16_t>(input.group * count + index);
    input.groups = static_cast<std::uint16_t>(input.groups * count);
    slice.shape.in_channels = static_cast<std::uint16_t>(op.shape.in_channels / count);
    slice.macs_per_sample = op.macs_per_sample / count;
    slice.weight_bytes = product_bytes(op) / count;
    if (last) {
        slice.weight_bytes += op.weight_bytes - product_bytes(op);
    } else {
        slice.name = fmt::format("{}[{}]", op.name, index);
        slice.gate_switch = kNoSwitch;
    }
    const std::size_t addition = step_of_addition(op);
    const bool adds = addition < op.fused.size();
    std::vector<FusedStep> own = op.fused;
    if (adds) own.erase(own.begin() + static_cast<std::ptrdiff_t>(addition));
    slice.fused.clear();
    slice.inputs.resize(1);
    if (first && adds) {
        slice.fused.push_back(FusedStep::add);
        slice.inputs.push_back(op.inputs.back());
    }
    if (!first) {
        slice.fused.push_back(FusedStep::add);
        slice.inputs.push_back(partial_sum(made.back(), static_cast<int>(made.size()) - 1));
    }
    if (last) slice.fused.insert(slice.fused.end(), own.begin(), own.end());
    return slice;
}

}  // namespace

bool can_slice(const Operator& op, unsigned slices) {
    if (slices == 1) return true;
    if (op.shape.kind != OpKind::convolution && op.shape.kind != OpKind::matmul) return false;
    const Source& input = op.inputs.front();
    if (op.shape.in_channels != input.taken_channels() || op.shape.in_channels % slices != 0) return false;
    if (product_bytes(op) % slices != 0 || product_bytes(op) > op.weight_bytes) return false;
    const std::size_t addition = step_of_addition(op);
    return addition == op.fused.size() ||
           std::all_of(op.fused.begin(), op.fused.begin() + static_cast<std::ptrdiff_t>(addition),
                       [](FusedStep step) { return step == FusedStep::bias; });
}

SlicedGraph sliced(const DynGraph& graph, const std::vector<unsigned>& slices) {
    SlicedGraph result;
    result.graph = graph;
    std::vector<Operator>& made = result.graph.operators;
    made.clear();
    std::vector<int> id_of(graph.operators.size());  // of the last slice
    for (std::size_t op = 0; op < graph.operators.size(); ++op) {
        Operator whole = graph.operators[op];
        if (!can_slice(whole, slices.at(op))) {
            throw std::invalid_argument(fmt::format("{} cannot be cut into {} slices", whole.name, slices[op]));
        }
        for (Source& source : whole.inputs) {
            if (source.producer >= 0) source.producer = id_of[static_cast<std::size_t>(source.producer)];
        }
        for (unsigned index = 0; index < slices[op]; ++index) {
            made.push_back(slices[op] == 1 ? whole : slice_of(whole, index, slices[op], made));
            result.original.push_back(static_cast<int>(op));
            result.partial.push_back(index + 1 < slices[op] ? 1 : 0);
        }
        id_of[op] = static_cast<int>(made.size()) - 1;
    }
    const auto renumber = [&id_of](int& op) { op = id_of[static_cast<std::size_t>(op)]; };
    for (Switch& one : result.graph.switches) {
        renumber(one.data);
        renumber(one.gate);
        one.enclosed.clear();
    }
    for (std::size_t op = 0; op < made.size(); ++op) {
        for (const BranchStep& step : made[op].path)
            result.graph.switches[static_cast<std::size_t>(step.switch_id)].enclosed.push_back(static_cast<int>(op));
    }
    for (int& output : result.graph.outputs) renumber(output);
    return result;
}

std::vector<unsigned> useful_slices(const DynGraph& graph, const HardwareDescription& hardware,
                                    const std::vector<double>& expected_share, unsigned tiles,
                                    std::uint32_t unit_samples, const Margins& margins, const Design& design) {
    /// Graphs whose operators are all cut alike, and segmenters of them.
    struct Trial {
        std::vector<unsigned> slices;
        SlicedGraph cut;
        Workload workload;
        StageSearch search;
        Segmenter segmenter;
        std::vector<int> last;  ///< by original operator: the id behind its slices

        Trial(const DynGraph& whole, std::vector<unsigned> by_operator, const HardwareDescription& chip,
              const std::vector<double>& shares, unsigned tiles_used, std::uint32_t unit, const Margins& usual,
              const Design& ungrouped)
            : slices(std::move(by_operator)),
              cut(sliced(whole, slices)),
              workload(cut.graph, chip, cut.of(shares)),
              search(workload, chip),
              segmenter(search, tiles_used, unit, usual, ungrouped) {
            for (const unsigned count : slices)
                last.push_back((last.empty() ? 0 : last.back()) + static_cast<int>(count));
        }
        std::optional<double> cycles(std::size_t op) {
            const std::optional<SegmentPlan> plan =
                segmenter.segment(last[op] - static_cast<int>(slices[op]), last[op]);
            return plan ? std::optional<double>(plan->cycles) : std::nullopt;
        }
    };
    const Design ungrouped = design.has(Mechanism::grouping) ? design.without({"grouping"}) : design;
    const auto trial = [&](unsigned count) {
        std::vector<unsigned> slices;
        for (const Operator& op : graph.operators) slices.push_back(can_slice(op, count) ? count : 1);
        return std::make_unique<Trial>(graph, std::move(slices), hardware, expected_share, tiles, unit_samples, margins,
                                       ungrouped);
    };
    std::vector<unsigned> result(graph.operators.size(), 1);
    const std::unique_ptr<Trial> whole = trial(1);
    std::map<unsigned, std::unique_ptr<Trial>> trials;
    std::map<int, unsigned> known;  // by class of operators that are alike
    double work_of_all = 0;
    for (std::size_t op = 0; op < result.size(); ++op) work_of_all += whole->workload.load(static_cast<int>(op));
    for (std::size_t op = 0; op < result.size(); ++op) {
        const Workload& work = whole->workload;
        const int id = static_cast<int>(op);
        if (work.load(id) <= kSmall * work_of_all || !std::any_of(kTried.begin(), kTried.end(), [&](unsigned count) {
                return can_slice(graph.operators[op], count);
            })) {
            continue;
        }
        const auto [found, added] = known.emplace(whole->search.class_of(id), 1);
        if (added) {
            const std::optional<double> alone = whole->cycles(op);
            double fewest = alone ? margins.slices * *alone : std::numeric_limits<double>::infinity();
            const bool busy = alone && work.load(id) / tiles >= margins.busy * *alone;
            for (const unsigned count : kTried) {
                if (busy || !can_slice(graph.operators[op], count)) continue;
                std::unique_ptr<Trial>& tried = trials[count];
                if (!tried) tried = trial(count);
                const std::optional<double> cycles = tried->cycles(op);
                if (!cycles || *cycles >= fewest) continue;
                fewest = *cycles;
                found->second = count;
            }
        }
        result[op] = found->second;
    }
    return result;
}

}  // namespace switchyard::sched
