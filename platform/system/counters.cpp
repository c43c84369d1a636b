// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/system/counters.h"

#include <algorithm>
#include <cctype>

namespace switchyard::platform {

namespace {

/// "tile_3" -> "tile".
std::string_view without_number(std::string_view element) {
    const std::size_t underscore = element.rfind('_');
    if (underscore == std::string_view::npos || underscore + 1 == element.size()) return element;
    const bool numbered = std::all_of(element.begin() + underscore + 1, element.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
    return numbered ? element.substr(0, underscore) : element;
}

bool has_element(std::string_view path, std::string_view wanted) {
    while (!path.empty()) {
        const std::size_t dot = std::min(path.find('.'), path.size());
        const std::string_view element = path.substr(0, dot);
        if (element == wanted || without_number(element) == wanted) return true;
        path.remove_prefix(std::min(dot + 1, path.size()));
    }
    return false;
}

std::string second_element(const std::string& path) {
    const std::size_t begin = path.find('.');
    if (begin == std::string::npos) return path;
    return path.substr(begin + 1, path.find('.', begin + 1) - begin - 1);
}

}  // namespace

Counters::Counters(const SimulationRegistry& registry) {
    entries_.reserve(registry.counters().size());
    for (const SimulationRegistry::Counter& counter : registry.counters())
        entries_.push_back({counter.module, counter.name, counter.read()});
}

Counters Counters::since(const Counters& earlier) const {
    Counters result = *this;
    for (std::size_t i = 0; i < earlier.entries_.size(); ++i) result.entries_[i].value -= earlier.entries_[i].value;
    return result;
}

Counters Counters::of(std::string_view element) const {
    Counters result;
    for (const Entry& entry : entries_)
        if (has_element(entry.module, element)) result.entries_.push_back(entry);
    return result;
}

double Counters::sum(std::string_view name) const {
    double total = 0;
    for (const Entry& entry : entries_)
        if (entry.name == name) total += entry.value;
    return total;
}

double Counters::max(std::string_view name) const {
    double largest = 0;
    for (const Entry& entry : entries_)
        if (entry.name == name) largest = std::max(largest, entry.value);
    return largest;
}

std::map<std::string, double> Counters::totals() const {
    std::map<std::string, double> sums;
    for (const Entry& entry : entries_) {
        if (entry.name.rfind("endpoint_", 0) == 0) continue;  // of one link, by the number at its end
        const std::string_view module = std::string_view(entry.module).substr(entry.module.rfind('.') + 1);
        sums[std::string(without_number(module)) + "." + entry.name] += entry.value;
    }
    return sums;
}

std::vector<std::pair<std::string, Counters>> Counters::by_place() const {
    std::vector<std::pair<std::string, Counters>> places;
    for (const Entry& entry : entries_) {
        const std::string place = second_element(entry.module);
        auto found = std::find_if(places.begin(), places.end(), [&place](const auto& p) { return p.first == place; });
        if (found == places.end()) found = places.emplace(places.end(), place, Counters());
        found->second.entries_.push_back(entry);
    }
    return places;
}

}  // namespace switchyard::platform
