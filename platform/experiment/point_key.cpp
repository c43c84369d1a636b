// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/experiment/point_key.h"

#include <filesystem>
#include <utility>
#include <vector>

#include <yaml-cpp/yaml.h>
#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/uuid.hpp>
#include <boost/uuid/uuid_io.hpp>
#include <nlohmann/json.hpp>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/base/json_text.h"
#include "switchyard/sw_scheduler/base/read_files.h"

namespace switchyard::platform {

using nlohmann::ordered_json;

std::string content_hash(const std::string& bytes) {
    const boost::uuids::name_generator_sha1 generator(boost::uuids::ns::oid());
    return boost::uuids::to_string(generator(bytes.data(), bytes.size()));
}

std::string program_hash() {
    return content_hash(read_file("/proc/self/exe", kMaxArrayBytes));
}

ordered_json configuration_of(const Point& point) {
    ordered_json work = {{"batches", point.work.batches},
                         {"first_batch", point.work.first_batch},
                         {"batch_inputs", point.work.batch_inputs},
                         {"trace", point.work.trace}};
    if (point.work.seed) work["seed"] = *point.work.seed;
    for (const RoutePhase& phase : point.work.phases) {
        ordered_json routing = ordered_json::object();
        for (const auto& [key, node] : phase.routing.nodes()) routing[key] = YAML::Dump(node);
        work["phases"].push_back({{"from_batch", phase.from_batch}, {"routing", routing}});
    }
    return {{"design", point.design},       {"workload", point.workload},     {"platform", point.platform},
            {"overrides", point.overrides}, {"parameters", point.parameters}, {"work", work}};
}

const std::string& PointKeys::file_hash(const std::string& path) {
    const auto found = hashes_.find(path);
    if (found != hashes_.end()) return found->second;
    std::string hash;
    try {
        hash = content_hash(read_file(path, kMaxArrayBytes));
    } catch (const InputError&) {
        // No hash is another one than that of any contents.
    }
    return hashes_.emplace(path, std::move(hash)).first->second;
}

PointKeys::Key PointKeys::of(const Point& point) {
    Key key;
    const ReadFiles read;
    try {
        const System& system = registry_.system_of_design(point.design);
        system.check_parameters(point);
        if (!system.makes_its_load()) {
            system.check_workload(point);
            system.check_platform(point);
        }
    } catch (const InputError& error) {
        key.error = error.what();
    }
    std::set<std::string> paths = read.paths();
    for (const std::string& path : {point.workload, point.platform, point.work.trace})
        if (!path.empty()) paths.insert(path);
    std::multiset<std::string> contents;
    for (const std::string& path : paths) contents.insert(file_hash(path));

    ordered_json identity = configuration_of(point);
    identity["workload"] = point.workload.empty() ? "" : file_hash(point.workload);
    identity["platform"] = point.platform.empty() ? "" : file_hash(point.platform);
    identity["work"]["trace"] = point.work.trace.empty() ? "" : file_hash(point.work.trace);
    identity["inputs"] = contents;
    identity["version"] = version_;
    key.hash = content_hash(json_text(identity));
    return key;
}

}  // namespace switchyard::platform
