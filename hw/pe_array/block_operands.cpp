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
    if (std::equal(from.steps.begin(), from.steps.end(), steps_.begin(), steps_.end(), same)) return false;
    *this = {};
    kernel = &from;
    steps_ = from.steps;
    elements.reserve(from.steps.size());
    weight_elements.reserve(from.steps.size());
    for (const KernelAddresses::Step& step : from.steps) {
        inputs.include(step.input);
        weights.include(step.weights);
        y.include(step.y);
        x.include(step.x);
        auto place = std::find_if(places.begin(), places.end(),
                                  [&step](const Place& one) { return one.y == step.y && one.x == step.x; });
        if (place == places.end()) place = places.insert(place, {step.y, step.x, {}});
        rising = rising && (place->steps.empty() || elements[place->steps.back()] <= step.input / 2);
        place->steps.push_back(static_cast<std::uint32_t>(elements.size()));
        elements.push_back(step.input / 2);
        weight_elements.push_back(step.weights / 2);
    }
    for (Place& place : places) find_strides(place);
    return true;
}

void ReductionSteps::find_strides(Place& place) const {
    const std::vector<std::uint32_t>& of = place.steps;
    if (of.size() < 2) return;
    const std::uint32_t steps = of[1] - of[0];
    const std::int32_t distance = elements[of[1]] - elements[of[0]];
    for (std::size_t i = 2; i < of.size(); ++i)
        if (of[i] - of[i - 1] != steps || elements[of[i]] - elements[of[i - 1]] != distance) return;
    place.step_stride = steps;
    place.element_stride = distance;
}

}  // namespace switchyard::hw
