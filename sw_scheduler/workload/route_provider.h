// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/workload/model_reader.h"
#include "switchyard/sw_scheduler/workload/routing.h"
#include "switchyard/sw_scheduler/workload/trace.h"

namespace switchyard::sched {

inline constexpr const char* kGenerator = "generator";  ///< RoutingSource::kind of routes that depend on a seed

/// Where the routes of a run come from; a report says it.
struct RoutingSource {
    std::string kind;        ///< "trace", kGenerator, "none" (the network has no switch), or what a system says
    std::uint64_t seed = 0;  ///< of a generator
};

/// Routes of consecutive batches, the first one first.
struct Routes {
    std::vector<BatchRouting> batches;
    RoutingSource source;
};

/// From batch `from_batch` on, routes come from `distribution`.
struct DistributionPhase {
    std::size_t from_batch = 0;
    RouteDistribution distribution;
};

/// Which routes a run wants. A trace wins over phases, phases win over the distribution from their first batch on.
struct RouteRequest {
    std::string file;  ///< that declares the network, for messages
    std::vector<SwitchSignature> switches;
    std::uint32_t batch_samples = 0;
    std::string trace;  ///< recorded routes; empty: generated ones
    std::optional<RouteDistribution> distribution;
    std::vector<DistributionPhase> phases;  ///< by increasing `from_batch`
    std::optional<std::uint64_t> seed;      ///< of all generators; without effect on a trace
    std::size_t batches = 0;                ///< 0: all of the trace, or kGeneratedBatches
    /// Number of the first batch: of a trace, those before it are left out; a generator begins with it. Phases count
    /// from here.
    std::size_t first_batch = 0;
};

inline constexpr std::size_t kGeneratedBatches = 40;

/// What the model's file declares, with its own batch size.
RouteRequest declared_routes(const Model& model);

/// The only provider of routes, recorded and generated. Throws InputError: a trace that is not the network's or has
/// fewer batches than wanted, a network with switches and neither trace nor distribution.
Routes provide_routes(const RouteRequest& request);

/// The batches that the file declares: those of its trace (at most `batches`), or `batches` generated ones. Throws
/// InputError if the trace does not match the model or the file declares no routing.
std::vector<BatchRouting> declared_routing(const Model& model, std::size_t batches);

}  // namespace switchyard::sched
