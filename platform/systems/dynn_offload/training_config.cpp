// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/dynn_offload/training_config.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/sections.h"

namespace switchyard::platform::dynn_offload_system {

namespace {

constexpr const char* kLinkSection = "host_link";

}  // namespace

std::uint64_t TrainingPlatform::budget_bytes() const {
    return training.budget_gb > 0 ? static_cast<std::uint64_t>(training.budget_gb * 1e9) : gpu.device_memory.bytes;
}

memory_managers::TransferTimes TrainingPlatform::transfer_times() const {
    memory_managers::TransferTimes times;
    const double rate = hw::pcie_link_gb_per_s(gpu.host_link) * hw::pcie_payload_share(gpu.host_link);
    times.to_device_gb_per_s = times.to_host_gb_per_s = training.link_gb_per_s > 0 ? training.link_gb_per_s : rate;
    times.setup_ns = training.copy_setup_us * 1e3 + 2 * gpu.host_link.latency_ns;
    times.on_device_setup_ns = training.copy_setup_us * 1e3;
    times.device_gb_per_s = gpu.memory_config().gb_per_s;
    return times;
}

TrainingPlatform read_training_platform(const std::string& path, const std::map<std::string, std::string>& overrides) {
    if (path.empty())
        throw InputError("", 0, "platform", "expected a platform file, found none; give one with --platform");
    TrainingPlatform platform;
    std::map<std::string, std::string> own, of_link, of_gpu;
    const std::vector<std::string> sections = gpu_sections();
    for (const auto& [key, value] : overrides) {
        const std::string section = key.substr(0, key.find('.'));
        if (section == "training")
            own[key] = value;
        else if (section == kLinkSection)
            of_link[key] = value;
        else if (section == "network")
            platform.network["training." + key.substr(section.size() + 1)] = value;
        else if (std::find(sections.begin(), sections.end(), section) != sections.end())
            of_gpu[key] = value;
        else
            throw InputError("--set", 0, key, "expected a known key, found " + key);
    }
    const YAML::Node file = load_yaml(path);
    check_sections(file, path, {"dynn_offload", {"training", kLinkSection}, {}, {}});
    ConfigReader reader(file["training"], path, "training", &own);
    describe(reader, platform.training);
    reader.finish();
    std::vector<std::string> known;
    for (const KeyDescription& key : training_keys()) known.push_back(key.key);
    refuse_left_overrides(own, known);
    if (platform.training.link_gb_per_s > 0 && platform.training.impl == "tlm")
        throw InputError(
            path, 0, "training.link_gb_per_s",
            fmt::format("expected none with impl tlm, which takes the rate of host_link, found {}; leave it out",
                        platform.training.link_gb_per_s));
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    platform.gpu = read_gpu_platform((folder / platform.training.gpu).lexically_normal().string(), of_gpu);
    // What the platform says of the link wins over the GPU's file.
    ConfigReader link(file[kLinkSection], path, kLinkSection, &of_link);
    describe(link, platform.gpu.host_link);
    link.finish();
    refuse_left_overrides(of_link, gpu_keys());
    if (const std::string message = validation_error(platform.gpu.host_link); !message.empty())
        throw InputError(path, line_of(file[kLinkSection]), kLinkSection, message);
    return platform;
}

std::vector<KeyDescription> training_keys() {
    std::vector<KeyDescription> keys;
    TrainingConfig defaults;
    ConfigReader reader(YAML::Node(), "", "training", nullptr, &keys);
    describe(reader, defaults);
    return keys;
}

}  // namespace switchyard::platform::dynn_offload_system
