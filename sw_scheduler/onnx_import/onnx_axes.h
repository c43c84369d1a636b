// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace switchyard::sched {

/// `axis` counted from the front, or nothing if a tensor of `rank` dimensions has no such axis.
std::optional<std::size_t> axis_of(std::int64_t axis, std::size_t rank);

/// All of `axes` counted from the front, or nothing if one is missing in a tensor of `rank` dimensions or occurs twice.
std::optional<std::set<std::size_t>> axes_of(const std::vector<std::int64_t>& axes, std::size_t rank);

/// "its NAME: expected an axis from -4 to 3, found 7", where axis_of() has found nothing.
std::string no_axis(const std::string& name, std::int64_t axis, std::size_t rank);

/// "its NAME: ..." with all axes, where axes_of() has found nothing.
std::string no_axes(const std::string& name, const std::vector<std::int64_t>& axes, std::size_t rank);

/// `at` of Slice and Shape in an axis of `size` elements: counted from the front, and not outside of the axis.
std::int64_t bound_of(std::int64_t at, std::int64_t size);

}  // namespace switchyard::sched
