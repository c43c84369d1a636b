// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/compiler/reduction_slices.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/adyna/compiler/cost_model.h"

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

/// Slice `index` of `count`; `before`: the slice in front of it.
Operator slice_of(const Operator& op, unsigned index, unsigned count, int before) {
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
        // What comes after the sum of all slices is a matter of the last one.
        slice.gate_switch = kNoSwitch;
        slice.position_tokens = 0;
        slice.norm_parameters.clear();
        slice.position_parameters.clear();
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
    if (!first) add_partial_sums(slice, before);
    if (last) slice.fused.insert(slice.fused.end(), own.begin(), own.end());
    return slice;
}

}  // namespace

void add_partial_sums(Operator& slice, int before) {
    Source sums;
    sums.producer = before;
    sums.role = OperandRole::second_operand;
    sums.shape = slice.output();
    slice.inputs.push_back(sums);
    slice.fused.push_back(FusedStep::add);
}

bool can_slice(const Operator& op, unsigned slices) {
    if (slices == 1) return true;
    if (op.shape.kind != OpKind::convolution && op.shape.kind != OpKind::matmul) return false;
    const Source& input = op.inputs.front();
    if (op.shape.in_channels != input.taken_channels() || op.shape.in_channels % slices != 0) return false;
    if (product_bytes(op) % slices != 0 || product_bytes(op) > op.weight_bytes) return false;
    if (op.inputs.back().role == OperandRole::factor) return false;
    const std::size_t addition = step_of_addition(op);
    return addition == op.fused.size() ||
           std::all_of(op.fused.begin(), op.fused.begin() + static_cast<std::ptrdiff_t>(addition),
                       [](FusedStep step) { return step == FusedStep::bias; });
}

namespace {

/// The result of an operator becomes binary32, and with it what its consumers take.
void widen_result(DynGraph& graph, int id, const std::vector<std::vector<int>>& consumers) {
    Operator& op = graph.operators[static_cast<std::size_t>(id)];
    op.shape.element_bytes = kWideElementBytes;
    op.out_bytes_per_sample = op.output().bytes();
    for (const int consumer : consumers[static_cast<std::size_t>(id)]) {
        for (Source& source : graph.operators[static_cast<std::size_t>(consumer)].inputs)
            if (source.producer == id) source.shape.element_bytes = kWideElementBytes;
    }
}

/// True if all that a merge takes is made for it alone, by operators that may hand on binary32.
bool adds_partial_sums(const DynGraph& graph, const Operator& merge, const std::vector<std::vector<int>>& consumers) {
    if (merge.shape.kind != OpKind::merge || merge.merge_mode != MergeMode::sum) return false;
    return std::all_of(merge.inputs.begin(), merge.inputs.end(), [&](const Source& source) {
        if (source.producer < 0 || source.switch_id != kNoSwitch || source.reduce != EdgeReduce::none) return false;
        const bool output = std::count(graph.outputs.begin(), graph.outputs.end(), source.producer) > 0;
        const Operator& producer = graph.operators[static_cast<std::size_t>(source.producer)];
        return !output && producer.gate_switch == kNoSwitch &&
               consumers[static_cast<std::size_t>(source.producer)].size() == 1;
    });
}

void widen_partial_sums(SlicedGraph& cut) {
    DynGraph& graph = cut.graph;
    const std::vector<std::vector<int>> consumers = graph.consumers();
    for (std::size_t op = 0; op < graph.operators.size(); ++op) {
        if (cut.partial[op] != 0) widen_result(graph, static_cast<int>(op), consumers);
        if (!adds_partial_sums(graph, graph.operators[op], consumers)) continue;
        for (const Source& source : graph.operators[op].inputs) widen_result(graph, source.producer, consumers);
        graph.operators[op].shape.operand_bytes = kWideElementBytes;
    }
}

}  // namespace

