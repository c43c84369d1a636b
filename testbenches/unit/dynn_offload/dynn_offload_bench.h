// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "switchyard/sw_scheduler/training_streams/training_network.h"
#include "switchyard/testbenches/catch.h"

namespace switchyard::test {

inline const std::string kNetworks = std::string(SOURCE_FOLDER) + "/configs/workloads/dynn_offload/";

inline sched::TrainingNetwork network_of(const std::string& name, std::map<std::string, std::string> overrides) {
    sched::TrainingNetwork network =
        sched::read_training_network(kNetworks + name + ".yaml", sched::GpuDescription(), overrides);
    REQUIRE(overrides.empty());
    return network;
}

/// A file that is gone when the object is.
class TemporaryFile {
public:
    explicit TemporaryFile(const std::string& name, const std::string& text = "")
        : path_((std::filesystem::temp_directory_path() / (std::to_string(::getpid()) + "_" + name)).string()) {
        if (!text.empty()) std::ofstream(path_) << text;
    }
    ~TemporaryFile() { std::filesystem::remove(path_); }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    const std::string& path() const { return path_; }
    std::string text() const {
        std::ifstream file(path_);
        return {std::istreambuf_iterator<char>(file), {}};
    }

private:
    std::string path_;
};

}  // namespace switchyard::test
