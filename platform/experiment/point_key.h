// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "switchyard/platform/system/system_registry.h"

namespace switchyard::platform {

/// A name-based UUID (SHA-1, RFC 4122) of these bytes, 36 characters.
std::string content_hash(const std::string& bytes);

/// Of this program: of its executable, so that another build is another version. Throws InputError if it cannot be
/// read.
std::string program_hash();

/// Design, overrides, parameters and work of a point: what the caller has chosen. Files by their names.
nlohmann::ordered_json configuration_of(const Point& point);

/// Keys of points: a hash of configuration, of the contents of the files that checking it reads (network, platform,
/// memory devices) and of the version. Names of files do not count.
class PointKeys {
public:
    PointKeys(const SystemRegistry& registry, std::string version)
        : registry_(registry), version_(std::move(version)) {}

    struct Key {
        std::string hash;
        std::string error{};  ///< why the point cannot run, if reading its files says so
    };
    Key of(const Point& point);
    /// "" if the file cannot be read. Each file is read once.
    const std::string& file_hash(const std::string& path);
    const std::string& version() const { return version_; }

private:
    const SystemRegistry& registry_;
    std::string version_;
    std::map<std::string, std::string> hashes_;
};

}  // namespace switchyard::platform
