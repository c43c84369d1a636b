// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/pe_array/block_operands.h"

#include <algorithm>

#include "switchyard/hw/numerics/vector_kernels.h"

namespace switchyard::hw {
namespace {

bool same(const KernelAddresses::Step& a, const KernelAddresses::Step& b) {
    return a.input == b.input && a.weights == b.weights && a.y == b.y && a.x == b.x;
}

}  // namespace

bool OperandRegion::load(OperandMemory& memory) {
    const std::int64_t first = std::max<std::int64_t>(addresses_.first, 0);  // windows begin in the padding
    std::size_t count = 0;
    if (!addresses_.empty()) {
        count = static_cast<std::size_t>(std::max(addresses_.last, first) - first) / 2 + 1;
        if (read_.size() < count) read_.resize(count);
        count = memory.load(static_cast<std::uint64_t>(first), read_.data(), count);
    }
    if (first == first_ && count == count_ && std::equal(read_.data(), read_.data() + count, bits_.data()))
        return false;
    first_ = first;
    count_ = count;
    bits_.swap(read_);
    if (values_.size() < count) values_.resize(count);
    numerics::vector_kernels().widen(values_.data(), bits_.data(), count);
    return true;
}

bool ReductionSteps::read(const KernelAddresses& from) {
    kernel = &from;
    if (rows_ == from.rows && columns_ == from.columns &&
        std::equal(from.steps.begin(), from.steps.end(), steps_.begin(), steps_.end(), same))
        return false;
    *this = {};
    kernel = &from;
    steps_ = from.steps;
    rows_ = from.rows;
    columns_ = from.columns;
    elements.reserve(from.steps.size());
    weight_elements.reserve(from.steps.size());
    for (const KernelAddresses::Step& step : from.steps) {
        inputs.include(step.input);
        weights.include(step.weights);
        y.include(step.y);
        x.include(step.x);
        elements.push_back(step.input / 2);
        weight_elements.push_back(step.weights / 2);
        planes.include(plane_of(step));
        planar = planar && plane_bytes() > 0 && plane_of(step) % plane_bytes() == 0;
    }
    return true;
}

}  // namespace switchyard::hw
