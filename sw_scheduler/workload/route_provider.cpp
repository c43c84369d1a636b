// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/workload/route_provider.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::sched {

namespace {

Routes recorded(const RouteRequest& request) {
    const std::size_t wanted = request.batches == 0 ? 0 : request.first_batch + request.batches;
    Routes routes{read_trace(request.trace, request.switches, request.batch_samples, wanted), {"trace"}};
    const std::size_t needed = request.first_batch + std::max<std::size_t>(request.batches, 1);
    if (routes.batches.size() < needed)
        throw InputError(request.trace, 0, "batches",
                         fmt::format("expected {} batches or more, found {}", needed, routes.batches.size()));
    routes.batches.erase(routes.batches.begin(),
                         routes.batches.begin() + static_cast<std::ptrdiff_t>(request.first_batch));
    return routes;
}

[[noreturn]] void refuse_undeclared(const RouteRequest& request) {
    throw InputError(
        request.file, 0, "routing",
        "expected a trace or a distribution, found neither; give a trace, or declare one of them in the model");
}

Routes generated(const RouteRequest& request, std::size_t batches) {
    std::vector<RouteGenerator> generators;
    std::vector<std::size_t> begins;
    const auto add = [&](std::size_t from_batch, RouteDistribution distribution) {
        if (request.seed) distribution.seed = *request.seed;
        generators.emplace_back(std::move(distribution), request.switches, request.batch_samples);
        begins.push_back(from_batch);
    };
    const bool from_begin = !request.phases.empty() && request.phases.front().from_batch == 0;
    const RouteDistribution& first = from_begin ? request.phases.front().distribution : *request.distribution;
    add(0, first);
    for (const DistributionPhase& phase : request.phases)
        if (phase.from_batch > 0) add(phase.from_batch, phase.distribution);

    Routes routes{{}, {kGenerator, request.seed.value_or(first.seed)}};
    for (std::size_t batch = 0; batch < batches; ++batch) {
        const auto next = std::upper_bound(begins.begin(), begins.end(), batch);
        routes.batches.push_back(
            generators[static_cast<std::size_t>(next - begins.begin()) - 1].batch(request.first_batch + batch));
    }
    return routes;
}

}  // namespace

RouteRequest declared_routes(const Model& model) {
    RouteRequest request;
    request.file = model.graph.file;
    request.switches = model.graph.signatures();
    request.batch_samples = model.graph.batch_samples();
    request.trace = model.routing.trace;
    request.distribution = model.routing.distribution;
    return request;
}

Routes provide_routes(const RouteRequest& request) {
    const std::size_t batches = request.batches == 0 ? kGeneratedBatches : request.batches;
    if (!request.trace.empty() && !request.phases.empty())
        throw InputError(request.file, 0, "routing",
                         "expected a distribution for the phases, found the trace " + request.trace);
    if (!request.trace.empty()) return recorded(request);
    if (request.switches.empty())
        return {std::vector<BatchRouting>(batches, BatchRouting{request.batch_samples, {}}), {"none"}};
    const bool declared = request.distribution || (!request.phases.empty() && request.phases.front().from_batch == 0);
    if (!declared) refuse_undeclared(request);
    return generated(request, batches);
}

std::vector<BatchRouting> declared_routing(const Model& model, std::size_t batches) {
    const RouteRequest request = declared_routes(model);
    if (!request.trace.empty()) return read_trace(request.trace, request.switches, request.batch_samples, batches);
    if (!request.distribution) refuse_undeclared(request);
    return generated(request, batches).batches;
}

}  // namespace switchyard::sched
