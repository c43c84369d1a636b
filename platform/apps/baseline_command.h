// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "switchyard/platform/apps/command_line.h"
#include "switchyard/platform/report.h"
#include "switchyard/sw_scheduler/workload/model_reader.h"
#include "switchyard/sw_scheduler/workload/trace.h"

namespace switchyard::platform {

/// Names of the designs that are modelled, not simulated.
inline constexpr const char* kGpuBaseline = "gpu";
inline constexpr const char* kTenantBaseline = "m-tenant";

/// Routes for a model: the first `batches` of `trace` if that is given, otherwise what the model file declares, its
/// generator with `seed` if there is one. 0 batches: all of a trace, 40 of a generator or of a model without switches.
/// `source` says which it was. Throws InputError, also if a trace has fewer batches.
std::vector<BatchRouting> routes_of(const sched::Model& model, const std::string& trace, std::size_t batches,
                                    const std::optional<std::uint64_t>& seed, RoutingSource& source);

/// `sy-sim baseline`: docs/cli.md.
struct BaselineCommand {
    PlatformOptions platform;
    std::string name, model, tenant, trace, report;
    std::size_t batches = 0;
    std::optional<std::uint64_t> seed;

    void add_to(CLI::App& app);
    /// The exit status; false checks make it 1.
    int run() const;
};

}  // namespace switchyard::platform
