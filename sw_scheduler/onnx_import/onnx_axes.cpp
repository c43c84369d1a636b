// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/onnx_import/onnx_axes.h"

#include <algorithm>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/onnx_import/onnx_graph.h"

namespace switchyard::sched {

namespace {

std::string axes_from_to(std::size_t rank) {
    return rank == 0 ? "none, as a number has no axis" : fmt::format("from -{} to {}", rank, rank - 1);
}

}  // namespace

std::optional<std::size_t> axis_of(std::int64_t axis, std::size_t rank) {
    if (axis < 0 && axis >= -static_cast<std::int64_t>(rank)) axis += static_cast<std::int64_t>(rank);
    if (axis < 0 || axis >= static_cast<std::int64_t>(rank)) return std::nullopt;
    return static_cast<std::size_t>(axis);
}

std::optional<std::set<std::size_t>> axes_of(const std::vector<std::int64_t>& axes, std::size_t rank) {
    std::set<std::size_t> found;
    for (const std::int64_t one : axes) {
        const std::optional<std::size_t> axis = axis_of(one, rank);
        if (!axis || !found.insert(*axis).second) return std::nullopt;
    }
    return found;
}

std::string no_axis(const std::string& name, std::int64_t axis, std::size_t rank) {
    return fmt::format("its {}: expected an axis {}, found {}", name, axes_from_to(rank), axis);
}

std::string no_axes(const std::string& name, const std::vector<std::int64_t>& axes, std::size_t rank) {
    return fmt::format("its {}: expected different axes {}, found {}", name, axes_from_to(rank), listed(axes));
}

std::int64_t bound_of(std::int64_t at, std::int64_t size) {
    return std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size);
}

}  // namespace switchyard::sched
