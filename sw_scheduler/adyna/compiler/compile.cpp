// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/compiler/compile.h"

#include <optional>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/adyna/compiler/image_builder.h"
#include "switchyard/sw_scheduler/adyna/compiler/reduction_slices.h"
#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::sched {

namespace {

/// Without a profile: every branch of an exclusive switch is as likely as the others, every other branch always taken.
std::vector<double> uniform_fractions(const DynGraph& graph) {
    std::vector<double> fractions;
    for (const Operator& one : graph.operators) {
        double share = 1;
        for (const BranchStep& step : one.path) {
            const Switch& around = graph.switches[step.switch_id];
            if (around.exclusive) share /= around.branches;
        }
        fractions.push_back(share);
    }
    return fractions;
}

void check_sampling(const Design& design, const CompileOptions& options, const DynGraph& graph) {
    if (options.sampling == Sampling::uniform) return;
    const char* const sampling = options.sampling == Sampling::profile ? "profile" : "optimal";
    if (!design.has(Mechanism::resampling))
        throw InputError(
            fmt::format("design {}: expected sampling uniform, found {}; take uniform, or a design that samples "
                        "kernels from a profile",
                        design.name(), sampling));
    if (options.profile == nullptr)
        throw InputError(
            graph.file, 0, graph.name,
            fmt::format("expected a profile for sampling {}, found none; give one, or declare routing", sampling));
}

/// Tensors in HBM are cut by 16 bits of sample ids.
void check_batches(const DynGraph& graph) {
    constexpr std::uint64_t kLargest = 0xFFFF;
    const std::uint64_t samples = std::uint64_t{graph.batch_samples()} * graph.batches_in_flight;
    if (samples > kLargest)
        throw Infeasible(graph.file, 0, "batch",
                         fmt::format("expected at most {} samples in flight, found {} in {} batches; take smaller "
                                     "batches",
                                     kLargest, samples, graph.batches_in_flight));
}

}  // namespace

bool resamples(const std::string& design) {
    return find_design(design).has(Mechanism::resampling);
}

std::vector<std::string> design_names() {
    std::vector<std::string> names;
    for (const Design& design : designs()) names.push_back(design.name());
    return names;
}

Image compile(const DynGraph& network, const HardwareDescription& hardware, const CompileOptions& options) {
    DynGraph graph = network;
    graph.batches_in_flight = options.batches_in_flight;
    const Design design =
        find_design(options.design).without(options.without).invoking(options.invocation).routing(options.routing);
    check_sampling(design, options, graph);
    hardware.check();
    if (graph.operators.empty())
        throw InputError(graph.file, 0, graph.name, "expected one operator or more, found none; add a layer");
    if (options.tiles > hardware.tiles())
        throw InputError(fmt::format("{}: expected at most the {} tiles of the chip, found {}; give fewer tiles",
                                     hardware.name, hardware.tiles(), options.tiles));
    check_batches(graph);
    // Where every sample takes every branch, a profile of routes says nothing.
    const Profile* expected = design.has(Mechanism::routing) ? options.profile : nullptr;
    std::vector<double> fractions = worst_case_fractions(graph);
    if (design.has(Mechanism::frequency_weighting) && design.has(Mechanism::routing))
        fractions = expected ? expected_fractions(*expected) : uniform_fractions(graph);
    const unsigned tiles = options.tiles > 0 ? options.tiles : hardware.tiles();
    const SlicedGraph cut =
        sliced(graph, useful_slices(graph, hardware, fractions, tiles, options.unit_samples, options.margins, design),
               hardware.wide_partial_sums);
    const auto of_cut = [&cut](const Profile* profile) {
        std::optional<Profile> result;
        if (profile == nullptr) return result;
        result = *profile;
        result->operators = cut.of(result->operators);
        return result;
    };
    const std::optional<Profile> profile = of_cut(expected), sampled = of_cut(expected ? options.sampled : nullptr);
    Workload workload(cut.graph, hardware, cut.of(fractions));
    for (std::size_t op = 0; op < cut.partial.size() && !design.has(Mechanism::pipelining); ++op) {
        if (cut.partial[op] != 0) workload.keep_with_next(static_cast<int>(op));  // the slices are one operator still
    }
    KernelChoice choice;
    if (profile) choice = {options.sampling, sampled ? &*sampled : &*profile};
    const Schedule schedule = make_schedule(workload, hardware, design, profile ? &*profile : nullptr, choice, tiles,
                                            options.unit_samples, options.margins);
    Image image = build_image(schedule, workload, hardware, design);
    image.meta.without = options.without;
    image.meta.routing = kSampleRoutings[static_cast<std::size_t>(options.routing)];
    image.meta.invocation = kInvocations[static_cast<std::size_t>(options.invocation)];
    for (std::size_t op = 0; op < cut.partial.size(); ++op) image.meta.operators[op].partial = cut.partial[op] != 0;
    return image;
}

}  // namespace switchyard::sched
