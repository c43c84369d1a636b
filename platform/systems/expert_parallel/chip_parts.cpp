// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/expert_parallel/chip_parts.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "switchyard/platform/system/config_section.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/base/rounding.h"
#include "switchyard/sw_scheduler/brainstorm/router_placement.h"
#include "switchyard/sw_scheduler/workload/route_provider.h"

namespace switchyard::platform::expert_parallel {

using sched::brainstorm::DeviceRoutes;

namespace {

/// Cells by which a chip's room for cells is rounded up, so that micro-batches can divide it.
constexpr std::uint32_t kCapacityStep = 16;

sched::brainstorm::Placement placed(const std::string& workload, const ClusterConfig& config,
                                    const sched::brainstorm::ExpertParts& parts, std::size_t chips,
                                    const std::vector<DeviceRoutes>& profile) {
    if (!config.placement_file.empty())
        return sched::brainstorm::read_placement(config.placement_file, {{parts.router(), parts.experts()}}, chips)
            .front();
    if (config.placement == "block") return sched::brainstorm::block_placement(parts.experts(), chips);
    if (profile.empty())
        throw InputError(workload, 0, "routing",
                         fmt::format("has not enough batches for a profile of {} chips", chips));
    const std::vector<std::vector<std::uint64_t>> from = sched::brainstorm::cells_by_expert(profile, parts.experts());
    if (config.placement == "profile") return sched::brainstorm::annealed_router_placement(from);
    std::vector<std::uint64_t> cells(parts.experts());
    for (const auto& row : from)
        for (std::size_t e = 0; e < row.size(); ++e) cells[e] += row[e];
    return sched::brainstorm::placement_by_load(cells, chips, config.placement == "balanced");
}

/// Of the first batches of the routes that the model declares.
std::vector<DeviceRoutes> profile_batches(const sched::Model& model, std::size_t chips) {
    return sched::brainstorm::deal_batches(sched::declared_routing(model, kProfileBatches * chips), chips);
}

std::vector<BatchRouting> of_device(const std::vector<DeviceRoutes>& batches, std::size_t device) {
    std::vector<BatchRouting> own;
    own.reserve(batches.size());
    for (const DeviceRoutes& batch : batches) own.push_back(batch[device]);
    return own;
}

std::vector<BatchRouting> with_first_twice(std::vector<BatchRouting> batches) {
    batches.insert(batches.begin(), batches.front());
    return batches;
}

std::uint64_t weight_bytes(const std::string& model) {
    return sched::read_model(model).graph.total_weight_bytes();
}

}  // namespace

Point chip_point(const Point& point, const ExpertParallelConfig& config, const SystemDesign& design) {
    Point chip;
    chip.design = design.name;
    chip.workload = point.workload;
    chip.parameters = config.routed_parameters;
    if (design.reads_platform)
        chip.platform = config.chip_file;
    else
        chip.parameters[kFileParameter] = config.chip_file;
    // Keys of the design's own section are its parameters.
    const std::string own = design.section + ".";
    for (const auto& [key, value] : config.chip_overrides)
        if (!design.section.empty() && key.rfind(own, 0) == 0)
            chip.parameters[key.substr(own.size())] = value;
        else
            chip.overrides[key] = value;
    return chip;
}

DividedWork read_divided_work(const Point& point, const ExpertParallelConfig& config) {
    const std::size_t chips = config.links.devices;
    Point all = point;
    all.work.batches =
        (point.work.batches == 0 && point.work.trace.empty() ? sched::kGeneratedBatches : point.work.batches) * chips;
    all.work.first_batch *= chips;
    for (RoutePhase& phase : all.work.phases) phase.from_batch *= chips;
    NetworkWork read = read_network_work(all);
    DividedWork work{std::move(read.model), read.routes.source, {}, {}, {}, {}, {}};
    work.batches = sched::brainstorm::deal_batches(read.routes.batches, chips);
    if (work.batches.empty())
        throw InputError(point.workload, 0, "routing", fmt::format("has fewer than {} batches", chips));
    if (!config.divides()) return work;
    work.parts.emplace(point.workload, work.model);
    if (work.parts->experts() < chips)
        throw InputError(point.workload, work.parts->router_line(), "layers." + work.parts->router(),
                         fmt::format("has {} branches for {} chips", work.parts->experts(), chips));
    work.profile = profile_batches(work.model, chips);
    work.placement = placed(point.workload, config.cluster, *work.parts, chips, work.profile);
    for (std::size_t d = 0; d < chips; ++d) {
        std::uint64_t most = 1;
        for (const auto* batches : {&work.profile, &work.batches})
            for (const DeviceRoutes& batch : *batches)
                most = std::max(most, sched::brainstorm::arriving_cells(
                                          sched::brainstorm::cells_between(batch, work.placement), d));
        work.capacity.push_back(static_cast<std::uint32_t>(round_up(most, std::uint64_t{kCapacityStep})));
    }
    return work;
}

ChipParts::ChipParts(const Point& point, const ExpertParallelConfig& config, const SystemRegistry& chips,
                     const DividedWork& work)
    : chips_(chips), workload_(point.workload) {
    const std::size_t count = config.links.devices;
    Point chip = chip_point(point, config, chips.design(config.cluster.chip_design));
    if (!config.divides()) {
        chip.work = point.work;
        experts.resize(1);
        alone = add("alone", chip, work.model.graph.total_weight_bytes());
        return;
    }
    if (config.cluster.parts.empty())
        folder_ = scratch_.emplace("switchyard-parts").file("");
    else
        folder_ = config.cluster.parts + "/";
    chip.work.batches = work.batches.size() + 1;
    chip.work.batch_inputs = point.work.batch_inputs;
    const auto fixed_part = [&](const char* name, const sched::ModelLayers& layers) {
        Point part = chip;
        for (const auto& routed : config.routed_parameters) part.parameters.erase(routed.first);
        part.parameters.insert(config.chip_parameters.begin(), config.chip_parameters.end());
        part.workload = write_model(name, layers);
        return add(name, part, weight_bytes(part.workload));
    };
    front = fixed_part("front", work.parts->front());
    if (work.parts->back()) back = fixed_part("back", *work.parts->back());
    for (std::size_t d = 0; d < count; ++d) {
        experts.emplace_back();
        const std::vector<std::size_t> local = sched::brainstorm::experts_on(work.placement, d);
        if (local.empty()) continue;
        const std::string name = fmt::format("experts of chip {}", d);
        Point part = chip;
        part.workload = write_model(fmt::format("experts_{}", d), work.parts->on_device(local, work.capacity[d]));
        const auto routes = [&](const std::vector<DeviceRoutes>& batches) {
            std::vector<BatchRouting> own;
            own.reserve(batches.size());
            for (const DeviceRoutes& batch : batches)
                own.push_back(sched::brainstorm::routes_on_device(batch, work.placement, d, work.capacity[d]));
            return own;
        };
        part.work.batch_inputs = 0;
        part.work.trace =
            write_routes(fmt::format("experts_{}", d), sched::read_model(part.workload).graph.signatures(),
                         routes(work.profile), with_first_twice(routes(work.batches)));
        part.work.first_batch = kProfileBatches;
        experts.back() = add(name, part, weight_bytes(part.workload));
    }
    Point whole = chip;
    whole.work.batches = work.batches.size();
    whole.work.trace =
        write_routes("alone", work.model.graph.signatures(), of_device(work.profile, 0), of_device(work.batches, 0));
    whole.work.first_batch = kProfileBatches;
    alone = add("alone", whole, work.model.graph.total_weight_bytes());
}

std::size_t ChipParts::add(const std::string& name, Point point, std::uint64_t part_weights) {
    parts_.push_back(std::make_unique<ChipPart>());
    ChipPart& part = *parts_.back();
    part.name = name;
    part.point = std::move(point);
    part.weight_bytes = part_weights;
    try {
        part.plan = chips_.system_of_design(part.point.design).prepare(part.point);
    } catch (const Infeasible& error) {
        throw Infeasible(workload_, 0, name, error.what());
    } catch (const InputError& error) {
        if (part.point.workload == workload_) throw;
        throw InputError(workload_, 0, name, error.what());
    }
    return parts_.size() - 1;
}

std::string ChipParts::write_model(const std::string& name, const sched::ModelLayers& layers) const {
    std::string path = folder_ + name + ".yaml";
    write_files({{path, to_yaml(layers)}});
    return path;
}

std::string ChipParts::write_routes(const std::string& name, const std::vector<SwitchSignature>& switches,
                                    const std::vector<BatchRouting>& profile,
                                    const std::vector<BatchRouting>& batches) const {
    std::string path = folder_ + name + ".jsonl";
    if (profile.empty()) throw InputError(workload_, 0, "routing", "has not enough batches for a profile of all chips");
    // The profile of a chip's schedule is that of the first batches: a short one is repeated, lest the run be in it.
    std::vector<BatchRouting> all;
    for (std::size_t b = 0; b < kProfileBatches; ++b) all.push_back(profile[b % profile.size()]);
    all.insert(all.end(), batches.begin(), batches.end());
    make_folder_of(path);
    write_trace(path, switches, all);
    return path;
}

}  // namespace switchyard::platform::expert_parallel
