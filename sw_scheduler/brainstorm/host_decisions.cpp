// SPDX-License-Identifier: Apache-2.0
// Routers that the host reads: what is launched for a decision or for a prediction, and which weights come and go.
#include <algorithm>
#include <utility>

#include "switchyard/sw_scheduler/brainstorm/batch_compiler.h"

namespace switchyard::sched::brainstorm {

namespace {

bool contains(const std::vector<std::size_t>& list, std::size_t value) {
    return std::find(list.begin(), list.end(), value) != list.end();
}

std::uint64_t kernels_with_weights(const HostSteps& steps) {
    return static_cast<std::uint64_t>(
        std::count_if(steps.begin(), steps.end(), [](const HostStep& step) { return !step.weights.empty(); }));
}

}  // namespace

HostSteps BatchCompiler::check_steps(std::size_t index, unsigned queue) {
    const Stage& stage = network_.stages[index];
    HostSteps steps = stages_.gate(index, 1, queue);
    for (unsigned i = 0; i < stage.read_backs; ++i) {
        // The router's code needs what is read back: kernels that were launched before do not hide its time.
        steps.push_back(read_back_step(8, queue));
        steps.push_back(work_step(stage.host_us + mechanisms_.decision_us));
    }
    return steps;
}

/// `with_common`: what is common to the branches as well, if there is a branch.
HostSteps BatchCompiler::branch_steps(std::size_t index, const std::vector<std::size_t>& decision, bool with_common,
                                      bool certain) {
    const Stage& stage = network_.stages[index];
    HostSteps steps;
    if (decision.empty()) return steps;
    std::vector<std::size_t> items = decision;
    if (with_common) items.push_back(stage.router.branches);
    if (moves_weights()) {
        for (const std::size_t item : items)
            if (weights_.load(steps, {index, item}, item_bytes(index, item), certain))
                ++program_.counts.loads_on_demand;
        for (const std::size_t item : items) weights_.await(steps, {index, item});
    }
    if (with_common) {
        HostSteps common = stages_.common(index, 1);
        note_weights(common, index, {stage.router.branches});
        steps.insert(steps.end(), common.begin(), common.end());
    }
    std::vector<std::uint64_t> loads(stage.router.branches);
    for (const std::size_t branch : decision) loads[branch] = 1;
    RoutedSteps routed = stages_.branches(index, loads, 1, 1);
    ++program_.counts.decided_cells;
    program_.counts.routed_cells += routed.routed_cells;
    program_.counts.padded_cells += routed.padded_cells;
    note_weights(routed.steps, index, decision);
    steps.insert(steps.end(), routed.steps.begin(), routed.steps.end());
    return steps;
}

/// Which loads the kernels of these branches read.
void BatchCompiler::note_weights(HostSteps& steps, std::size_t index, const std::vector<std::size_t>& items) const {
    if (!mechanisms_.functional) return;
    for (HostStep& step : steps) {
        if (step.kind != HostStep::Kind::launch) continue;
        for (const std::size_t item : items)
            if (const auto loaded = weights_.loaded({index, item})) step.weights.push_back(*loaded);
    }
}

/// The decision is known, and what it wants is launched.
void BatchCompiler::release_weights(std::size_t index, const std::vector<std::size_t>& taken) {
    const std::size_t common = network_.stages[index].router.branches;
    for (std::size_t item = 0; moves_weights() && item <= common; ++item) {
        const WeightPlan::Item here{index, item};
        if (!weights_.present(here)) continue;
        if (item < common ? !contains(taken, item) : taken.empty()) ++program_.counts.loads_in_vain;
        // What is behind an open check may run again, and its loads are not done again.
        if (speculations_ > 0)
            kept_.emplace_back(speculations_, here);
        else
            weights_.unload(here);
    }
}

/// The next speculation begins when at most speculation_depth - 1 checks before it are open.
void BatchCompiler::unload_known() {
    const auto known = [&](const auto& kept) {
        return kept.first + mechanisms_.speculation_depth <= speculations_ + 1;
    };
    for (const auto& kept : kept_)
        if (known(kept)) weights_.unload(kept.second);
    kept_.erase(std::remove_if(kept_.begin(), kept_.end(), known), kept_.end());
}

/// Weights of the next router's predicted branches, right behind the decision of the one before.
void BatchCompiler::preload(std::size_t after) {
    if (mechanisms_.weights != "preloaded") return;
    for (std::size_t s = after; s < network_.stages.size(); ++s) {
        const Stage& stage = network_.stages[s];
        if (!stage.routed || profile_.reached(s) < 0.5) continue;
        if (preloaded_[s]) return;
        preloaded_[s] = true;
        const std::vector<std::size_t> predicted = profile_.predicted(s);
        HostSteps steps;
        for (const std::size_t branch : predicted) weights_.load(steps, {s, branch}, item_bytes(s, branch));
        if (!predicted.empty()) weights_.load(steps, {s, stage.router.branches}, item_bytes(s, stage.router.branches));
        append(0, std::move(steps));
        return;
    }
}

void BatchCompiler::decide(std::size_t index, const std::vector<std::size_t>& taken) {
    const Stage& stage = network_.stages[index];
    const std::vector<std::size_t> predicted = profile_.predicted(index);
    BatchProgram::Counts& counts = program_.counts;
    counts.decisions += stage.read_backs;
    const bool speculates =
        mechanisms_.speculative_routing && profile_.certainty(index) >= mechanisms_.speculation_certainty;
    if (speculates || moves_weights()) {
        counts.predicted += stage.read_backs;
        if (stage.router.kind == CellRouter::Kind::threshold) {
            for (std::size_t b = 0; b < stage.router.branches; ++b)
                counts.hits += contains(predicted, b) == contains(taken, b);
        } else {
            counts.hits += predicted == taken ? stage.read_backs : 0;
        }
    }
    preload(index);  // the first router has none before it
    if (!speculates) {
        append(0, check_steps(index, kMainQueue));
        add_profile(index, 0, stage.read_backs);
        preload(index + 1);
        HostSteps steps = branch_steps(index, taken, true);
        program_.kernels_with_weights += kernels_with_weights(steps);
        append(0, std::move(steps));
        release_weights(index, taken);
        return;
    }
    HostStep fork;
    fork.kind = HostStep::Kind::fork;
    fork.queue = kCheckQueue;
    append(0, {fork});
    add_profile(index, 0, stage.read_backs);
    preload(index + 1);
    Speculation speculation;
    speculation.hit = predicted == taken;
    speculation.ends = stage.last_branch >= 0 && contains(predicted, static_cast<std::size_t>(stage.last_branch));
    speculation.keeps = !taken.empty() && !predicted.empty() &&
                        (!stage.common.empty() || std::any_of(taken.begin(), taken.end(), [&](std::size_t branch) {
                            return contains(predicted, branch);
                        }));
    speculation.check = check_steps(index, kCheckQueue);
    unload_known();
    ++speculations_;
    speculation.predicted = branch_steps(index, predicted, true, false);
    // Branches that were predicted and are taken have their results; the others of the decision are missing.
    std::vector<std::size_t> missing;
    for (const std::size_t branch : taken)
        if (!contains(predicted, branch)) missing.push_back(branch);
    speculation.actual = branch_steps(index, missing, predicted.empty(), false);
    program_.kernels_with_weights += kernels_with_weights(speculation.actual);
    if (speculation.hit || speculation.keeps)
        program_.kernels_with_weights += kernels_with_weights(speculation.predicted);
    release_weights(index, taken);
    HostStep step;
    step.kind = HostStep::Kind::speculate;
    step.speculation = std::make_shared<const Speculation>(std::move(speculation));
    append(0, {step});
}

}  // namespace switchyard::sched::brainstorm
