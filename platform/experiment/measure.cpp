// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/experiment/measure.h"

#include <nlohmann/json.hpp>

namespace switchyard::platform {

using nlohmann::ordered_json;

namespace {

/// The nodes under a key with dots; lists on the way count element by element.
void collect(const ordered_json& node, const std::string& key, std::vector<const ordered_json*>& found) {
    if (node.is_array()) {
        for (const ordered_json& element : node) collect(element, key, found);
        return;
    }
    if (key.empty()) {
        found.push_back(&node);
        return;
    }
    const std::size_t dot = key.find('.');
    const auto member = node.is_object() ? node.find(key.substr(0, dot)) : node.end();
    if (member != node.end()) collect(*member, dot == std::string::npos ? "" : key.substr(dot + 1), found);
}

}  // namespace

std::vector<double> numbers_at(const ordered_json& report, const std::string& key) {
    std::vector<const ordered_json*> nodes;
    collect(report, key, nodes);
    std::vector<double> numbers;
    for (const ordered_json* node : nodes) {
        if (!node->is_number()) return {};
        numbers.push_back(node->get<double>());
    }
    return numbers;
}

std::vector<std::pair<std::string, double>> parts_at(const ordered_json& report, const std::string& key) {
    std::vector<const ordered_json*> nodes;
    collect(report, key, nodes);
    std::vector<std::pair<std::string, double>> parts;
    if (nodes.size() != 1 || !nodes.front()->is_object()) return {};
    for (const auto& [name, value] : nodes.front()->items()) {
        if (!value.is_number()) return {};
        parts.emplace_back(name, value.get<double>());
    }
    return parts;
}

bool is_true_at(const ordered_json& report, const std::string& key) {
    std::vector<const ordered_json*> nodes;
    collect(report, key, nodes);
    return nodes.size() == 1 && nodes.front()->is_boolean() && nodes.front()->get<bool>();
}

}  // namespace switchyard::platform
