// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/image/segment_order.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

namespace switchyard {

std::vector<std::uint32_t> ordered_samples(const SegmentOrder& order,
                                           const std::vector<std::vector<std::uint64_t>>& masks) {
    std::vector<std::vector<std::uint64_t>> reached(masks);
    const std::size_t all = masks.empty() ? order.samples : masks.front().size() / order.samples * order.samples;
    for (std::size_t i = 0; i < order.keys.size(); ++i) {
        const SegmentOrder::Key& key = order.keys[i];
        if (all == 0 || masks.at(i).size() < all)
            throw std::invalid_argument(fmt::format("ordered_samples: expected masks of {} samples or more, found {}",
                                                    std::max<std::size_t>(all, 1), masks.at(i).size()));
        if (key.outer == kNone) continue;
        for (std::uint32_t id = 0; id < all; ++id) {
            if ((reached.at(key.outer)[id] >> key.outer_branch & 1U) == 0) reached[i][id] = 0;
        }
    }
    std::vector<std::uint32_t> ids(all);
    std::iota(ids.begin(), ids.end(), 0);
    for (auto first = ids.begin(); first != ids.end(); first += order.samples) {
        std::stable_sort(first, first + order.samples, [&reached](std::uint32_t a, std::uint32_t b) {
            for (const std::vector<std::uint64_t>& mask : reached) {
                if (mask[a] != mask[b]) return mask[a] < mask[b];
            }
            return false;
        });
    }
    return ids;
}

std::vector<SampleSet> units_of(const std::vector<std::uint32_t>& ordered, std::uint32_t unit_samples) {
    std::vector<SampleSet> units;
    for (std::size_t first = 0; first < ordered.size(); first += unit_samples) {
        const auto begin = ordered.begin() + static_cast<std::ptrdiff_t>(first);
        const std::size_t count = std::min<std::size_t>(unit_samples, ordered.size() - first);
        std::vector<std::uint32_t> ids(begin, begin + static_cast<std::ptrdiff_t>(count));
        std::sort(ids.begin(), ids.end());
        units.emplace_back(std::move(ids));
    }
    return units;
}

}  // namespace switchyard