SlicedGraph sliced(const DynGraph& graph, const std::vector<unsigned>& slices, bool wide_partial_sums) {
    SlicedGraph result;
    result.graph = graph;
    std::vector<Operator>& made = result.graph.operators;
    made.clear();
    std::vector<int> id_of(graph.operators.size());  // of the last slice
    for (std::size_t op = 0; op < graph.operators.size(); ++op) {
        Operator whole = graph.operators[op];
        if (!can_slice(whole, slices.at(op))) {
            throw std::invalid_argument(
                fmt::format("{}: expected slices that divide its reduction, found {} slices", whole.name, slices[op]));
        }
        for (Source& source : whole.inputs) {
            if (source.producer >= 0) source.producer = id_of[static_cast<std::size_t>(source.producer)];
        }
        for (unsigned index = 0; index < slices[op]; ++index) {
            const int before = static_cast<int>(made.size()) - 1;
            made.push_back(slices[op] == 1 ? whole : slice_of(whole, index, slices[op], before));
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
    if (wide_partial_sums) widen_partial_sums(result);
    return result;
}

namespace {

/// A graph whose operators are cut, and a segmenter of it.
class Trial {
public:
    Trial(const DynGraph& whole, std::vector<unsigned> slices, const HardwareDescription& hardware,
          const std::vector<double>& expected_share, unsigned tiles, std::uint32_t unit_samples, const Margins& margins,
          const Design& design)
        : slices_(std::move(slices)),
          cut_(sliced(whole, slices_, hardware.wide_partial_sums)),
          workload_(cut_.graph, hardware, cut_.of(expected_share)),
          search_(workload_, hardware, design.invocation()),
          segmenter_(search_, design, tiles, unit_samples, margins) {
        for (const unsigned count : slices_)
            last_.push_back((last_.empty() ? 0 : last_.back()) + static_cast<int>(count));
    }
    const Workload& workload() const { return workload_; }
    const StageSearch& search() const { return search_; }
    /// Of the original operators [first, last) as one segment; infinite if they do not fit.
    double cycles(std::size_t first, std::size_t last) { return segment_cycles(begin(first), last_[last - 1]); }
    /// Of the slices of an operator, in as many segments as they need.
    double cycles_in_segments(std::size_t op) {
        const int first = begin(op);
        std::vector<double> fewest(static_cast<std::size_t>(last_[op] - first) + 1, kNever);
        fewest[0] = 0;
        for (int from = first; from < last_[op]; ++from) {
            const double before = fewest[static_cast<std::size_t>(from - first)];
            for (int to = from + 1; to <= last_[op] && before < kNever; ++to) {
                double& min = fewest[static_cast<std::size_t>(to - first)];
                if (to == last_[op] || segmenter_.may_cut(to)) min = std::min(min, before + segment_cycles(from, to));
            }
        }
        return fewest.back();
    }
    bool fits(std::size_t first, std::size_t last) { return segmenter_.fits(begin(first), last_[last - 1]); }

private:
    int begin(std::size_t op) const { return op > 0 ? last_[op - 1] : 0; }
    double segment_cycles(int first, int last) {
        const std::optional<SegmentPlan> plan = segmenter_.segment(first, last);
        return plan ? plan->cycles : kNever;
    }

    std::vector<unsigned> slices_;
    SlicedGraph cut_;
    Workload workload_;
    StageSearch search_;
    Segmenter segmenter_;
    std::vector<int> last_;  ///< by original operator: the id behind its slices
};

/// Into how many slices each operator of a graph is cut. What it is made of must outlive it.
class SliceSearch {
public:
    SliceSearch(const DynGraph& graph, const HardwareDescription& hardware, const std::vector<double>& expected_share,
                unsigned tiles, std::uint32_t unit_samples, const Margins& margins, const Design& design)
        : graph_(graph),
          hardware_(hardware),
          expected_share_(expected_share),
          tiles_(tiles),
          unit_samples_(unit_samples),
          margins_(margins),
          ungrouped_(design.has(Mechanism::grouping) ? design.without({"grouping"}) : design),
          whole_(trial(std::vector<unsigned>(graph.operators.size(), 1))) {
        for (std::size_t op = 0; op < graph.operators.size(); ++op) work_of_all_ += load(op);
    }

    unsigned best(std::size_t op) {
        const bool possible = std::any_of(kTried.begin(), kTried.end(),
                                          [&](unsigned count) { return can_slice(graph_.operators[op], count); });
        if (!possible || load(op) <= kSmall * work_of_all_) return 1;
        std::vector<int> alike;  // operators with the same way from their feeder
        for (std::size_t between = feeder(op); between <= op; ++between)
            alike.push_back(whole_->search().class_of(static_cast<int>(between)));
        const auto [found, added] = known_.emplace(std::move(alike), 1);
        if (added) found->second = search(op);
        return found->second;
    }

private:
    std::unique_ptr<Trial> trial(std::vector<unsigned> slices) const {
        return std::make_unique<Trial>(graph_, std::move(slices), hardware_, expected_share_, tiles_, unit_samples_,
                                       margins_, ungrouped_);
    }

    double load(std::size_t op) const { return whole_->workload().load(static_cast<int>(op)); }

    /// The operator from which its input comes, or itself.
    std::size_t feeder(std::size_t op) const {
        const int producer = graph_.operators[op].inputs.front().producer;
        return producer >= 0 ? static_cast<std::size_t>(producer) : op;
    }

    unsigned search(std::size_t op) {
        const std::size_t from = feeder(op);
        const double alone = whole_->cycles(op, op + 1);
        // As a whole it cannot be on the chip with its feeder: its input goes through HBM wherever segments are cut.
        const bool apart = ungrouped_.has(Mechanism::pipelining) && from < op && !whole_->fits(from, op + 1);
        const double before = apart ? whole_->cycles(from, op) : kNever;
        const bool busy = load(op) / tiles_ >= margins_.busy * alone;
        if (busy && before == kNever) return 1;
        unsigned best = 1;
        double fewest = margins_.slices * alone;
        for (const unsigned count : kTried) {
            if (!can_slice(graph_.operators[op], count)) continue;
            double cycles = kNever;
            if (before < kNever) {
                const std::unique_ptr<Trial> cut = only(op, count);
                cycles = std::min(cut->cycles(op, op + 1), cut->cycles(from, op + 1) - before);
            } else {
                cycles = all(count).cycles(op, op + 1);
            }
            // Where neither the operator nor its slices fit on the chip at once.
            if (alone == kNever && cycles == kNever) cycles = only(op, count)->cycles_in_segments(op);
            if (cycles >= fewest) continue;
            fewest = cycles;
            best = count;
        }
        return best;
    }

    std::unique_ptr<Trial> only(std::size_t op, unsigned count) const {
        std::vector<unsigned> slices(graph_.operators.size(), 1);
        slices[op] = count;
        return trial(std::move(slices));
    }

    /// With every operator cut into N that can be: made once, for those that are looked at one by one.
    Trial& all(unsigned count) {
        std::unique_ptr<Trial>& cut = all_cut_[count];
        if (!cut) {
            std::vector<unsigned> slices;
            for (const Operator& op : graph_.operators) slices.push_back(can_slice(op, count) ? count : 1);
            cut = trial(std::move(slices));
        }
        return *cut;
    }

    const DynGraph& graph_;
    const HardwareDescription& hardware_;
    const std::vector<double>& expected_share_;
    unsigned tiles_;
    std::uint32_t unit_samples_;
    const Margins& margins_;
    Design ungrouped_;  ///< an operator alone has nothing to be grouped with
    std::unique_ptr<Trial> whole_;
    std::map<unsigned, std::unique_ptr<Trial>> all_cut_;  ///< by slices
    std::map<std::vector<int>, unsigned> known_;          ///< slices by the classes from the feeder to the operator
    double work_of_all_ = 0;
};

}  // namespace

std::vector<unsigned> useful_slices(const DynGraph& graph, const HardwareDescription& hardware,
                                    const std::vector<double>& expected_share, unsigned tiles,
                                    std::uint32_t unit_samples, const Margins& margins, const Design& design) {
    SliceSearch search(graph, hardware, expected_share, tiles, unit_samples, margins, design);
    std::vector<unsigned> result;
    for (std::size_t op = 0; op < graph.operators.size(); ++op) result.push_back(search.best(op));
    return result;
}

}  // namespace switchyard::sched
