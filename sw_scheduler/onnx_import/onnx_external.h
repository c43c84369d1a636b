// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "switchyard/sw_scheduler/onnx_import/onnx_graph.h"

namespace switchyard::sched {

/// The `size` bytes of the tensor `name` that are in another file than the model's at `path`, where `keys` (location,
/// offset, length) say. The file is next to the model or in a folder below it, and is read when the bytes are asked
/// for. Throws InputError.
std::shared_ptr<const OnnxBytes> external_bytes(const std::string& path, const std::string& name,
                                                const std::map<std::string, std::string>& keys, std::size_t size);

}  // namespace switchyard::sched
