// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/apps/run_command.h"

#include <CLI/CLI.hpp>

#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::platform {

void RunCommand::add_to(CLI::App& app) {
    work.add_to(app);
    image.add_to(app);
    workload.add_to(app);
}

int RunCommand::run(const SystemRegistry& registry) const {
    const bool of_image = work.given.has("image"), of_workload = work.given.has("workload");
    if (of_image == of_workload)
        throw InputError("run", 0, "",
                         of_image ? "expected --image or --workload, found both; leave one of them out"
                                  : "expected --image or --workload, found neither; name a kernel image, or a workload "
                                    "with --design");
    work.given.refuse_group(of_image ? WorkloadRun::kGroup : ImageRun::kGroup,
                            of_image ? "goes with --workload" : "goes with --image");
    return of_image ? image.run(work) : workload.run(work, registry);
}

}  // namespace switchyard::platform
