// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "switchyard/platform/experiment/sweep.h"

namespace switchyard::platform {

/// The page of a sweep: all of its rows in the store, one file of HTML (system/page.h). Throws InputError if the store
/// does not have the sweep.
std::string sweep_page(const Sweep& sweep, const std::string& store);

}  // namespace switchyard::platform
