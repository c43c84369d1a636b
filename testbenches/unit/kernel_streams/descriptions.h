// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "switchyard/sw_scheduler/kernel_streams/stream_model.h"

namespace switchyard::test {

/// One of ACE's workloads as shipped.
inline sched::StreamModel shipped(const std::string& name) {
    return sched::read_stream_model(std::string(ACE_WORKLOADS) + "/" + name + ".yaml");
}

/// A description in a file that is gone again when the object is.
class Description {
public:
    explicit Description(const std::string& text)
        : path_(std::filesystem::temp_directory_path() / "switchyard_kernel_streams.yaml") {
        std::ofstream(path_) << text;
    }
    ~Description() { std::filesystem::remove(path_); }
    Description(const Description&) = delete;
    Description& operator=(const Description&) = delete;

    std::string path() const { return path_.string(); }
    sched::GeneratedStream generate(std::uint64_t input = 0) const {
        return sched::read_stream_model(path()).generate({1, input});
    }

private:
    std::filesystem::path path_;
};

}  // namespace switchyard::test
