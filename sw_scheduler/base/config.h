// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <yaml-cpp/yaml.h>

#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard {

/// One key of a configuration as its component describes it; docs/platform_keys.md is printed from these.
struct KeyDescription {
    std::string key;   ///< "noc.link_bytes_per_cycle"
    std::string type;  ///< "integer", "number", "text", "choice(a|b)", "yes/no"
    std::string default_value;
    std::string range;
    std::string text;
};

/// A Markdown table of keys, one line each.
std::string key_table(const std::vector<KeyDescription>& keys);

/// Visits the fields of a Config struct: reads them from YAML, or lists them. A Config has one free function
///   template <class V> void describe(V& v, Config& c) { v.field("rows", c.rows, 1, 1024, "PE rows"); ... }
/// so that reading, overriding and documentation cannot drift apart.
class ConfigReader {
public:
    /// `section`: the mapping to read (may be absent: defaults), `prefix`: "noc". Overrides ("noc.vcs" -> "4") win over
    /// the file; each is marked used when its key is described.
    ConfigReader(const YAML::Node& section, std::string file, std::string prefix,
                 std::map<std::string, std::string>* overrides = nullptr, std::vector<KeyDescription>* keys = nullptr);

    void field(const char* key, unsigned& value, double low, double high, const char* text);
    void field(const char* key, std::uint64_t& value, double low, double high, const char* text);
    void field(const char* key, double& value, double low, double high, const char* text);
    void field(const char* key, bool& value, const char* text);
    void field(const char* key, std::string& value, const char* text);
    /// One of `choices`.
    void choice(const char* key, std::string& value, const std::vector<std::string>& choices, const char* text);
    /// An earlier name of `key`: throws InputError that gives the present one if the file or an override has it.
    void renamed(const char* earlier, const char* key);

    /// Throws InputError for the first key of the section that no field described, with its line.
    void finish() const;

private:
    struct Setting {
        YAML::Node value;  ///< undefined if neither the file nor an override gives the key
        std::string file;  ///< "--set" for an override
        int line = 0;
    };
    Setting lookup(const char* key);
    std::string full_name(const std::string& key) const;
    [[noreturn]] void fail(const char* key, const Setting& setting, const std::string& message) const;
    template <class T>
    void read_number(const char* key, T& value, double low, double high, const char* type, const char* text);
    void document(const char* key, const std::string& type, const std::string& value, const std::string& range,
                  const char* text);

    YAML::Node section_;
    std::string file_, prefix_;
    std::map<std::string, std::string>* overrides_;
    std::vector<KeyDescription>* keys_;
    std::set<std::string> seen_;
};

/// YAML::LoadFile with yaml-cpp's exceptions turned into InputError (file and line).
YAML::Node load_yaml(const std::string& path);
/// The same for a text; `name` stands for the file.
YAML::Node parse_yaml(const std::string& text, const std::string& name);
/// 1-based line of a node, 0 if unknown.
int line_of(const YAML::Node& node);
/// What a node is, for a message: its text in quotes, "a list", "a mapping", "nothing".
std::string kind_of(const YAML::Node& node);

}  // namespace switchyard
