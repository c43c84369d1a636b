// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "switchyard/hw/scheduling_window/scheduling_window.h"
#include "switchyard/platform/gpu/gpu_platform.h"
#include "switchyard/platform/systems/ace/gpu_energy.h"
#include "switchyard/sw_scheduler/ace/runtime.h"
#include "switchyard/sw_scheduler/base/config.h"

namespace switchyard::platform::ace {

/// How the designs run, besides the hardware.
struct RunConfig {
    unsigned streams = 8;
    std::string dependences = "all_hazards";
    std::string prepared = "workload";
    bool functional = false;
    unsigned kernel_scale = 1;
    double watchdog_us = 1e6;
};

template <class V>
void describe(V& v, RunConfig& c) {
    v.field("streams", c.streams, 1, 128, "streams of multi-stream, graph and ACE-SW, which has a thread for each");
    v.choice("dependences", c.dependences, {"all_hazards", "as_printed"},
             "which dependences are looked for: all three hazards, or those of Algorithm 1 as printed");
    v.choice(
        "prepared", c.prepared, {"workload", "yes", "no"},
        "whether plan and graph are there before an input: as the workload says, for static networks; always; never");
    v.field("functional", c.functional, "kernels transform the bytes of their segments; the result is compared");
    v.field("kernel_scale", c.kernel_scale, 1, 64,
            "factor of the CTAs, work and bytes of every kernel: the same graph of larger kernels");
    v.field("watchdog_us", c.watchdog_us, 1, 1e9, "the run ends with an error when no kernel completes for so long");
}

/// A GPU with its host, as a platform file with `system: ace` describes it.
struct AceConfig {
    GpuPlatform gpu;
    hw::SchedulingWindow::Config window;
    sched::ace::HostCosts host;
    RunConfig run;
    GpuEnergyConfig energy;
};

/// `gpu_file` names the file of the GPU (configs/gpus), relative to this one. An empty `path`: the defaults. Overrides
/// "section.key" win over both files. Throws InputError, also for an override of a key that is none.
AceConfig read_ace_config(const std::string& path, std::map<std::string, std::string> overrides);

/// Of the sections besides the GPU's (docs/gpu_keys.md).
std::vector<KeyDescription> ace_keys();

}  // namespace switchyard::platform::ace
