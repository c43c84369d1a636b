// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <yaml-cpp/yaml.h>

#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::sched {

/// Values of a template's placeholders: `<c>`, `<i-1>`.
using Variables = std::map<std::string, std::string>;

/// Reads one mapping of a model file, key by key. Whatever is missing, of the wrong type, out of range, given twice or
/// not asked for before finish() is an InputError "file:line: prefix.key: message".
class MappingReader {
public:
    /// `prefix`: "layers.block0". Scalars have the placeholders in `variables` replaced.
    MappingReader(const YAML::Node& mapping, std::string file, std::string prefix, Variables variables = {});

    /// A key that was asked for is a known one.
    bool has(const std::string& key) {
        seen_.insert(key);
        return nodes_.count(key) != 0;
    }
    std::string text(const std::string& key);
    std::string text_or(const std::string& key, const std::string& fallback);
    std::string choice_or(const std::string& key, const std::vector<std::string>& choices);  ///< default: the first
    std::uint64_t integer(const std::string& key, std::uint64_t low, std::uint64_t high);
    std::uint64_t integer_or(const std::string& key, std::uint64_t low, std::uint64_t high, std::uint64_t fallback);
    double number_or(const std::string& key, double low, double high, double fallback);
    std::vector<double> numbers(const std::string& key, double low, double high);
    /// One text or a list of them.
    std::vector<std::string> texts(const std::string& key);
    /// The mapping under `key`, prefix extended.
    MappingReader mapping(const std::string& key);
    /// The raw node; its scalars have no placeholders replaced.
    YAML::Node node(const std::string& key);
    /// The elements of the list under `key`.
    std::vector<YAML::Node> list(const std::string& key);

    const std::map<std::string, YAML::Node>& nodes() const { return nodes_; }
    /// The keys that the mapping may have beside those that were asked for. Called first, so that a misspelt key is
    /// named as such and not only as the one that is missing.
    void allow(const std::vector<std::string>& keys) const;
    /// What was not asked for is unknown.
    void finish() const;

    std::string scalar(const YAML::Node& node, const std::string& key) const;
    int line() const { return line_; }
    int line_of_key(const std::string& key) const;  ///< of the mapping if the key is not there
    const std::string& file() const { return file_; }
    void rename(std::string prefix) { prefix_ = std::move(prefix); }
    [[noreturn]] void fail(const std::string& key, const std::string& message) const;

private:
    const YAML::Node& require(const std::string& key);
    double to_number(const YAML::Node& node, const std::string& key, double low, double high) const;
    std::string full_key(const std::string& key) const;
    void refuse_all_but(const std::set<std::string>& known) const;

    std::map<std::string, YAML::Node> nodes_;
    std::map<std::string, int> lines_;
    std::string file_, prefix_;
    Variables variables_;
    int line_ = 0;
    std::set<std::string> seen_;
};

}  // namespace switchyard::sched
