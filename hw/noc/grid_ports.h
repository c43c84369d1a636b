// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace switchyard::hw {

/// Where a packet leaves a router of a grid: x grows to the east, y to the south; routers are numbered row by row.
/// From `kLocal` on: one port an endpoint.
namespace port {
inline constexpr unsigned kNorth = 0, kEast = 1, kSouth = 2, kWest = 3, kLocal = 4;
}

}  // namespace switchyard::hw
