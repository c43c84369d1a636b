// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/system/counters.h"

#include <algorithm>
#include <cctype>
#include <unordered_map>

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
    auto names = std::make_shared<Names>();
    std::unordered_map<std::string, std::uint32_t> modules;
    const auto index_of = [](auto& known, std::vector<std::string>& list, const std::string& name) {
        const auto [found, is_new] = known.try_emplace(name, static_cast<std::uint32_t>(list.size()));
        if (is_new) list.push_back(name);
        return found->second;
    };
    // Modules of a kind register the same counters in the same order. So the next name is most often the one that came
    // next when the last name was there before.
    std::vector<std::uint32_t> followers;  ///< by number of a name: that of the next one
    std::uint32_t last = 0;
    const auto number_of = [&](const std::string& name) {
        if (last < followers.size() && names->counters[followers[last]] == name) return last = followers[last];
        const std::uint32_t number = index_of(names->number_of_counter, names->counters, name);
        followers.resize(names->counters.size());
        followers[last] = number;
        return last = number;
    };
    entries_.reserve(registry.counters().size());
    for (const SimulationRegistry::Counter& counter : registry.counters()) {
        // A module registers its counters one after another.
        const bool same = !entries_.empty() && names->modules[entries_.back().module] == counter.module;
        const std::uint32_t module = same ? entries_.back().module : index_of(modules, names->modules, counter.module);
        entries_.push_back({module, number_of(counter.name), counter.read()});
    }
    names_ = std::move(names);
}

Counters Counters::with_names() const {
    Counters result;
    result.names_ = names_;
    return result;
}

Counters Counters::since(const Counters& earlier) const {
    Counters result = *this;
    for (std::size_t i = 0; i < earlier.entries_.size(); ++i) result.entries_[i].value -= earlier.entries_[i].value;
    return result;
}

Counters Counters::of(std::string_view element) const {
    Counters result = with_names();
    const std::vector<std::string>& modules = names_->modules;
    std::size_t module = modules.size();
    bool wanted = false;
    for (const Entry& entry : entries_) {
        if (entry.module != module) {
            module = entry.module;
            wanted = has_element(modules[module], element);
        }
        if (wanted) result.entries_.push_back(entry);
    }
    return result;
}

template <class F>
void Counters::each(std::string_view name, F&& visit) const {
    const auto found = names_->number_of_counter.find(name);
    if (found == names_->number_of_counter.end()) return;
    for (const Entry& entry : entries_)
        if (entry.counter == found->second) visit(entry.value);
}

double Counters::sum(std::string_view name) const {
    double total = 0;
    each(name, [&](double value) { total += value; });
    return total;
}

double Counters::max(std::string_view name) const {
    double largest = 0;
    each(name, [&](double value) { largest = std::max(largest, value); });
    return largest;
}

std::map<std::string, double> Counters::totals() const {
    std::map<std::pair<std::string_view, std::uint32_t>, double> sums;  // by kind and counter
    for (const Entry& entry : entries_) {
        if (names_->counters[entry.counter].rfind("endpoint_", 0) == 0)
            continue;  // of one link, by the number at its end
        const std::string_view module = names_->modules[entry.module];
        sums[{without_number(module.substr(module.rfind('.') + 1)), entry.counter}] += entry.value;
    }
    std::map<std::string, double> named;
    for (const auto& [key, value] : sums) named[std::string(key.first) + "." + names_->counters[key.second]] += value;
    return named;
}

std::vector<std::pair<std::string, Counters>> Counters::by_place() const {
    std::vector<std::pair<std::string, Counters>> places;
    std::unordered_map<std::string, std::size_t> known;
    std::size_t module = names_->modules.size(), place = 0;
    for (const Entry& entry : entries_) {
        if (entry.module != module) {
            module = entry.module;
            const auto [found, is_new] = known.try_emplace(second_element(names_->modules[module]), places.size());
            if (is_new) places.emplace_back(found->first, with_names());
            place = found->second;
        }
        places[place].second.entries_.push_back(entry);
    }
    return places;
}

}  // namespace switchyard::platform
