// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "switchyard/platform/system/system_registry.h"

namespace switchyard::platform {

/// Every system of this build, one for each switchyard_system() of platform/systems/CMakeLists.txt, and the components
/// that can be run under synthetic traffic.
SystemRegistry all_systems();

}  // namespace switchyard::platform
