// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/experiment/used_keys.h"

#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::platform {

void UsedKeys::add(const Place& place, const std::string& refusal) {
    const auto [entry, is_new] = refusals_.emplace(place, refusal);
    if (!is_new && refusal.empty()) entry->second.clear();
}

void UsedKeys::check(const std::string& file) const {
    for (const auto& [place, refusal] : refusals_)
        if (!refusal.empty()) throw InputError(file, place.line, place.key, refusal);
}

void add_work(UsedKeys& used, const Point& point, const SystemRegistry& registry, const UsedKeys::Place& network,
              const UsedKeys::Place& design) {
    for (const WorkKey key : keys_of(point.work)) {
        UsedKeys::Place place;
        if (key == WorkKey::trace || key == WorkKey::phases) place = network;
        if (key == WorkKey::batch_size) place = design;
        place.key += (place.key.empty() ? "" : ": ") + std::string(name_of(key));
        used.add(place, registry.refusal(point.design, key));
    }
}

}  // namespace switchyard::platform
