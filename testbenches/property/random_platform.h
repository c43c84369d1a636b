// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/base/random_source.h"
#include "switchyard/testbenches/property/random_network.h"

namespace switchyard::testing {

/// Keys of docs/platform_keys.md and their values; those that are left out have their defaults.
using PlatformSettings = std::map<std::string, std::string>;

/// A chip whose every key that concerns timing may be drawn: most from where chips lie, some from the whole documented
/// range. read_platform() may still refuse the combination.
PlatformSettings random_platform(RandomSource& random, PairSize size);

/// The keys that random_platform() draws.
std::vector<std::string> drawn_keys();

/// A platform file with these settings, all sections in it.
std::string platform_yaml(const PlatformSettings& settings);

}  // namespace switchyard::testing
