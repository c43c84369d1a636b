// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "switchyard/platform/system/network_work.h"
#include "switchyard/platform/system/system_registry.h"
#include "switchyard/platform/systems/expert_parallel/expert_parallel_config.h"
#include "switchyard/sw_scheduler/base/scratch_folder.h"
#include "switchyard/sw_scheduler/brainstorm/expert_exchange.h"
#include "switchyard/sw_scheduler/brainstorm/expert_parts.h"
#include "switchyard/sw_scheduler/workload/model_reader.h"

namespace switchyard::platform::expert_parallel {

/// Batches of which a schedule's and a placement's profile consists, as of the chip alone (platform/systems/adyna).
constexpr std::size_t kProfileBatches = 40;

/// The network, its parts, and its batches.
struct DividedWork {
    sched::Model model;
    sched::RoutingSource source;
    std::vector<sched::brainstorm::DeviceRoutes> profile, batches;  ///< by chip; undivided: `batches` alone
    std::optional<sched::brainstorm::ExpertParts> parts;            ///< nothing: undivided
    std::vector<sched::brainstorm::Placement> placement;            ///< device of each expert, by layer of experts
    std::vector<std::vector<std::uint32_t>> capacity;  ///< [layer][chip] cells that its experts have room for
};

/// Throws InputError: a network that cannot be divided, a placement file that breaks a constraint.
DividedWork read_divided_work(const Point& point, const ExpertParallelConfig& config);

/// One network that a chip runs by itself, prepared.
struct ChipPart {
    std::string name;  ///< "front", "experts of chip 2", "middle 1", "ROUTER of chip 2", "back", "alone"
    Point point;
    std::unique_ptr<Plan> plan;
    std::uint64_t weight_bytes = 0;
};

/// The parts of all chips as model files and traces, which the chips' system reads as any others; or the whole network.
class ChipParts {
public:
    /// A part runs the first batch twice, the first time with its weights in HBM: what that takes longer is the time to
    /// load them. In a joint simulation it does so before the batches that count. The whole network does not.
    /// `chips`: the systems that a chip may be of. Throws InputError, Infeasible: what the
    /// chips' system says of a part.
    ChipParts(const Point& point, const ExpertParallelConfig& config, const SystemRegistry& chips,
              const DividedWork& work);

    const std::vector<std::unique_ptr<ChipPart>>& parts() const { return parts_; }
    /// Indices in parts(); nothing if there is no such part.
    std::vector<std::optional<std::size_t>> between;               ///< ExpertParts::between()
    std::vector<std::vector<std::optional<std::size_t>>> experts;  ///< by layer of experts and chip
    std::size_t alone = 0;  ///< the whole network, with the batches of the first chip

private:
    std::size_t add(const std::string& name, Point point, std::uint64_t weight_bytes);
    void add_experts(const Point& chip, const DividedWork& work, std::size_t layer);
    std::string write_model(const std::string& name, const sched::ModelLayers& layers) const;
    std::string write_routes(const std::string& name, const std::vector<SwitchSignature>& switches,
                             const std::vector<BatchRouting>& profile, const std::vector<BatchRouting>& batches) const;

    const SystemRegistry& chips_;
    std::string workload_;
    std::size_t warm_up_;  ///< batches of a part in front of the run's
    std::optional<ScratchFolder> scratch_;
    std::string folder_;
    std::vector<std::unique_ptr<ChipPart>> parts_;
};

/// A chip's point: the design, platform and parameters of a network with experts, without work.
Point chip_point(const Point& point, const ExpertParallelConfig& config, const SystemDesign& design);

}  // namespace switchyard::platform::expert_parallel
