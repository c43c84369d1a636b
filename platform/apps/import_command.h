// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "switchyard/sw_scheduler/onnx_import/onnx_import.h"

namespace CLI {
class App;
}

namespace switchyard::platform {

/// `sy-sched import`: a network in ONNX becomes a model file, and a folder with its values.
class ImportCommand {
public:
    void add_to(CLI::App& app);
    bool parsed() const;
    int run() const;

private:
    std::string network_, output_, weights_, json_;
    sched::OnnxImportOptions options_;
    CLI::App* command_ = nullptr;
};

}  // namespace switchyard::platform
