// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/system/network_work.h"

#include <optional>
#include <utility>

namespace switchyard::platform {

namespace {

sched::RouteDistribution distribution_of(const RoutePhase& phase, const sched::DynGraph& graph) {
    std::optional<sched::RouteDistribution> found =
        sched::read_routing(phase.routing, graph.signatures(), graph.samples_per_input).distribution;
    if (!found) phase.routing.fail("trace", "expected a distribution in a phase, found a trace");
    return *found;
}

}  // namespace

NetworkWork read_network_work(const Point& point) {
    const Work& work = point.work;
    NetworkWork result{sched::read_model(point.workload), {}};
    sched::Model& model = result.model;
    if (work.batch_inputs > 0) model.graph.batch_inputs = work.batch_inputs;

    // Profiles that a scheduler works with are of the routes with which the run begins.
    if (!work.trace.empty()) model.routing = {work.trace, std::nullopt};
    if (!work.phases.empty() && work.phases.front().from_batch == 0)
        model.routing = {"", distribution_of(work.phases.front(), model.graph)};

    sched::RouteRequest request = sched::declared_routes(model);
    request.seed = work.seed;
    request.batches = work.batches;
    request.first_batch = work.first_batch;
    for (const RoutePhase& phase : work.phases)
        if (phase.from_batch > 0) request.phases.push_back({phase.from_batch, distribution_of(phase, model.graph)});
    result.routes = sched::provide_routes(request);
    return result;
}

}  // namespace switchyard::platform
