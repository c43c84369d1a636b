// SPDX-License-Identifier: Apache-2.0
#include "switchyard/rtl/dispatcher/make_kernel_dispatcher.h"

#include "switchyard/rtl/dispatcher/lockstep_dispatcher.h"
#include "switchyard/rtl/dispatcher/rtl_dispatcher.h"

namespace switchyard::rtl {

std::unique_ptr<hw::KernelDispatcher> make_kernel_dispatcher(const char* name,
                                                             const hw::KernelDispatcher::Config& config,
                                                             SimulationRegistry& registry) {
    if (config.impl == "rtl") return std::make_unique<RtlDispatcher>(name, config, registry);
    if (config.impl == "lockstep") return std::make_unique<LockstepDispatcher>(name, config, registry);
    return hw::make_kernel_dispatcher(name, config, registry);
}

}  // namespace switchyard::rtl
