// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/expert_parallel/expert_parallel_config.h"

#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "switchyard/platform/system/platform_sections.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/words.h"

namespace switchyard::platform::expert_parallel {

template <class Visit>
void for_each_section(ExpertParallelConfig& config, Visit visit) {
    visit("cluster", config.cluster);
    visit("links", config.links);
}

namespace {

std::string beside(const std::string& path, const std::string& file) {
    return (std::filesystem::path(path).parent_path() / file).lexically_normal().string();
}

/// `pairs` with those of the text.
std::map<std::string, std::string> with_pairs(std::map<std::string, std::string> pairs, const std::string& path,
                                              const char* key, const std::string& text) {
    for (const std::string& word : words_of(text)) {
        const std::size_t sign = word.find('=');
        if (sign == 0 || sign == std::string::npos)
            throw InputError(path, 0, key, fmt::format("expected key=value, found \"{}\"", word));
        pairs[word.substr(0, sign)] = word.substr(sign + 1);
    }
    return pairs;
}

}  // namespace

ExpertParallelConfig read_expert_parallel_config(const std::string& path,
                                                 std::map<std::string, std::string> overrides) {
    if (path.empty())
        throw InputError("", 0, "platform", "expected a platform file, found none; give one with --platform");
    ExpertParallelConfig config;
    const std::set<std::string> own = section_names<ExpertParallelConfig>();
    const YAML::Node file = load_sections(path, {"expert_parallel", own, {"chip_file"}, {"chip_file"}});
    for (auto it = overrides.begin(); it != overrides.end();) {
        if (own.count(it->first.substr(0, it->first.find('.'))) != 0) {
            ++it;
            continue;
        }
        config.chip_overrides.insert(*it);
        it = overrides.erase(it);
    }
    read_sections(file, path, overrides, config);
    refuse_left_overrides(overrides, names_of(expert_parallel_keys()));
    config.chip_file = beside(path, section_text(file, "chip_file"));
    if (!config.cluster.placement_file.empty())
        config.cluster.placement_file = beside(path, config.cluster.placement_file);
    config.chip_parameters = with_pairs({}, path, "cluster.chip_set", config.cluster.chip_set);
    config.routed_parameters =
        with_pairs(config.chip_parameters, path, "cluster.routed_set", config.cluster.routed_set);
    if (config.cluster.batches_in_flight > 1 && !config.cluster.joint())
        throw InputError(
            path, 0, "cluster.batches_in_flight",
            fmt::format("expected 1, found {}; set cluster.simulation: joint", config.cluster.batches_in_flight));
    config.topology = sched::chosen_topology(config.links, path);
    return config;
}

std::vector<KeyDescription> expert_parallel_keys() {
    return keys_of_sections<ExpertParallelConfig>();
}

}  // namespace switchyard::platform::expert_parallel
