// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/base/config.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/base/plain_number.h"
#include "switchyard/sw_scheduler/base/shown.h"
#include "switchyard/sw_scheduler/base/suggestion.h"
#include "switchyard/sw_scheduler/base/yaml_check.h"

namespace switchyard {

namespace {

std::string to_text(double value) {
    return value == std::floor(value) && std::abs(value) < 1e15 ? fmt::format("{:.0f}", value)
                                                                : fmt::format("{:g}", value);
}

std::string range_text(double low, double high) {
    return to_text(low) + " to " + to_text(high);
}

/// Units stand at the end of a key's name; " in bytes per cycle" for "link_bytes_per_cycle", "" for a plain count.
std::string unit_of(const std::string& key) {
    static const std::pair<const char*, const char*> kUnits[] = {
        {"bytes_per_cycle", "bytes per cycle"},
        {"bytes_per_second", "bytes per second"},
        {"pj_per_bit", "pJ per bit"},
        {"pj_per_byte", "pJ per byte"},
        {"pj_per_mac", "pJ per multiply-accumulate"},
        {"bytes", "bytes"},
        {"cycles", "cycles"},
        {"samples", "samples"},
        {"ghz", "GHz"},
        {"mhz", "MHz"},
        {"hz", "Hz"},
        {"ns", "ns"},
        {"ps", "ps"},
        {"pj", "pJ"},
        {"mw", "mW"},
        {"watts", "W"},
        {"percent", "percent"},
        {"gbps", "GB/s"},
    };
    for (const auto& [name, unit] : kUnits) {
        const std::string suffix = name;
        const bool ends =
            key.size() >= suffix.size() && key.compare(key.size() - suffix.size(), suffix.size(), suffix) == 0;
        if (ends && (key.size() == suffix.size() || key[key.size() - suffix.size() - 1] == '_'))
            return std::string(" in ") + unit;
    }
    return {};
}

}  // namespace

int line_of(const YAML::Node& node) {
    if (!node.IsDefined()) return 0;
    return node.Mark().is_null() ? 0 : node.Mark().line + 1;
}

std::string kind_of(const YAML::Node& node) {
    if (node.IsScalar()) return shown(node.Scalar());
    return node.IsSequence() ? "a list" : node.IsMap() ? "a mapping" : "nothing";
}

std::string key_table(const std::vector<KeyDescription>& keys) {
    std::string text = "| key | type | default | range | meaning |\n| --- | --- | --- | --- | --- |\n";
    for (const KeyDescription& key : keys) {
        std::string type = key.type;
        for (std::size_t at = type.find('|'); at != std::string::npos; at = type.find('|', at + 2))
            type.insert(at, "\\");
        text += fmt::format("| `{}` | {} | {} | {} | {} |\n", key.key, type, key.default_value, key.range, key.text);
    }
    return text;
}

YAML::Node parse_yaml(const std::string& text, const std::string& name) {
    const std::string plain = plain_yaml(text, name);
    check_yaml(plain, name);
    return YAML::Load(plain);
}

YAML::Node load_yaml(const std::string& path) {
    return parse_yaml(read_file(path, kMaxTextBytes), path);
}

ConfigReader::ConfigReader(const YAML::Node& section, std::string file, std::string prefix,
                           std::map<std::string, std::string>* overrides, std::vector<KeyDescription>* keys)
    : file_(std::move(file)), prefix_(std::move(prefix)), overrides_(overrides), keys_(keys) {
    if (!section.IsDefined() || section.IsNull()) return;
    if (!section.IsMap())
        throw InputError(file_, line_of(section), prefix_, "expected a mapping of keys, found " + kind_of(section));
    section_.reset(section);
    std::set<std::string> names;
    for (const auto& item : section_) {
        if (!item.first.IsScalar())
            throw InputError(file_, line_of(item.first), prefix_,
                             "expected text as a key, found " + kind_of(item.first));
        if (!names.insert(item.first.Scalar()).second)
            throw InputError(file_, line_of(item.first), full_name(item.first.Scalar()),
                             "expected the key once, found it twice");
    }
}

std::string ConfigReader::full_name(const std::string& key) const {
    return prefix_.empty() ? key : prefix_ + "." + key;
}

void ConfigReader::fail(const char* key, const Setting& setting, const std::string& message) const {
    throw InputError(setting.file, setting.line, full_name(key), message);
}

ConfigReader::Setting ConfigReader::lookup(const char* key) {
    seen_.insert(key);
    if (overrides_) {
        if (const auto found = overrides_->find(full_name(key)); found != overrides_->end()) {
            Setting setting{YAML::Node(found->second), "--set", 0};
            overrides_->erase(found);
            return setting;
        }
    }
    for (const auto& item : section_)
        if (item.first.Scalar() == key) return {item.second, file_, line_of(item.first)};
    return {YAML::Node(YAML::NodeType::Undefined), file_, 0};
}

template <class T>
void ConfigReader::read_number(const char* key, T& value, double low, double high, const char* type, const char* text) {
    if (keys_) document(key, type, to_text(static_cast<double>(value)), range_text(low, high), text);
    const Setting setting = lookup(key);
    if (!setting.value.IsDefined()) return;
    T number{};
    const Parsed parsed =
        setting.value.IsScalar() ? parse_plain_number(setting.value.Scalar(), number) : Parsed::malformed;
    if (parsed == Parsed::malformed)
        fail(key, setting,
             std::string("expected a plain ") + type + unit_of(key) + ", found " + kind_of(setting.value));
    const auto size = static_cast<double>(number);
    if (parsed == Parsed::out_of_range || size < low || size > high)
        fail(key, setting, "expected " + range_text(low, high) + unit_of(key) + ", found " + setting.value.Scalar());
    value = number;
}

void ConfigReader::field(const char* key, unsigned& value, double low, double high, const char* text) {
    read_number(key, value, low, high, "integer", text);
}

void ConfigReader::field(const char* key, std::uint64_t& value, double low, double high, const char* text) {
    read_number(key, value, low, high, "integer", text);
}

void ConfigReader::field(const char* key, double& value, double low, double high, const char* text) {
    read_number(key, value, low, high, "number", text);
}

void ConfigReader::field(const char* key, bool& value, const char* text) {
    document(key, "yes/no", value ? "yes" : "no", "", text);
    const Setting setting = lookup(key);
    if (!setting.value.IsDefined()) return;
    if (!setting.value.IsScalar() || !YAML::convert<bool>::decode(setting.value, value))
        fail(key, setting, "expected yes or no, found " + kind_of(setting.value));
}

void ConfigReader::field(const char* key, std::string& value, const char* text) {
    document(key, "text", value, "", text);
    const Setting setting = lookup(key);
    if (!setting.value.IsDefined()) return;
    if (!setting.value.IsScalar()) fail(key, setting, "expected text, found " + kind_of(setting.value));
    value = setting.value.Scalar();
}

void ConfigReader::choice(const char* key, std::string& value, const std::vector<std::string>& choices,
                          const char* text) {
    document(key, fmt::format("choice({})", fmt::join(choices, "|")), value, "", text);
    const Setting setting = lookup(key);
    if (!setting.value.IsDefined()) return;
    const bool known =
        setting.value.IsScalar() && std::find(choices.begin(), choices.end(), setting.value.Scalar()) != choices.end();
    if (!known)
        fail(key, setting,
             fmt::format("expected one of {}, found {}", fmt::join(choices, ", "), kind_of(setting.value)));
    value = setting.value.Scalar();
}

void ConfigReader::renamed(const char* earlier, const char* key) {
    const Setting setting = lookup(earlier);
    seen_.erase(earlier);
    if (setting.value.IsDefined())
        fail(earlier, setting, fmt::format("expected the key {}, found its earlier name", full_name(key)));
}

void ConfigReader::finish() const {
    for (const auto& item : section_) {
        const std::string& key = item.first.Scalar();
        if (seen_.count(key) == 0)
            throw InputError(file_, line_of(item.first), full_name(key), not_one_of(key, {seen_.begin(), seen_.end()}));
    }
}

void ConfigReader::document(const char* key, const std::string& type, const std::string& value,
                            const std::string& range, const char* text) {
    if (keys_) keys_->push_back({full_name(key), type, value, range, text});
}

}  // namespace switchyard
