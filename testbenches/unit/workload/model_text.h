// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "switchyard/sw_scheduler/base/scratch_folder.h"
#include "switchyard/sw_scheduler/workload/model_reader.h"

namespace switchyard::sched {

/// A file in the temporary directory that is gone with the object.
class TextFile {
public:
    TextFile(const std::string& name, const std::string& text);
    const std::string& path() const { return path_; }

private:
    ScratchFolder folder_;
    std::string path_;
};

/// Reads a model from text.
Model model_of(const std::string& yaml);
/// The message with which read_model() refuses the text, the path cut to "model.yaml"; empty if it does not.
std::string refusal_of(const std::string& yaml);

/// "name: t", batch of 8, an input of 16x8x8 in lines 1 to 3, `layers:` in line 4, then the given lines.
std::string with_layers(const std::string& layers);
/// with_layers() of a stem (line 5), a pooled gate (lines 6, 7) and a switch `s` of `branches` (line 8), then `layers`
/// from line 9 on.
std::string with_switch(const std::string& layers, const std::string& branches = "branches: 2");
/// Five lines: a matmul to 8 channels on each of the branches s.0 to s.3, and a merge with this mode.
std::string four_experts(const std::string& mode);

/// The operator of this name; a failed assertion if there is none.
const Operator& named(const DynGraph& graph, const std::string& name);

}  // namespace switchyard::sched
