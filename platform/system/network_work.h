// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "switchyard/platform/system/system.h"
#include "switchyard/sw_scheduler/workload/model_reader.h"
#include "switchyard/sw_scheduler/workload/route_provider.h"

namespace switchyard::platform {

/// A point whose workload is a model file: the network and the routes of all its batches.
struct NetworkWork {
    sched::Model model;  ///< with the routes that the point declares in place of the file's
    sched::Routes routes;
};

/// Throws InputError: a bad model, a trace that does not fit it or is too short, a network without routes.
NetworkWork read_network_work(const Point& point);

}  // namespace switchyard::platform
