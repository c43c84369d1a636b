// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/onnx_import/node_reader.h"

#include <fmt/format.h>

namespace switchyard::sched {

namespace {

/// The attribute's value, whatever type it has.
std::string value_of(const OnnxAttribute& attribute) {
    if (attribute.graph) return "a graph";
    if (attribute.tensor) return "a tensor " + listed(attribute.tensor->dims);
    if (!attribute.integers.empty()) return listed(attribute.integers);
    if (!attribute.numbers.empty()) return fmt::format("{} numbers", attribute.numbers.size());
    if (!attribute.text.empty()) return shown(attribute.text);
    return attribute.number != 0 ? fmt::format("{}", attribute.number) : std::to_string(attribute.integer);
}

}  // namespace

const OnnxAttribute* NodeReader::find(const std::string& key) {
    attributes_.insert(key);
    return node_.find(key);
}

std::int64_t NodeReader::integer(const std::string& key) {
    const OnnxAttribute* const found = find(key);
    return found == nullptr ? 0 : found->integer;
}

double NodeReader::number(const std::string& key) {
    const OnnxAttribute* const found = find(key);
    return found == nullptr ? 0 : static_cast<double>(found->number);
}

std::string NodeReader::text(const std::string& key) {
    const OnnxAttribute* const found = find(key);
    return found == nullptr ? "" : found->text;
}

std::optional<std::vector<std::int64_t>> NodeReader::integers(const std::string& key) {
    const OnnxAttribute* const found = find(key);
    if (found == nullptr) return std::nullopt;
    return found->integers;
}

std::string NodeReader::input(std::size_t index) {
    inputs_.insert(index);
    return node_.input(index);
}

void NodeReader::ignore_attributes() {
    for (const auto& [key, attribute] : node_.attributes) attributes_.insert(key);
}

void NodeReader::finish() const {
    for (const auto& [key, attribute] : node_.attributes)
        if (!attribute.is_default && attributes_.count(key) == 0)
            throw NotImportable(
                fmt::format("its attribute {}: expected none, or ONNX's default, found {}; export it without",
                            shown(key), value_of(attribute)));
    for (std::size_t i = 0; i < node_.inputs.size(); ++i)
        if (!node_.inputs[i].empty() && inputs_.count(i) == 0)
            throw NotImportable(
                fmt::format("its input {}: expected none, found {}; export it without", i, shown(node_.inputs[i])));
}

}  // namespace switchyard::sched
