// SPDX-License-Identifier: Apache-2.0
#pragma once

// The factories of a chip's blocks that know every implementation of this build.
#if defined(SWITCHYARD_RTL)
#include "switchyard/rtl/dispatcher/make_kernel_dispatcher.h"
#include "switchyard/rtl/network_interface/make_routing_blocks.h"
#include "switchyard/rtl/pe_array/make_pe_array.h"
#include "switchyard/rtl/router/make_network.h"
namespace switchyard::platform {
namespace blocks = rtl;
}
#else
#include "switchyard/hw/dispatcher/dispatcher.h"
#include "switchyard/hw/network_interface/routing_blocks.h"
#include "switchyard/hw/noc/network.h"
#include "switchyard/hw/pe_array/pe_array.h"
namespace switchyard::platform {
namespace blocks = hw;
}
#endif
