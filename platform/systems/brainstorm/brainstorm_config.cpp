// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/brainstorm/brainstorm_config.h"

#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "switchyard/platform/system/platform_sections.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/plain_number.h"
#include "switchyard/sw_scheduler/base/shown.h"
#include "switchyard/sw_scheduler/base/words.h"

namespace switchyard::platform::brainstorm {

/// Every section besides the GPU's.
template <class Visit>
void for_each_section(BrainstormConfig& config, Visit visit) {
    visit("host", config.host);
    visit("links", config.links);
    visit("brainstorm", config.mechanisms);
}

namespace {

std::string beside(const std::string& path, const std::string& file) {
    return (std::filesystem::path(path).parent_path() / file).lexically_normal().string();
}

GpuPlatform read_gpu(const std::string& path, const YAML::Node& file, std::map<std::string, std::string>& overrides) {
    return read_gpu_file(beside(path, section_text(file, "gpu_file")), overrides);
}

std::vector<double> numbers_of(const std::string& text, const char* key) {
    std::vector<double> numbers;
    for (const std::string& word : words_of(text)) {
        double value = 0;
        if (parse_plain_number(word, value) != Parsed::ok || value < 0)
            throw InputError("", 0, key, fmt::format("expected numbers of 0 or more, found {}", shown(word)));
        numbers.push_back(value);
    }
    return numbers;
}

}  // namespace

sched::brainstorm::Mechanisms BrainstormConfig::scheduler_mechanisms() const {
    sched::brainstorm::Mechanisms m;
    m.placement = mechanisms.placement;
    m.placement_file = mechanisms.placement_file;
    m.sparse = mechanisms.all_to_all == "sparse";
    m.speculative_routing = mechanisms.speculative_routing;
    m.speculation_certainty = mechanisms.speculation_certainty;
    m.speculation_depth = mechanisms.speculation_depth;
    m.weights = mechanisms.weights;
    m.profiling = mechanisms.profiling;
    m.functional = mechanisms.functional;
    m.decision_us = host.decision_us;
    m.collective_costs = links.costs();
    m.collective_ctas = mechanisms.collective_ctas;
    return m;
}

std::vector<double> BrainstormConfig::percentiles() const {
    std::vector<double> values = numbers_of(mechanisms.percentiles, "brainstorm.percentiles");
    for (const double value : values)
        if (value > 1)
            throw InputError("", 0, "brainstorm.percentiles", fmt::format("expected at most 1, found {}", value));
    if (values.empty()) throw InputError("", 0, "brainstorm.percentiles", "expected a number or more, found none");
    return values;
}

std::vector<std::uint64_t> BrainstormConfig::tuned_loads() const {
    std::set<std::uint64_t> loads;
    for (const double value : numbers_of(mechanisms.tuned_loads, "brainstorm.tuned_loads")) {
        if (value < 1)
            throw InputError("", 0, "brainstorm.tuned_loads",
                             fmt::format("expected loads of 1 cell or more, found {}", value));
        loads.insert(static_cast<std::uint64_t>(value));
    }
    return {loads.begin(), loads.end()};
}

BrainstormConfig read_brainstorm_config(const std::string& path, std::map<std::string, std::string> overrides) {
    if (path.empty())
        throw InputError("", 0, "platform", "expected a platform file, found none; give one with --platform");
    BrainstormConfig config;
    const YAML::Node file =
        load_sections(path, {"brainstorm", section_names<BrainstormConfig>(), {"gpu_file"}, {"gpu_file"}});
    for (auto it = overrides.begin(); it != overrides.end();) {
        if (it->first.compare(0, 8, "network.") == 0) {
            config.network_overrides.insert(*it);
            it = overrides.erase(it);
        } else {
            ++it;
        }
    }
    config.gpu = read_gpu(path, file, overrides);
    config.gpu.gpu.cta_scheduler.keep_records = true;
    config.gpu.gpu.command_processor.queues = sched::brainstorm::kDeviceQueues;
    read_sections(file, path, overrides, config);
    std::vector<std::string> known = names_of(brainstorm_keys()), of_gpu = gpu_keys();
    known.insert(known.end(), of_gpu.begin(), of_gpu.end());
    refuse_left_overrides(overrides, known);
    config.percentiles();
    config.tuned_loads();
    std::string& placement_file = config.mechanisms.placement_file;
    if (!placement_file.empty()) placement_file = beside(path, placement_file);
    config.topology = sched::chosen_topology(config.links, path);
    return config;
}

std::vector<KeyDescription> brainstorm_keys() {
    return keys_of_sections<BrainstormConfig>();
}

}  // namespace switchyard::platform::brainstorm
