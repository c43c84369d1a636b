// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/expert_parallel/chip_parts.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "switchyard/platform/system/config_section.h"
#include "switchyard/platform/systems/expert_parallel/placed_part.h"
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

using sched::brainstorm::ExpertLayer;
using sched::brainstorm::Placement;

Placement placed(const std::string& workload, const ClusterConfig& config, const ExpertLayer& layer, std::size_t chips,
                 const std::vector<DeviceRoutes>& profile) {
    if (config.placement == "block") return sched::brainstorm::block_placement(layer.experts(), chips);
    if (profile.empty())
        throw InputError(workload, 0, "routing",
                         fmt::format("expected a batch or more for a profile of {} chips, found none", chips));
    const std::vector<std::vector<std::uint64_t>> from =
        sched::brainstorm::cells_by_expert(profile, layer.experts(), layer.switch_id);
    if (config.placement == "profile") return sched::brainstorm::annealed_router_placement(from);
    std::vector<std::uint64_t> cells(layer.experts());
    for (const auto& row : from)
        for (std::size_t e = 0; e < row.size(); ++e) cells[e] += row[e];
    return sched::brainstorm::placement_by_load(cells, chips, config.placement == "balanced");
}

/// Of all layers of experts.
std::vector<Placement> placements(const std::string& workload, const ClusterConfig& config,
                                  const std::vector<ExpertLayer>& layers, std::size_t chips,
                                  const std::vector<DeviceRoutes>& profile) {
    if (!config.placement_file.empty()) {
        std::vector<sched::brainstorm::PlacedRouter> routers;
        routers.reserve(layers.size());
        for (const ExpertLayer& layer : layers) routers.push_back({layer.router.name, layer.experts()});
        return sched::brainstorm::read_placement(config.placement_file, routers, chips);
    }
    std::vector<Placement> all;
    all.reserve(layers.size());
    for (const ExpertLayer& layer : layers) all.push_back(placed(workload, config, layer, chips, profile));
    return all;
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

/// The first batch `times` more often.
std::vector<BatchRouting> with_warm_up(std::vector<BatchRouting> batches, std::size_t times) {
    batches.insert(batches.begin(), times, BatchRouting(batches.front()));
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
        throw InputError(
            point.workload, 0, "routing",
            fmt::format("expected {} batches or more, one for each chip, found {}", chips, read.routes.batches.size()));
    if (!config.divides()) return work;
    // Before its routes are asked for: whether it can be divided.
    work.parts.emplace(point.workload, work.model);
    work.profile = profile_batches(work.model, chips);
    std::vector<std::size_t> results;
    for (std::size_t id = 0; id < work.model.graph.switches.size(); ++id)
        results.push_back(std::max(sched::brainstorm::max_experts(work.profile, id),
                                   sched::brainstorm::max_experts(work.batches, id)));
    work.parts.emplace(point.workload, work.model, results);
    const std::vector<ExpertLayer>& layers = work.parts->layers();
    for (const ExpertLayer& layer : layers)
        if (layer.experts() < chips)
            throw InputError(
                point.workload, layer.router.line, layer.router.key(),
                fmt::format("expected a branch or more for each of {} chips, found {}", chips, layer.experts()));
    work.placement = placements(point.workload, config.cluster, layers, chips, work.profile);
    for (std::size_t i = 0; i < layers.size(); ++i) {
        work.capacity.emplace_back();
        for (std::size_t d = 0; d < chips; ++d) {
            std::uint64_t most = 1;
            for (const auto* batches : {&work.profile, &work.batches})
                for (const DeviceRoutes& batch : *batches)
                    most = std::max(
                        most, sched::brainstorm::arriving_cells(
                                  sched::brainstorm::cells_between(batch, work.placement[i], layers[i].switch_id), d));
            work.capacity.back().push_back(static_cast<std::uint32_t>(round_up(most, std::uint64_t{kCapacityStep})));
        }
    }
    return work;
}

ChipParts::ChipParts(const Point& point, const ExpertParallelConfig& config, const SystemRegistry& chips,
                     const DividedWork& work)
    : chips_(chips), workload_(point.workload), warm_up_(config.cluster.joint() ? kWarmUpBatches : 1) {
    Point chip = chip_point(point, config, chips.design(config.cluster.chip_design));
    if (!config.divides()) {
        chip.work = point.work;
        alone = add("alone", chip, work.model.graph.total_weight_bytes());
        return;
    }
    if (config.cluster.parts.empty())
        folder_ = scratch_.emplace("switchyard-parts").file("");
    else
        folder_ = config.cluster.parts + "/";
    chip.work.batches = work.batches.size() + warm_up_;
    chip.work.batch_inputs = point.work.batch_inputs;
    const std::vector<std::optional<sched::ModelLayers>>& layers = work.parts->between();
    for (std::size_t i = 0; i < layers.size(); ++i) {
        between.emplace_back();
        if (!layers[i]) continue;
        const std::string name = i == 0                   ? std::string("front")
                                 : i + 1 == layers.size() ? std::string("back")
                                                          : fmt::format("middle {}", i);
        Point part = chip;
        for (const auto& routed : config.routed_parameters) part.parameters.erase(routed.first);
        part.parameters.insert(config.chip_parameters.begin(), config.chip_parameters.end());
        std::string file = name;
        std::replace(file.begin(), file.end(), ' ', '_');
        part.workload = write_model(file, *layers[i]);
        between.back() = add(name, part, weight_bytes(part.workload));
    }
    for (std::size_t i = 0; i < work.parts->layers().size(); ++i) add_experts(chip, work, i);
    Point whole = chip;
    whole.work.batches = work.batches.size();
    whole.work.trace =
        write_routes("alone", work.model.graph.signatures(), of_device(work.profile, 0), of_device(work.batches, 0));
    whole.work.first_batch = kProfileBatches;
    alone = add("alone", whole, work.model.graph.total_weight_bytes());
}

void ChipParts::add_experts(const Point& chip, const DividedWork& work, std::size_t layer) {
    const ExpertLayer& of = work.parts->layers()[layer];
    const std::string all = work.parts->layers().size() == 1 ? "experts" : of.router.name;
    const Placement& placement = work.placement[layer];
    experts.emplace_back();
    for (std::size_t d = 0; d < work.capacity[layer].size(); ++d) {
        const std::uint32_t capacity = work.capacity[layer][d];
        experts.back().emplace_back();
        const std::vector<std::size_t> local = sched::brainstorm::experts_on(placement, d);
        if (local.empty()) continue;
        const std::string file = fmt::format("{}_{}", all, d);
        Point part = chip;
        part.workload = write_model(file, work.parts->on_device(layer, local, capacity));
        const auto routes = [&](const std::vector<DeviceRoutes>& batches) {
            std::vector<BatchRouting> own;
            own.reserve(batches.size());
            for (const DeviceRoutes& batch : batches)
                own.push_back(sched::brainstorm::routes_on_device(batch, placement, d, capacity, of.switch_id));
            return own;
        };
        part.work.batch_inputs = 0;
        part.work.trace = write_routes(file, sched::read_model(part.workload).graph.signatures(), routes(work.profile),
                                       with_warm_up(routes(work.batches), warm_up_));
        part.work.first_batch = kProfileBatches;
        experts.back().back() = add(fmt::format("{} of chip {}", all, d), part, weight_bytes(part.workload));
    }
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
    if (profile.empty())
        throw InputError(workload_, 0, "routing", "expected a batch or more for a profile of all chips, found none");
    // The profile of a chip's schedule is that of the first batches: a short one is repeated, lest the run be in it.
    std::vector<BatchRouting> all;
    for (std::size_t b = 0; b < kProfileBatches; ++b) all.push_back(profile[b % profile.size()]);
    all.insert(all.end(), batches.begin(), batches.end());
    make_folder_of(path);
    write_trace(path, switches, all);
    return path;
}

}  // namespace switchyard::platform::expert_parallel
